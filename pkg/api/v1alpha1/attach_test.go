package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// document is a document of a kind, of five lines with its "---".
func document(kind, name string, more ...string) string {
	return "---\napiVersion: clusterctl-x.io/v1alpha1\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n" + strings.Join(more, "")
}

// attached are the documents that a Config has, by their names.
type attached struct {
	InMemory, Docker, OIDC, AWSIam string
	Problems, Warnings             []string
}

func attachedTo(config *v1alpha1.Config) attached {
	var got attached
	if datacenter := config.Datacenter; datacenter != nil && datacenter.Kind == "InMemoryDatacenterConfig" {
		got.InMemory = datacenter.APIVersion + " " + datacenter.Kind + " " + datacenter.Metadata.Name
	}
	if datacenter := config.Datacenter; datacenter != nil && datacenter.Kind == "DockerDatacenterConfig" {
		got.Docker = datacenter.APIVersion + " " + datacenter.Kind + " " + datacenter.Metadata.Name
	}
	if config.OIDC != nil {
		got.OIDC = config.OIDC.Metadata.Name + " " + config.OIDC.Spec.ClientID
	}
	if config.AWSIam != nil {
		got.AWSIam = config.AWSIam.Metadata.Name + " " + config.AWSIam.Spec.AWSRegion
	}
	for _, problem := range config.Problems {
		got.Problems = append(got.Problems, problem.String())
	}
	for _, warning := range config.Warnings {
		got.Warnings = append(got.Warnings, warning.String())
	}
	return got
}

// TestAttachDatacenter is about the document that datacenterRef names.
func TestAttachDatacenter(t *testing.T) {
	t.Parallel()
	const (
		inMemory  = "clusterctl-x.io/v1alpha1 InMemoryDatacenterConfig prod"
		docker    = "clusterctl-x.io/v1alpha1 DockerDatacenterConfig prod"
		ofEKSA    = "anywhere.eks.amazonaws.com/v1alpha1 DockerDatacenterConfig prod"
		unnamed   = "no datacenterRef names this "
		twoNames  = `spec.datacenterRef of the cluster names "prod"; use one name for both`
		namespace = `the cluster has namespace ""; use one for both, or leave it out here`
	)
	onDocker := with("InMemory", "Docker")
	tests := map[string]struct {
		text string
		want attached
	}{
		"in-memory, left out":    {minimal, attached{InMemory: inMemory}},
		"in-memory, in a file":   {minimal + inMemoryDocument, attached{InMemory: inMemory}},
		"docker, left out":       {onDocker, attached{Docker: docker}},
		"docker, in a file":      {onDocker + dockerDocument, attached{Docker: docker}},
		"docker of EKS Anywhere": {onDocker + strings.Replace(dockerDocument, "clusterctl-x.io", "anywhere.eks.amazonaws.com", 1), attached{Docker: ofEKSA}},
		"document of another kind": {minimal + dockerDocument, attached{InMemory: inMemory, Problems: []string{
			`cluster.yaml:19: metadata.name: Invalid value: "prod": ` + unnamed + `DockerDatacenterConfig: the cluster's spec.datacenterRef has kind "InMemoryDatacenterConfig"; remove this document or correct the reference`,
		}}},
		"documents of both kinds": {onDocker + inMemoryDocument + dockerDocument, attached{Docker: docker, Problems: []string{
			`cluster.yaml:19: metadata.name: Invalid value: "prod": ` + unnamed + `InMemoryDatacenterConfig: the cluster's spec.datacenterRef has kind "DockerDatacenterConfig"; remove this document or correct the reference`,
		}}},
		"two names": {minimal + document("InMemoryDatacenterConfig", "test"), attached{
			InMemory: strings.Replace(inMemory, "prod", "test", 1), Problems: []string{`cluster.yaml:19: metadata.name: Invalid value: "test": ` + twoNames},
		}},
		"two names and namespaces": {onDocker + document("DockerDatacenterConfig", "test", "  namespace: team\n"), attached{
			Docker: strings.Replace(docker, "prod", "test", 1), Problems: []string{
				`cluster.yaml:19: metadata.name: Invalid value: "test": ` + twoNames,
				`cluster.yaml:20: metadata.namespace: Invalid value: "team": ` + namespace,
			},
		}},
		"another kind in another namespace": {minimal + document("DockerDatacenterConfig", "prod", "  namespace: team\n"), attached{InMemory: inMemory, Problems: []string{
			`cluster.yaml:19: metadata.name: Invalid value: "prod": ` + unnamed + `DockerDatacenterConfig: the cluster's spec.datacenterRef has kind "InMemoryDatacenterConfig"; remove this document or correct the reference`,
			`cluster.yaml:20: metadata.namespace: Invalid value: "team": ` + namespace,
		}}},
		"a clusterClass and a reference": {with("  datacenterRef:\n", "  clusterClass: {name: inmemory}\n  datacenterRef:\n") + inMemoryDocument, attached{InMemory: inMemory}},
		"a clusterClass alone":           {with("  datacenterRef:\n    kind: InMemoryDatacenterConfig\n    name: prod\n", "  clusterClass: {name: own}\n"), attached{}},
		"a clusterClass alone, with a document": {with("  datacenterRef:\n    kind: InMemoryDatacenterConfig\n    name: prod\n", "  clusterClass: {name: own}\n") + inMemoryDocument, attached{Problems: []string{
			`cluster.yaml:17: metadata.name: Invalid value: "prod": ` + unnamed + `InMemoryDatacenterConfig: the cluster has only a clusterClass; remove this document or add the reference`,
		}}},
		"a clusterClass and a misspelt reference": {with("  datacenterRef:\n", "  clusterClass: {name: own}\n  datacentreRef:\n") + inMemoryDocument, attached{Problems: []string{"cluster.yaml:13: spec.datacentreRef: Forbidden: unknown field; did you mean datacenterRef?"}}},
		// These references are found to be wrong by others.
		"reference without name":                    {with("    name: prod", "    name: \"\"") + inMemoryDocument, attached{InMemory: inMemory}},
		"reference without kind":                    {with("    kind: InMemoryDatacenterConfig\n", "") + inMemoryDocument + dockerDocument, attached{}},
		"no reference":                              {with("  datacenterRef:\n    kind: InMemoryDatacenterConfig\n    name: prod\n", "") + inMemoryDocument, attached{}},
		"reference to a kind that is no datacenter": {with("InMemoryDatacenterConfig", "OIDCConfig") + inMemoryDocument, attached{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, attachedTo(devProviders().Decode("cluster.yaml", []byte(test.text)))); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAttachIdentityProviders is about the documents that identityProviderRefs name.
func TestAttachIdentityProviders(t *testing.T) {
	t.Parallel()
	const (
		inMemory  = "clusterctl-x.io/v1alpha1 InMemoryDatacenterConfig prod"
		noRef     = "metadata.name: no identityProviderRefs of the cluster names this "
		remedy    = ": it has no effect; add the reference, or remove the document"
		noneThere = "the file has no document of this kind; add it, or remove the reference"
		toOIDC    = "{kind: OIDCConfig, name: login}"
		toIAM     = "{kind: AWSIamConfig, name: iam}"
		ldap      = "---\nkind: LDAPConfig\napiVersion: clusterctl-x.io/v1alpha1\n"
		noLDAP    = `kind: Unsupported value: "LDAPConfig": supported values: ` + documentKinds
	)
	refs := func(refs ...string) string { // in line 15; documents begin in line 17
		return minimal + "  identityProviderRefs: [" + strings.Join(refs, ", ") + "]\n"
	}
	named := func(oidc, iam string, problems ...string) attached {
		return attached{InMemory: inMemory, OIDC: oidc, AWSIam: iam, Problems: problems}
	}
	oidc := document(v1alpha1.OIDCKind, "login", "spec: {clientId: a}\n") // six lines
	iam := document(v1alpha1.AWSIamKind, "iam", "spec: {awsRegion: b}\n")
	tests := map[string]struct {
		text string
		want attached
	}{
		"none":                       {minimal, named("", "")},
		"empty list":                 {refs(), named("", "")},
		"OpenID Connect":             {refs(toOIDC) + oidc, named("login a", "")},
		"IAM":                        {refs(toIAM) + iam, named("", "iam b")},
		"both":                       {refs(toIAM, toOIDC) + oidc + iam, named("login a", "iam b")},
		"both, before the cluster":   {oidc + iam + "---\n" + refs(toIAM, toOIDC), named("login a", "iam b")},
		"in the cluster's namespace": {strings.Replace(refs(toOIDC), "  name: prod\n", "  name: prod\n  namespace: team\n", 1) + document(v1alpha1.OIDCKind, "login", "  namespace: team\n"), named("login ", "")},
		"missing":                    {refs(toOIDC), named("", "", `cluster.yaml:15: spec.identityProviderRefs[0].kind: Invalid value: "OIDCConfig": `+noneThere)},
		"the other one is missing": {refs(toOIDC, toIAM) + oidc, named("login a", "",
			`cluster.yaml:15: spec.identityProviderRefs[1].kind: Invalid value: "AWSIamConfig": `+noneThere)},
		"missing, and named twice":                       {refs(toIAM, toIAM), named("", "", `cluster.yaml:15: spec.identityProviderRefs[0].kind: Invalid value: "AWSIamConfig": `+noneThere)},
		"missing, beside a document that cannot be read": {refs(toOIDC) + ldap, named("", "", "cluster.yaml:17: "+noLDAP)},
		"missing, beside a document of another API": {refs(toOIDC) + "---\nkind: Secret\napiVersion: v1\n", attached{
			InMemory: inMemory,
			Problems: []string{`cluster.yaml:15: spec.identityProviderRefs[0].kind: Invalid value: "OIDCConfig": ` + noneThere},
			Warnings: []string{"cluster.yaml:17: kind: a document of kind Secret (v1) is not part of a cluster spec and is not applied; apply it yourself, for instance with kubectl"},
		}},
		"missing, before a mistake in the syntax": {refs(toOIDC) + "---\na: [\n", named("", "",
			"cluster.yaml:17: not valid YAML: did not find expected node content; check indentation, quotes and brackets here and above")},
		"two names": {refs(strings.Replace(toOIDC, "login", "log", 1)) + oidc, named("login a", "",
			`cluster.yaml:20: metadata.name: Invalid value: "login": spec.identityProviderRefs of the cluster names "log"; use one name for both`)},
		"two names of the other kind": {refs(toOIDC, strings.Replace(toIAM, "iam", "aws", 1)) + iam + oidc, named("login a", "iam b",
			`cluster.yaml:20: metadata.name: Invalid value: "iam": spec.identityProviderRefs of the cluster names "aws"; use one name for both`)},
		"document without name": {refs(toOIDC) + strings.Replace(oidc, "metadata:\n  name: login\n", "", 1), named(" a", "",
			`cluster.yaml:17: metadata.name: Invalid value: "": spec.identityProviderRefs of the cluster names "login"; use one name for both`)},
		"name that cannot be read": {refs(toOIDC) + strings.Replace(oidc, "login", "17", 1), named(" a", "", `cluster.yaml:20: metadata.name: Invalid value: "17": must be text; put it in quotes`)},
		// These references are found to be wrong by others.
		"reference without name":      {refs("{kind: OIDCConfig}") + oidc, named("login a", "")},
		"the first of two references": {refs(toOIDC, "{kind: OIDCConfig, name: other}") + oidc, named("login a", "")},
		"unreferenced":                {minimal + oidc, attached{InMemory: inMemory, Warnings: []string{"cluster.yaml:19: " + noRef + "OIDCConfig" + remedy}}},
		"the other one unreferenced":  {refs(toOIDC) + oidc + iam, attached{InMemory: inMemory, OIDC: "login a", Warnings: []string{"cluster.yaml:26: " + noRef + "AWSIamConfig" + remedy}}},
		"both unreferenced, one in another namespace": {minimal + document(v1alpha1.AWSIamKind, "iam", "  namespace: team\n") + oidc, attached{
			InMemory: inMemory,
			Problems: []string{`cluster.yaml:20: metadata.namespace: Invalid value: "team": the cluster has namespace ""; use one for both, or leave it out here`},
			Warnings: []string{"cluster.yaml:25: " + noRef + "OIDCConfig" + remedy, "cluster.yaml:19: " + noRef + "AWSIamConfig" + remedy},
		}},
		"another namespace": {refs(toIAM) + document(v1alpha1.AWSIamKind, "iam", "  namespace: team\n"), named("", "iam ",
			`cluster.yaml:21: metadata.namespace: Invalid value: "team": the cluster has namespace ""; use one for both, or leave it out here`)},
		"reference of unknown kind":          {refs("{kind: LDAPConfig, name: x}"), named("", "")},
		"reference to a datacenter":          {refs("{kind: DockerDatacenterConfig, name: prod}"), named("", "")},
		"unknown kind may be what was meant": {refs("{kind: LDAPConfig, name: login}") + oidc, named("login a", "")},
		"unknown kind beside a missing one":  {refs("{kind: LDAPConfig, name: x}", toIAM), named("", "", `cluster.yaml:15: spec.identityProviderRefs[1].kind: Invalid value: "AWSIamConfig": `+noneThere)},
		"null as reference": {refs("null") + oidc, named("login a", "",
			"cluster.yaml:15: spec.identityProviderRefs[0]: Required value: an item of a list must have a value; write one or remove the item")},
		"kind that cannot be read": {refs("{kind: [OIDCConfig], name: login}") + oidc, named("login a", "",
			`cluster.yaml:15: spec.identityProviderRefs[0].kind: Invalid value: "a list": must be text: write one value`)},
		"no references to two": {refs() + iam + oidc, attached{InMemory: inMemory, Warnings: []string{
			"cluster.yaml:26: " + noRef + "OIDCConfig" + remedy, "cluster.yaml:20: " + noRef + "AWSIamConfig" + remedy,
		}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, attachedTo(devProviders().Decode("cluster.yaml", []byte(test.text)))); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecodeIdentityProviders reads every field of both kinds.
func TestDecodeIdentityProviders(t *testing.T) {
	t.Parallel()
	got := decode(t, minimal+"  identityProviderRefs: [{kind: OIDCConfig, name: login}, {kind: AWSIamConfig, name: iam}]\n"+
		document(v1alpha1.OIDCKind, "login", `spec:
  clientId: a
  issuerUrl: b
  usernameClaim: c
  usernamePrefix: "-"
  groupsClaim: d
  groupsPrefix: "e:"
  requiredClaims: [{claim: f, value: g}]
`)+document(v1alpha1.AWSIamKind, "iam", `spec:
  awsRegion: a
  partition: b
  backendMode: [CRD, MountedFile]
  mapRoles: [{roleARN: c, username: d, groups: [e, f]}]
  mapUsers: [{userARN: g, username: h, groups: []}]
`))
	want := decodeMinimal(func(d *decoded) {
		d.Cluster.Spec.IdentityProviderRefs = []v1alpha1.Ref{{Kind: v1alpha1.OIDCKind, Name: "login"}, {Kind: v1alpha1.AWSIamKind, Name: "iam"}}
		d.OIDC = &v1alpha1.OIDCConfig{
			APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.OIDCKind, Metadata: v1alpha1.Meta{Name: "login"},
			Spec: v1alpha1.OIDCSpec{
				ClientID: "a", IssuerURL: "b", UsernameClaim: "c", UsernamePrefix: "-", GroupsClaim: "d", GroupsPrefix: "e:",
				RequiredClaims: []v1alpha1.RequiredClaim{{Claim: "f", Value: "g"}},
			},
		}
		d.AWSIam = &v1alpha1.AWSIamConfig{
			APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.AWSIamKind, Metadata: v1alpha1.Meta{Name: "iam"},
			Spec: v1alpha1.AWSIamSpec{
				AWSRegion: "a", Partition: "b", BackendMode: []string{"CRD", "MountedFile"},
				MapRoles: []v1alpha1.AWSIamRole{{RoleARN: "c", Username: "d", Groups: []string{"e", "f"}}},
				MapUsers: []v1alpha1.AWSIamUser{{UserARN: "g", Username: "h"}},
			},
		}
	})
	if diff := cmp.Diff(want, got, equateVersions()); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, decode(t, string(marshal(t, got))), equateVersions()); diff != "" {
		t.Errorf("written and decoded again (-want +got):\n%s", diff)
	}
}

package validations_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSpecCertSANs(t *testing.T) {
	t.Parallel()
	const (
		path = "spec.controlPlaneConfiguration.certSans"
		rule = ": must be an address, or a DNS name in lower case such as api.example.com or *.example.com, of at most 253 characters"
	)
	names := func(names ...string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ControlPlaneConfiguration.CertSANs = names }
	}
	many := func(number int) []string {
		var names []string
		for i := range number {
			names = append(names, fmt.Sprintf("a%d.example.com", i))
		}
		return names
	}
	dns := strings.Repeat("abcdefg.", 31) + "abcde"
	wrong := func(name string) specTest {
		return specTest{names(name), []string{path + `[0]: Invalid value: "` + name + `"` + rule}}
	}
	testSpec(t, map[string]specTest{
		"names and addresses":   {names("api", "api.example.com", "*.example.com", "10.0.0.1", "fd00::1"), nil},
		"253 characters":        {names(dns), nil},
		"254 characters":        wrong(dns + "f"),
		"empty":                 wrong(""),
		"in capitals":           wrong("API.example.com"),
		"star inside":           wrong("api.*.com"),
		"only a star":           wrong("*"),
		"underscore":            wrong("my_api"),
		"port":                  wrong("api:6443"),
		"address in brackets":   wrong("[fd00::1]"),
		"address of no machine": wrong("10.0.0.256"),
		"address with a zone":   wrong("fe80::1%eth0"),
		"trailing dot":          wrong("example.com."),
		"90":                    {names(many(90)...), nil},
		"91":                    {names(many(91)...), []string{path + ": Invalid value: has 91 entries and must have at most 90; remove some"}},
		"name twice":            {names("a", "b", "a"), []string{path + `[2]: Duplicate value: "a": ` + path + "[0] has this name already; remove one of the two"}},
		"address twice":         {names("fd00::1", "fd00:0::1"), []string{path + `[1]: Duplicate value: "fd00:0::1": ` + path + "[0] has this name already; remove one of the two"}},
		"wrong name twice":      {names("A", "A"), []string{path + `[0]: Invalid value: "A"` + rule, path + `[1]: Invalid value: "A"` + rule}},
	})
}

func TestSpecAPIServerExtraArgs(t *testing.T) {
	t.Parallel()
	const (
		path = "spec.controlPlaneConfiguration.apiServerExtraArgs"
		rule = ": must be an argument of kube-apiserver: at most 256 lower-case letters, digits and dashes that begin with a letter"
	)
	args := func(names ...string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ControlPlaneConfiguration.APIServerExtraArgs = map[string]string{}
			for _, name := range names {
				c.Spec.ControlPlaneConfiguration.APIServerExtraArgs[name] = "x"
			}
		}
	}
	value := func(length int) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ControlPlaneConfiguration.APIServerExtraArgs = map[string]string{"v": long(length)}
		}
	}
	many := func(number int) []string {
		var names []string
		for i := range number {
			names = append(names, fmt.Sprint("arg-", i))
		}
		return names
	}
	tests := map[string]specTest{
		"one":                     {args("feature-gates"), nil},
		"no value":                {value(0), nil},
		"value of 1024 bytes":     {value(1024), nil},
		"value of 1025 bytes":     {value(1025), []string{path + "[v]: Invalid value: must have at most 1024 bytes, and has 1025; shorten it"}},
		"name of 256 bytes":       {args(long(256)), nil},
		"name of 257 bytes":       {args(long(257)), []string{path + "[" + long(257) + `]: Invalid value: "` + long(257) + `"` + rule}},
		"80":                      {args(many(80)...), nil},
		"81":                      {args(many(81)...), []string{path + ": Invalid value: has 81 entries and must have at most 80; remove some"}},
		"dashes":                  {args("--feature-gates"), []string{path + `[--feature-gates]: Invalid value: "--feature-gates": must be written without leading dashes; use feature-gates`}},
		"only dashes":             {args("--"), []string{path + `[--]: Invalid value: "--"` + rule}},
		"dashes and capitals":     {args("--V"), []string{path + `[--V]: Invalid value: "--V"` + rule}},
		"capitals and underscore": {args("V", "a_b"), []string{path + `[V]: Invalid value: "V"` + rule, path + `[a_b]: Invalid value: "a_b"` + rule}},
		"digit first":             {args("1a"), []string{path + `[1a]: Invalid value: "1a"` + rule}},
		"with its value":          {args("v=2"), []string{path + `["v=2"]: Invalid value: "v=2"` + rule}},
	}
	for _, name := range []string{
		"advertise-address", "secure-port", "etcd-servers", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "service-cluster-ip-range", "client-ca-file", "tls-cert-file", "tls-private-key-file",
		"kubelet-client-certificate", "kubelet-client-key", "service-account-key-file", "service-account-signing-key-file", "proxy-client-cert-file", "proxy-client-key-file",
		"requestheader-allowed-names", "requestheader-client-ca-file",
	} {
		tests[name] = specTest{args(name), []string{path + "[" + name + "]: Forbidden: kubeadm sets this argument; remove it"}}
	}
	for _, name := range []string{"etcd-prefix", "etcd-servers-overrides", "tls-min-version", "requestheader"} {
		tests[name] = specTest{args(name), nil}
	}
	testSpec(t, tests)
}

// TestSpecArgumentsOfFields are set by fields of the spec where these are given.
func TestSpecArgumentsOfFields(t *testing.T) {
	t.Parallel()
	tests := map[string]specTest{}
	for _, owner := range []struct {
		field string
		give  func(*v1alpha1.ClusterSpec)
		names []string
	}{
		{"controlPlaneConfiguration.auditPolicyContent", func(s *v1alpha1.ClusterSpec) {
			s.ControlPlaneConfiguration.AuditPolicyContent = "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None}]}"
		}, []string{"audit-policy-file", "audit-log-path", "audit-log-maxage"}},
		{"podIamConfig", func(s *v1alpha1.ClusterSpec) {
			s.PodIAMConfig = &v1alpha1.PodIAMConfig{ServiceAccountIssuer: "https://issuer.example.com"}
		}, []string{"service-account-issuer"}},
		{"etcdEncryption", func(s *v1alpha1.ClusterSpec) {
			s.EtcdEncryption = []v1alpha1.EtcdEncryption{{
				Providers: []v1alpha1.EtcdEncryptionProvider{{KMS: &v1alpha1.KMS{Name: "kms", SocketListenAddress: "unix:///var/run/kms/socket.sock"}}},
				Resources: []string{"secrets"},
			}}
		}, []string{"encryption-provider-config"}},
		{"identityProviderRefs (OIDCConfig)", func(s *v1alpha1.ClusterSpec) {
			s.IdentityProviderRefs = []v1alpha1.Ref{{Kind: v1alpha1.OIDCKind, Name: "oidc"}}
		}, []string{"oidc-client-id", "oidc-issuer-url", "authentication-config"}},
		{"identityProviderRefs (AWSIamConfig)", func(s *v1alpha1.ClusterSpec) {
			s.IdentityProviderRefs = []v1alpha1.Ref{{Kind: v1alpha1.AWSIamKind, Name: "iam"}}
		}, []string{"authentication-token-webhook-config-file", "authentication-token-webhook-version"}},
	} {
		for _, name := range owner.names {
			arg := func(c *v1alpha1.Cluster) {
				c.Spec.ControlPlaneConfiguration.APIServerExtraArgs = map[string]string{name: "x", "audit-webhook-mode": "batch", "authentication-token-webhook-cache-ttl": "1m"}
			}
			tests[name] = specTest{arg, nil}
			tests[name+" beside "+owner.field] = specTest{
				func(c *v1alpha1.Cluster) { arg(c); owner.give(&c.Spec) },
				[]string{"spec.controlPlaneConfiguration.apiServerExtraArgs[" + name + "]: Forbidden: spec." + owner.field + " sets this argument; remove one of the two"},
			}
		}
	}
	testSpec(t, tests)
}

func TestSpecAuditPolicy(t *testing.T) {
	t.Parallel()
	const (
		path   = "spec.controlPlaneConfiguration.auditPolicyContent"
		header = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
		levels = `"None", "Metadata", "Request", "RequestResponse"`
	)
	policy := func(content string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ControlPlaneConfiguration.AuditPolicyContent = v1alpha1.Content(content)
		}
	}
	sized := func(size int) string {
		content := header + "rules: [{level: None}]\n#"
		return content + long(size-len(content))
	}
	none := path + ".rules: Required value: at least one rule, such as 'level: Metadata' for everything"
	testSpec(t, map[string]specTest{
		"rules of all levels":   {policy(header + "metadata: {name: a, creationTimestamp: null}\nomitStages: [RequestReceived]\nomitManagedFields: true\nrules:\n- level: None\n  resources: [{group: '', resources: [events]}]\n- level: Metadata\n- level: Request\n- {level: RequestResponse, nonResourceURLs: [/healthz*]}\n"), nil},
		"from a cluster":        {policy(header + "metadata: {creationTimestamp: 2026-01-01T00:00:00Z, managedFields: [{fieldsV1: {'f:rules': {}}}]}\nrules: [{level: None}]"), nil},
		"10240 bytes":           {policy(sized(10240)), nil},
		"10241 bytes":           {policy(sized(10241)), []string{path + ": Invalid value: must have at most 10240 bytes, and has 10241; shorten it"}},
		"a document behind it":  {policy(header + "rules: [{level: None}]\n---\n# nothing\n---\nrules: []\n"), []string{path + ": Invalid value: must be one document; remove what follows the first"}},
		"no document behind it": {policy(header + "rules: [{level: None}]\n---\n# nothing\n"), nil},
		"no YAML":               {policy("rules: ["), []string{path + ": Invalid value: must be an audit policy in YAML; the mistake: line 1: did not find expected node content"}},
		"field twice":           {policy(header + "kind: Policy\nrules: []"), []string{path + `: Invalid value: must be an audit policy in YAML; the mistake: line 3: key "kind" already set in map`}},
		"text":                  {policy("level: None\n---"), []string{path + ".apiVersion: Required value: audit.k8s.io/v1", path + ".kind: Required value: Policy", path + ".level: Forbidden: unknown field; remove it", none}},
		"no mapping":            {policy("- level: None"), []string{path + ": Invalid value: must be an audit policy: fields apiVersion: audit.k8s.io/v1, kind: Policy and rules"}},
		"only a comment":        {policy("# nothing"), []string{path + ": Invalid value: must be an audit policy: fields apiVersion: audit.k8s.io/v1, kind: Policy and rules"}},
		"another object":        {policy("apiVersion: audit.k8s.io/v1beta1\nkind: Event\nrules: [{level: None}]"), []string{path + `.apiVersion: Unsupported value: "audit.k8s.io/v1beta1": supported values: "audit.k8s.io/v1"`, path + `.kind: Unsupported value: "Event": supported values: "Policy"`}},
		"kind that is none":     {policy("apiVersion: audit.k8s.io/v1\nkind: 1\nrules: [{level: None}]"), []string{path + ".kind: Invalid value: 1: must be text; put it in quotes"}},
		"no rules":              {policy(header), []string{none}},
		"empty rules":           {policy(header + "rules: []"), []string{none}},
		"another level":         {policy(header + "rules: [{level: None}, {level: All}]"), []string{path + `.rules[1].level: Unsupported value: "All": supported values: ` + levels}},
		"no level":              {policy(header + "rules: [{verbs: [get]}]"), []string{path + ".rules[0].level: Required value: None, Metadata, Request or RequestResponse"}},
		"unknown fields": {policy(header + "rules: [{level: None, verb: [get]}, {level: All, resources: [{groups: a, zz: 1}]}]\nstages: []"), []string{
			path + ".rules[0].verb: Forbidden: unknown field; did you mean verbs?",
			path + ".rules[1].resources[0].groups: Forbidden: unknown field; did you mean group?",
			path + ".rules[1].resources[0].zz: Forbidden: unknown field; remove it",
			path + ".stages: Forbidden: unknown field; did you mean omitStages?",
			path + `.rules[1].level: Unsupported value: "All": supported values: ` + levels,
		}},
		"misspelt fields, which are not missing": {policy("apiVersio: audit.k8s.io/v1\nkind: Policy\nrules: [{levl: None}]"), []string{
			path + ".apiVersio: Forbidden: unknown field; did you mean apiVersion?",
			path + ".rules[0].levl: Forbidden: unknown field; did you mean level?",
		}},
		"values of other types": {policy(header + "omitManagedFields: 'yes'\nrules: {level: None}"), []string{
			path + `.omitManagedFields: Invalid value: "yes": must be true or false, without quotes`,
			path + `.rules: Invalid value: "a mapping": must be a list`,
		}},
		"path without slash": {policy(header + "rules: [{level: None, nonResourceURLs: [healthz]}]"), []string{path + `.rules[0].nonResourceURLs[0]: Invalid value: "healthz": non-resource URL rules must begin with a '/' character`}},
	})
}

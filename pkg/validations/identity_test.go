package validations_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

func TestSpecIdentityProviders(t *testing.T) {
	t.Parallel()
	const path = "spec.identityProviderRefs"
	refs := func(refs ...v1alpha1.Ref) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.IdentityProviderRefs = refs }
	}
	testSpec(t, map[string]specTest{
		"one of each":      {refs(v1alpha1.Ref{Kind: v1alpha1.OIDCKind, Name: "a"}, v1alpha1.Ref{Kind: v1alpha1.AWSIamKind, Name: "a"}), nil},
		"two of one":       {refs(v1alpha1.Ref{Kind: v1alpha1.OIDCKind, Name: "a"}, v1alpha1.Ref{Kind: v1alpha1.OIDCKind, Name: "b"}), []string{path + `[1].kind: Duplicate value: "OIDCConfig": ` + path + "[0] has this kind already; an API server takes one of each: remove the other"}},
		"another kind":     {refs(v1alpha1.Ref{Kind: "LDAPConfig", Name: "a"}), []string{path + `[0].kind: Unsupported value: "LDAPConfig": supported values: "AWSIamConfig", "OIDCConfig"`}},
		"neither of these": {refs(v1alpha1.Ref{}), []string{path + "[0].kind: Required value: AWSIamConfig or OIDCConfig", path + "[0].name: Required value: the name of the document"}},
	})
}

// TestSpecIssuer is the rule for addresses of issuers.
func TestSpecIssuer(t *testing.T) {
	t.Parallel()
	const (
		at   = "spec.podIamConfig.serviceAccountIssuer: "
		rule = ": must be an address such as https://issuer.example.com/path: https, a host, no user, and no query or fragment"
		base = "https://issuer.example.com/"
	)
	issuer := func(address string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.PodIAMConfig = &v1alpha1.PodIAMConfig{ServiceAccountIssuer: address}
		}
	}
	wrong := func(address, shown string) specTest {
		return specTest{issuer(address), []string{at + `Invalid value: "` + shown + `"` + rule}}
	}
	testSpec(t, map[string]specTest{
		"host":              {issuer("https://issuer.example.com"), nil},
		"port and path":     {issuer("https://Issuer.example.com:8443/a/b"), nil},
		"address":           {issuer("https://10.0.0.1"), nil},
		"IPv6":              {issuer("https://[fd00::1]"), nil},
		"IPv6 and port":     {issuer("https://[fd00::1]:8443/"), nil},
		"1024 bytes":        {issuer(base + long(1024-len(base))), nil},
		"1025 bytes":        {issuer(base + long(1025-len(base))), []string{at + "Invalid value: must have at most 1024 bytes, and has 1025; shorten it"}},
		"nothing":           {issuer(""), []string{at + "Required value: the address of the issuer, such as https://issuer.example.com"}},
		"no address at all": wrong("https://%", "https://%"),
		"http":              wrong("http://issuer.example.com", "http://issuer.example.com"),
		"no scheme":         wrong("issuer.example.com", "issuer.example.com"),
		"no host":           wrong("https:///path", "https:///path"),
		"no port":           wrong("https://a:/path", "https://a:/path"),
		"port 0":            wrong("https://a:0", "https://a:0"),
		"underscore":        wrong("https://a_b", "https://a_b"),
		"query":             wrong("https://a?", "https://a?"),
		"fragment":          wrong("https://a#", "https://a#"),
		"user":              wrong("https://me:secret@a", "https://...@a"),
		"user, no scheme":   wrong("me:secret@a", "...@a"),
	})
}

func TestOIDC(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*v1alpha1.OIDCSpec)
		want   []string
	}{
		"valid": {func(*v1alpha1.OIDCSpec) {}, nil},
		"all fields": {func(s *v1alpha1.OIDCSpec) {
			s.UsernameClaim, s.UsernamePrefix, s.GroupsClaim, s.GroupsPrefix = "email", "-", "groups", "oidc:"
		}, nil},
		"no client":          {func(s *v1alpha1.OIDCSpec) { s.ClientID = "" }, []string{"spec.clientId: Required value: the ID of the client that tokens are issued for"}},
		"no issuer":          {func(s *v1alpha1.OIDCSpec) { s.IssuerURL = "" }, []string{"spec.issuerUrl: Required value: the address of the issuer, such as https://issuer.example.com"}},
		"required claim":     {func(s *v1alpha1.OIDCSpec) { s.RequiredClaims = []v1alpha1.RequiredClaim{{Claim: "hd", Value: "a=b"}} }, nil},
		"two claims":         {func(s *v1alpha1.OIDCSpec) { s.RequiredClaims = make([]v1alpha1.RequiredClaim, 2) }, []string{"spec.requiredClaims: Invalid value: has 2 entries and must have at most one; remove the others"}},
		"claim of nothing":   {func(s *v1alpha1.OIDCSpec) { s.RequiredClaims = make([]v1alpha1.RequiredClaim, 1) }, []string{"spec.requiredClaims[0].claim: Required value: the name of the claim", "spec.requiredClaims[0].value: Required value: the value that the claim must have"}},
		"claim with =":       {func(s *v1alpha1.OIDCSpec) { s.RequiredClaims = []v1alpha1.RequiredClaim{{Claim: "a=b", Value: "c"}} }, []string{`spec.requiredClaims[0].claim: Invalid value: "a=b": must not contain = or a comma, which the API server's argument cannot hold`}},
		"claims with commas": {func(s *v1alpha1.OIDCSpec) { s.RequiredClaims = []v1alpha1.RequiredClaim{{Claim: "a,b", Value: "c,d"}} }, []string{`spec.requiredClaims[0].claim: Invalid value: "a,b": must not contain = or a comma, which the API server's argument cannot hold`, `spec.requiredClaims[0].value: Invalid value: "c,d": must not contain a comma, which the API server's argument cannot hold`}},
		"the longest": {func(s *v1alpha1.OIDCSpec) {
			s.ClientID, s.UsernameClaim, s.UsernamePrefix, s.GroupsClaim, s.GroupsPrefix = long(1024), long(1024), long(1024), long(1024), long(1024)
			s.RequiredClaims = []v1alpha1.RequiredClaim{{Claim: long(511), Value: long(512)}}
		}, nil},
		"longer": {
			func(s *v1alpha1.OIDCSpec) {
				s.ClientID, s.UsernameClaim, s.UsernamePrefix, s.GroupsClaim, s.GroupsPrefix = long(1025), long(1026), long(1027), long(1028), long(1029)
				s.RequiredClaims = []v1alpha1.RequiredClaim{{Claim: long(512), Value: long(512)}}
			},
			[]string{
				"spec.clientId: Invalid value: must have at most 1024 bytes, and has 1025; shorten it", "spec.usernameClaim: Invalid value: must have at most 1024 bytes, and has 1026; shorten it",
				"spec.usernamePrefix: Invalid value: must have at most 1024 bytes, and has 1027; shorten it", "spec.groupsClaim: Invalid value: must have at most 1024 bytes, and has 1028; shorten it",
				"spec.groupsPrefix: Invalid value: must have at most 1024 bytes, and has 1029; shorten it", "spec.requiredClaims[0]: Invalid value: must have at most 1024 bytes, and has 1025; shorten it",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := &v1alpha1.OIDCConfig{Spec: v1alpha1.OIDCSpec{ClientID: "kubernetes", IssuerURL: "https://issuer.example.com"}}
			test.change(&config.Spec)
			if diff := cmp.Diff(test.want, printed(validations.OIDC(config))); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAWSIam(t *testing.T) {
	t.Parallel()
	const (
		role = "arn:aws:iam::123456789012:role/"
		user = "arn:aws:iam::123456789012:user/"
	)
	type spec = v1alpha1.AWSIamSpec
	roles := func(arns ...string) func(*spec) {
		return func(s *spec) {
			for _, arn := range arns {
				s.MapRoles = append(s.MapRoles, v1alpha1.AWSIamRole{RoleARN: arn, Username: "a"})
			}
		}
	}
	users := func(arns ...string) func(*spec) {
		return func(s *spec) {
			for _, arn := range arns {
				s.MapUsers = append(s.MapUsers, v1alpha1.AWSIamUser{UserARN: arn, Username: "a"})
			}
		}
	}
	inRegion := func(name string) func(*spec) { return func(s *spec) { s.AWSRegion = name } }
	modes := func(modes ...string) func(*spec) { return func(s *spec) { s.BackendMode = modes } }
	type test struct {
		change func(*spec)
		want   []string
	}
	notRole := func(arn string) test {
		return test{roles(arn), []string{`spec.mapRoles[0].roleARN: Invalid value: "` + arn + `": must be an ARN such as ` + role + "NAME, without the role's path"}}
	}
	notUser := func(arn string) test {
		return test{users(arn), []string{`spec.mapUsers[0].userARN: Invalid value: "` + arn + `": must be an ARN such as ` + user + "NAME"}}
	}
	notRegion := func(name string) test {
		return test{inRegion(name), []string{`spec.awsRegion: Invalid value: "` + name + `": must be a region of AWS, such as eu-west-1`}}
	}
	tests := map[string]test{
		"valid":              {func(*spec) {}, nil},
		"government":         {inRegion("us-gov-west-1"), nil},
		"no region":          {inRegion(""), []string{"spec.awsRegion: Required value: a region of AWS, such as eu-west-1"}},
		"zone":               notRegion("eu-west-1a"),
		"region in capitals": notRegion("EU-WEST-1"),
		"region of one part": notRegion("eu-1"),
		"another partition":  {func(s *spec) { s.Partition = "aws-eu" }, []string{`spec.partition: Unsupported value: "aws-eu": supported values: "aws", "aws-cn", "aws-us-gov", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f"`}},
		"all modes":          {modes("MountedFile", "EKSConfigMap", "CRD"), nil},
		"no mode":            {modes(), []string{"spec.backendMode: Required value: MountedFile, EKSConfigMap or CRD, or several of them"}},
		"another mode":       {modes("File", "File"), []string{`spec.backendMode[0]: Unsupported value: "File": supported values: "MountedFile", "EKSConfigMap", "CRD"`, `spec.backendMode[1]: Unsupported value: "File": supported values: "MountedFile", "EKSConfigMap", "CRD"`}},
		"mode twice":         {modes("CRD", "CRD"), []string{`spec.backendMode[1]: Duplicate value: "CRD": spec.backendMode[0] has this mode already; remove one of the two`}},

		"roles":                     {roles(role+"a", role+"A_b+c=d,e.f@g-h", "arn:aws-us-gov:iam::123456789012:role/a", role+long(64)), nil},
		"role of 65 letters":        notRole(role + long(65)),
		"role with a path":          notRole(role + "team/a"),
		"role that is a user":       notRole(user + "a"),
		"role assumed":              notRole("arn:aws:sts::123456789012:assumed-role/a/b"),
		"role of 11 digits":         notRole("arn:aws:iam::12345678901:role/a"),
		"role of another partition": notRole("arn:gcp:iam::123456789012:role/a"),
		"role without name":         notRole(role),
		"role twice":                {roles(role+"a", role+"b", role+"a"), []string{`spec.mapRoles[2].roleARN: Duplicate value: "` + role + `a": spec.mapRoles[0].roleARN has this ARN already; remove one of the two`}},
		"role of nothing":           {func(s *spec) { s.MapRoles = make([]v1alpha1.AWSIamRole, 1) }, []string{"spec.mapRoles[0].roleARN: Required value: an ARN such as " + role + "NAME, without the role's path", "spec.mapRoles[0].username: Required value: the name of the user in the cluster"}},
		"users":                     {users(user+"a", user+"team/b/a", user+long(64)), nil},
		"user of 65 letters":        notUser(user + long(65)),
		"user that is a role":       notUser(role + "a"),
		"user with a space":         notUser(user + "a b"),
		"user twice":                {users(user+"a", user+"a"), []string{`spec.mapUsers[1].userARN: Duplicate value: "` + user + `a": spec.mapUsers[0].userARN has this ARN already; remove one of the two`}},
		"user of nothing":           {func(s *spec) { s.MapUsers = make([]v1alpha1.AWSIamUser, 1) }, []string{"spec.mapUsers[0].userARN: Required value: an ARN such as " + user + "NAME", "spec.mapUsers[0].username: Required value: the name of the user in the cluster"}},
	}
	for _, name := range []string{"aws", "aws-cn", "aws-us-gov", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f"} {
		tests[name] = test{func(s *spec) { s.Partition = name }, nil}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := &v1alpha1.AWSIamConfig{Spec: spec{AWSRegion: "eu-west-1", BackendMode: []string{"MountedFile"}}}
			test.change(&config.Spec)
			if diff := cmp.Diff(test.want, printed(validations.AWSIam(config))); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoIdentityDocuments(t *testing.T) {
	t.Parallel()
	if errs := append(validations.OIDC(nil), validations.AWSIam(nil)...); len(errs) > 0 {
		t.Errorf("errors about documents that are not there: %v", errs)
	}
}

// TestAWSIamWarnings: no mapping is left unread without a warning.
func TestAWSIamWarnings(t *testing.T) {
	t.Parallel()
	const (
		crd     = ": backend mode CRD reads objects of kind IAMIdentityMapping only, which you create in the cluster: these mappings are written to the ConfigMap kube-system/aws-auth, as EKS Anywhere does, and not read; add EKSConfigMap to backendMode"
		without = "spec.backendMode: there are no mapRoles and no mapUsers: the API server accepts no user of AWS until you write the ConfigMap kube-system/aws-auth (with EKSConfigMap), or give some here"
	)
	roles, users := make([]v1alpha1.AWSIamRole, 1), make([]v1alpha1.AWSIamUser, 1)
	tests := map[string]struct {
		spec v1alpha1.AWSIamSpec
		want []string
	}{
		"aws-auth":                  {v1alpha1.AWSIamSpec{BackendMode: []string{"EKSConfigMap"}, MapRoles: roles}, nil},
		"file":                      {v1alpha1.AWSIamSpec{BackendMode: []string{"MountedFile"}, MapUsers: users}, nil},
		"all":                       {v1alpha1.AWSIamSpec{BackendMode: []string{"CRD", "EKSConfigMap", "MountedFile"}, MapUsers: users}, nil},
		"CRD without mappings":      {v1alpha1.AWSIamSpec{BackendMode: []string{"CRD"}}, nil},
		"CRD with roles":            {v1alpha1.AWSIamSpec{BackendMode: []string{"CRD"}, MapRoles: roles}, []string{"spec.mapRoles" + crd}},
		"CRD with both":             {v1alpha1.AWSIamSpec{BackendMode: []string{"CRD"}, MapRoles: roles, MapUsers: users}, []string{"spec.mapRoles" + crd, "spec.mapUsers" + crd}},
		"aws-auth without mappings": {v1alpha1.AWSIamSpec{BackendMode: []string{"EKSConfigMap"}}, []string{without}},
		"file without mappings":     {v1alpha1.AWSIamSpec{BackendMode: []string{"MountedFile"}}, []string{without}},
		"aws-auth, CRD":             {v1alpha1.AWSIamSpec{BackendMode: []string{"EKSConfigMap", "CRD"}}, nil},
		"no mode":                   {v1alpha1.AWSIamSpec{MapRoles: roles}, nil}, // is an error
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, warning := range validations.AWSIamWarnings(&v1alpha1.AWSIamConfig{Spec: test.spec}) {
				got = append(got, warning.Path+": "+warning.Text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
	if got := validations.AWSIamWarnings(nil); got != nil {
		t.Errorf("warnings about no document: %v", got)
	}
}

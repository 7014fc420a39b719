package v1alpha1

import "slices"

// PodIAMConfig lets pods prove who they are to a cloud, such as AWS' IAM roles
// for service accounts.
type PodIAMConfig struct {
	// ServiceAccountIssuer is the address of the issuer of tokens.
	ServiceAccountIssuer string `json:"serviceAccountIssuer"`
}

// OIDCConfig has the API server accept tokens of an OpenID Connect provider.
type OIDCConfig struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Meta     `json:"metadata"`
	Spec       OIDCSpec `json:"spec"`
}

// OIDCSpec are the arguments of the API server about OpenID Connect.
type OIDCSpec struct {
	// ClientID is what all tokens must be issued for.
	ClientID string `json:"clientId"`
	// IssuerURL of the provider: https, without query or fragment.
	IssuerURL string `json:"issuerUrl"`
	// UsernameClaim is the claim that has the name of the user. The API server
	// defaults to sub.
	UsernameClaim string `json:"usernameClaim,omitempty" jsonschema:"default=sub"`
	// UsernamePrefix is put before names of users; "-" means none.
	UsernamePrefix string `json:"usernamePrefix,omitempty"`
	// GroupsClaim is the claim that has the groups of the user.
	GroupsClaim string `json:"groupsClaim,omitempty"`
	// GroupsPrefix is put before names of groups.
	GroupsPrefix string `json:"groupsPrefix,omitempty"`
	// RequiredClaims must be in a token with these values; at most one.
	RequiredClaims []RequiredClaim `json:"requiredClaims,omitempty" jsonschema:"maxItems=1"`
}

// RequiredClaim is a claim with a value.
type RequiredClaim struct {
	// Claim is the name of the claim.
	Claim string `json:"claim"`
	// Value that the claim must have.
	Value string `json:"value"`
}

// AWSIamConfig has the API server ask aws-iam-authenticator about tokens of AWS.
type AWSIamConfig struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   Meta       `json:"metadata"`
	Spec       AWSIamSpec `json:"spec"`
}

// AWSIamSpec is the configuration of aws-iam-authenticator. Its certificate is
// in the Secret <cluster>-aws-iam-authenticator-ca of the cluster's namespace,
// with the keys cert.pem and key.pem that 'aws-iam-authenticator init' writes.
type AWSIamSpec struct {
	// AWSRegion is the region whose token service is asked.
	AWSRegion string `json:"awsRegion"`
	// Partition of AWS. Defaults to aws.
	Partition string `json:"partition,omitempty" jsonschema:"default=aws"`
	// BackendMode is where mappings are read from, one or several of: EKSConfigMap
	// (the ConfigMap kube-system/aws-auth), MountedFile (the authenticator's own
	// configuration), CRD (objects of kind IAMIdentityMapping, which you create).
	BackendMode []string `json:"backendMode" jsonschema:"minItems=1,enum=MountedFile,enum=EKSConfigMap,enum=CRD"`
	// MapRoles maps roles to users. It is written to aws-auth and, with
	// MountedFile, to the authenticator's configuration. CRD alone does not read it.
	MapRoles []AWSIamRole `json:"mapRoles,omitempty"`
	// MapUsers maps users of AWS to users, in the same places.
	MapUsers []AWSIamUser `json:"mapUsers,omitempty"`
}

// Backend modes of aws-iam-authenticator.
const (
	BackendMountedFile  = "MountedFile"
	BackendEKSConfigMap = "EKSConfigMap"
	BackendCRD          = "CRD"
)

// Reads reports whether the authenticator reads mappings in a backend mode.
func (s AWSIamSpec) Reads(mode string) bool { return slices.Contains(s.BackendMode, mode) }

// AWSIamRole maps a role of AWS to a user.
type AWSIamRole struct {
	// RoleARN is the name of the role.
	RoleARN string `json:"roleARN"`
	// Username is what the user is called in the cluster.
	Username string `json:"username"`
	// Groups that the user has in the cluster.
	Groups []string `json:"groups,omitempty"`
}

// AWSIamUser maps a user of AWS to a user.
type AWSIamUser struct {
	// UserARN is the name of the user in AWS.
	UserARN string `json:"userARN"`
	// Username is what the user is called in the cluster.
	Username string `json:"username"`
	// Groups that the user has in the cluster.
	Groups []string `json:"groups,omitempty"`
}

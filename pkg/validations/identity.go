package validations

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

func identityProviders(refs []v1alpha1.Ref, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	kinds := []string{v1alpha1.AWSIamKind, v1alpha1.OIDCKind}
	first := places[string]{}
	for i, ref := range refs {
		at := path.Index(i)
		switch {
		case ref.Kind == "":
			errs = append(errs, field.Required(at.Child("kind"), strings.Join(kinds, " or ")))
		case !slices.Contains(kinds, ref.Kind):
			errs = append(errs, field.NotSupported(at.Child("kind"), ref.Kind, kinds))
		default:
			errs = append(errs, first.again(ref.Kind, ref.Kind, "kind already; an API server takes one of each: remove the other", at.Child("kind"), at)...)
		}
		if ref.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), "the name of the document"))
		}
	}
	return errs
}

func podIAM(config *v1alpha1.PodIAMConfig, path *field.Path) field.ErrorList {
	if config == nil {
		return nil
	}
	return issuer(config.ServiceAccountIssuer, path.Child("serviceAccountIssuer"))
}

// OIDC returns everything that is wrong with a document of kind OIDCConfig, if
// there is one.
func OIDC(config *v1alpha1.OIDCConfig) field.ErrorList {
	if config == nil {
		return nil
	}
	spec, path := config.Spec, field.NewPath("spec")
	var errs field.ErrorList
	if spec.ClientID == "" {
		errs = append(errs, field.Required(path.Child("clientId"), "the ID of the client that tokens are issued for"))
	}
	return slices.Concat(errs,
		argument(spec.ClientID, path.Child("clientId")),
		issuer(spec.IssuerURL, path.Child("issuerUrl")),
		argument(spec.UsernameClaim, path.Child("usernameClaim")),
		argument(spec.UsernamePrefix, path.Child("usernamePrefix")),
		argument(spec.GroupsClaim, path.Child("groupsClaim")),
		argument(spec.GroupsPrefix, path.Child("groupsPrefix")),
		requiredClaims(spec.RequiredClaims, path.Child("requiredClaims")),
	)
}

// requiredClaims allows at most one claim: Cluster API's objects have an argument of
// the API server once, which reads claim=value, and a comma would begin another claim.
func requiredClaims(claims []v1alpha1.RequiredClaim, path *field.Path) field.ErrorList {
	if len(claims) > 1 {
		return field.ErrorList{tooMany(path, len(claims), "must have at most one; remove the others")}
	}
	var errs field.ErrorList
	for i, claim := range claims {
		at := path.Index(i)
		switch {
		case claim.Claim == "":
			errs = append(errs, field.Required(at.Child("claim"), "the name of the claim"))
		case strings.ContainsAny(claim.Claim, "=,"):
			errs = append(errs, field.Invalid(at.Child("claim"), claim.Claim, "must not contain = or a comma, which the API server's argument cannot hold"))
		}
		switch {
		case claim.Value == "":
			errs = append(errs, field.Required(at.Child("value"), "the value that the claim must have"))
		case strings.Contains(claim.Value, ","):
			errs = append(errs, field.Invalid(at.Child("value"), claim.Value, "must not contain a comma, which the API server's argument cannot hold"))
		}
		errs = append(errs, argument(claim.Claim+"="+claim.Value, at)...)
	}
	return errs
}

var awsRegion = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d$`)

// roleARN has no path: what AWS says about a caller has the name of the role only.
func roleARN() *regexp.Regexp {
	return regexp.MustCompile(`^arn:aws(-[a-z]+)*:iam::\d{12}:role/[\w+=,.@-]{1,64}$`)
}

func userARN() *regexp.Regexp {
	return regexp.MustCompile(`^arn:aws(-[a-z]+)*:iam::\d{12}:user/([!-~]+/)?[\w+=,.@-]{1,64}$`)
}

func awsPartitions() []string {
	return []string{"aws", "aws-cn", "aws-us-gov", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f"}
}

// AWSIam returns everything that is wrong with a document of kind AWSIamConfig,
// if there is one.
func AWSIam(config *v1alpha1.AWSIamConfig) field.ErrorList {
	if config == nil {
		return nil
	}
	spec, path := config.Spec, field.NewPath("spec")
	errs := slices.Concat(
		region(spec.AWSRegion, path.Child("awsRegion")),
		oneOf(spec.Partition, awsPartitions(), path.Child("partition")),
		backendModes(spec.BackendMode, path.Child("backendMode")),
	)
	first := places[string]{}
	roles, users := roleARN(), userARN()
	for i, role := range spec.MapRoles {
		at := path.Child("mapRoles").Index(i)
		errs = append(errs, arn(role.RoleARN, roles, "arn:aws:iam::123456789012:role/NAME, without the role's path", first, at.Child("roleARN"))...)
		errs = append(errs, username(role.Username, at.Child("username"))...)
	}
	for i, user := range spec.MapUsers {
		at := path.Child("mapUsers").Index(i)
		errs = append(errs, arn(user.UserARN, users, "arn:aws:iam::123456789012:user/NAME", first, at.Child("userARN"))...)
		errs = append(errs, username(user.Username, at.Child("username"))...)
	}
	return errs
}

// AWSIamWarnings are about mappings of a document of kind AWSIamConfig that the
// authenticator does not read, and about a document without any.
func AWSIamWarnings(config *v1alpha1.AWSIamConfig) []strictyaml.Warning {
	if config == nil {
		return nil
	}
	spec, path := config.Spec, field.NewPath("spec")
	fromFile := spec.Reads(v1alpha1.BackendEKSConfigMap) || spec.Reads(v1alpha1.BackendMountedFile)
	mapped := len(spec.MapRoles)+len(spec.MapUsers) > 0
	var warnings []strictyaml.Warning
	warn := func(path *field.Path, text string) {
		warnings = append(warnings, strictyaml.Warning{Path: path.String(), Text: text})
	}
	switch {
	case fromFile && !mapped && !spec.Reads(v1alpha1.BackendCRD):
		warn(path.Child("backendMode"), "there are no mapRoles and no mapUsers: the API server accepts no user of AWS until you write the ConfigMap kube-system/aws-auth (with EKSConfigMap), or give some here")
	case !fromFile && spec.Reads(v1alpha1.BackendCRD):
		const unread = "backend mode CRD reads objects of kind IAMIdentityMapping only, which you create in the cluster: these mappings are written to the ConfigMap kube-system/aws-auth, as EKS Anywhere does, and not read; add EKSConfigMap to backendMode"
		if len(spec.MapRoles) > 0 {
			warn(path.Child("mapRoles"), unread)
		}
		if len(spec.MapUsers) > 0 {
			warn(path.Child("mapUsers"), unread)
		}
	}
	return warnings
}

func region(name string, path *field.Path) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "a region of AWS, such as eu-west-1")}
	case !awsRegion.MatchString(name):
		return field.ErrorList{field.Invalid(path, name, "must be a region of AWS, such as eu-west-1")}
	}
	return nil
}

func backendModes(modes []string, path *field.Path) field.ErrorList {
	if len(modes) == 0 {
		return field.ErrorList{field.Required(path, "MountedFile, EKSConfigMap or CRD, or several of them")}
	}
	var errs field.ErrorList
	first := places[string]{}
	for i, mode := range modes {
		at := path.Index(i)
		if supported := []string{v1alpha1.BackendMountedFile, v1alpha1.BackendEKSConfigMap, v1alpha1.BackendCRD}; !slices.Contains(supported, mode) {
			errs = append(errs, field.NotSupported(at, mode, supported))
			continue
		}
		errs = append(errs, first.again(mode, mode, "mode already; remove one of the two", at, at)...)
	}
	return errs
}

func arn(text string, form *regexp.Regexp, example string, first places[string], path *field.Path) field.ErrorList {
	switch {
	case text == "":
		return field.ErrorList{field.Required(path, "an ARN such as "+example)}
	case !form.MatchString(text):
		return field.ErrorList{field.Invalid(path, text, "must be an ARN such as "+example)}
	}
	return first.again(text, text, "ARN already; remove one of the two", path, path)
}

func username(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "the name of the user in the cluster")}
	}
	return nil
}

package validations

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	auditvalidation "k8s.io/apiserver/pkg/apis/audit/validation"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// What Cluster API's objects can hold, less what a provider and other fields of
// the spec add.
const (
	maxCertSANs       = 90
	maxExtraArgs      = 80
	maxArgumentLength = 256 // bytes of an argument's name
)

func apiServer(cluster *v1alpha1.Cluster, path *field.Path) field.ErrorList {
	config := cluster.Spec.ControlPlaneConfiguration
	return slices.Concat(
		certSANs(config.CertSANs, path.Child("certSans")),
		extraArgs(cluster, path.Child("apiServerExtraArgs")),
		auditPolicy(string(config.AuditPolicyContent), path.Child("auditPolicyContent")),
	)
}

func certSANs(names []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(names) > maxCertSANs {
		errs = append(errs, tooMany(path, len(names), fmt.Sprintf("must have at most %d; remove some", maxCertSANs)))
	}
	first := places[string]{}
	for i, name := range names {
		at := path.Index(i)
		if !validHost(name) && len(utilvalidation.IsWildcardDNS1123Subdomain(name)) > 0 {
			errs = append(errs, field.Invalid(at, name, "must be an address, or a DNS name in lower case such as api.example.com or *.example.com, of at most 253 characters"))
			continue
		}
		same := name
		if address, err := netip.ParseAddr(name); err == nil {
			same = address.String()
		}
		errs = append(errs, first.again(same, name, "name already; remove one of the two", at, at)...)
	}
	return errs
}

var argumentName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

func extraArgs(cluster *v1alpha1.Cluster, path *field.Path) field.ErrorList {
	args := cluster.Spec.ControlPlaneConfiguration.APIServerExtraArgs
	var errs field.ErrorList
	if len(args) > maxExtraArgs {
		errs = append(errs, tooMany(path, len(args), fmt.Sprintf("must have at most %d; remove some", maxExtraArgs)))
	}
	owners := argumentOwners(cluster.Spec)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		at := keyed(path, name)
		errs = append(errs, argument(args[name], at)...)
		bare := strings.TrimLeft(name, "-")
		switch i := slices.IndexFunc(owners, func(owner argumentOwner) bool { return owner.owns(name) }); {
		case bare != name && argumentName.MatchString(bare):
			errs = append(errs, field.Invalid(at, name, "must be written without leading dashes; use "+bare))
		case len(name) > maxArgumentLength || !argumentName.MatchString(name):
			errs = append(errs, field.Invalid(at, name, fmt.Sprintf("must be an argument of kube-apiserver: at most %d lower-case letters, digits and dashes that begin with a letter", maxArgumentLength)))
		case i >= 0:
			errs = append(errs, field.Forbidden(at, owners[i].remedy))
		}
	}
	return errs
}

// argumentOwner sets arguments of the API server. A name that ends in * is a prefix.
type argumentOwner struct {
	names  []string
	remedy string
}

func (o argumentOwner) owns(name string) bool {
	return slices.ContainsFunc(o.names, func(own string) bool {
		prefix, all := strings.CutSuffix(own, "*")
		return name == own || all && strings.HasPrefix(name, prefix)
	})
}

// argumentOwners are kubeadm, and the fields of the spec that are given.
func argumentOwners(spec v1alpha1.ClusterSpec) []argumentOwner {
	owners := []argumentOwner{{
		[]string{
			"advertise-address", "secure-port", "service-cluster-ip-range", "client-ca-file", "tls-cert-file", "tls-private-key-file",
			"etcd-servers", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "kubelet-client-certificate", "kubelet-client-key",
			"service-account-key-file", "service-account-signing-key-file", "proxy-client-cert-file", "proxy-client-key-file", "requestheader-*",
		},
		"kubeadm sets this argument; remove it",
	}}
	when := func(given bool, path string, names ...string) {
		if given {
			owners = append(owners, argumentOwner{names, "spec." + path + " sets this argument; remove one of the two"})
		}
	}
	provider := func(kind string) bool {
		return slices.ContainsFunc(spec.IdentityProviderRefs, func(ref v1alpha1.Ref) bool { return ref.Kind == kind })
	}
	when(spec.ControlPlaneConfiguration.AuditPolicyContent != "", "controlPlaneConfiguration.auditPolicyContent", "audit-policy-file", "audit-log-*")
	when(spec.PodIAMConfig != nil, "podIamConfig", "service-account-issuer")
	when(len(spec.EtcdEncryption) > 0, "etcdEncryption", "encryption-provider-config")
	when(provider(v1alpha1.OIDCKind), "identityProviderRefs ("+v1alpha1.OIDCKind+")", "oidc-*", "authentication-config")
	when(provider(v1alpha1.AWSIamKind), "identityProviderRefs ("+v1alpha1.AWSIamKind+")", "authentication-token-webhook-config-file", "authentication-token-webhook-version")
	return owners
}

// auditPolicy is checked as the API server would. A mistake in it has its path
// in the policy behind the path of the field.
func auditPolicy(text string, path *field.Path) field.ErrorList {
	if text == "" {
		return nil
	}
	errs := content(text, path)
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return append(errs, withoutValue(path, "must be an audit policy in YAML; the mistake: "+yamlMistake(err)))
	}
	if documents(text) > 1 {
		return append(errs, withoutValue(path, "must be one document; remove what follows the first"))
	}
	var value any
	_ = json.Unmarshal(data, &value) // it was made a moment ago
	object, ok := value.(map[string]any)
	if !ok {
		return append(errs, withoutValue(path, "must be an audit policy: fields apiVersion: audit.k8s.io/v1, kind: Policy and rules"))
	}
	form := shapeOf(reflect.TypeFor[auditv1.Policy]())
	meant := form.meant(object, path)
	return slices.DeleteFunc(slices.Concat(errs,
		typeMeta(object, auditv1.SchemeGroupVersion.String(), "Policy", true, path),
		form.check(object, path),
		auditRules(data, path),
	), func(err *field.Error) bool {
		return err.Type == field.ErrorTypeRequired && slices.Contains(meant, err.Field)
	})
}

// documents counts those of a file that can be read and are not empty.
func documents(text string) int {
	number := 0
	for decoder := yamlv3.NewDecoder(strings.NewReader(text)); ; {
		var document yamlv3.Node
		if decoder.Decode(&document) != nil {
			return number
		}
		if document.Content[0].ShortTag() != "!!null" {
			number++
		}
	}
}

// yamlMistake returns the error of a YAML library on one line and without its preamble.
func yamlMistake(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	for _, preamble := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors: "} {
		text = strings.TrimPrefix(text, preamble)
	}
	return text
}

// auditRules are checked by the API server's own rules. What could not be read
// has been told.
func auditRules(data []byte, path *field.Path) field.ErrorList {
	var policy auditv1.Policy
	if json.Unmarshal(data, &policy) != nil {
		return nil
	}
	if len(policy.Rules) == 0 {
		return field.ErrorList{field.Required(path.Child("rules"), "at least one rule, such as 'level: Metadata' for everything")}
	}
	var internal audit.Policy
	_ = auditv1.Convert_v1_Policy_To_audit_Policy(&policy, &internal, nil) // cannot fail: the two have the same fields
	errs := auditvalidation.ValidatePolicy(&internal)
	for _, err := range errs {
		if err.Type == field.ErrorTypeRequired {
			err.Detail = "None, Metadata, Request or RequestResponse"
		}
		err.Field = path.String() + "." + err.Field
	}
	return errs
}

// typeMeta says what an object of another program is.
func typeMeta(object map[string]any, apiVersion, kind string, required bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for name, want := range map[string]string{"apiVersion": apiVersion, "kind": kind} {
		switch text, isText := object[name].(string); {
		case object[name] == nil && required:
			errs = append(errs, field.Required(path.Child(name), want))
		case isText && text != want:
			errs = append(errs, field.NotSupported(path.Child(name), text, []string{want}))
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

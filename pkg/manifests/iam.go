package manifests

import (
	"cmp"
	"fmt"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// iamSecret has the certificate and key of aws-iam-authenticator, under the
// name that EKS Anywhere gives it.
func iamSecret(cluster string) string { return cluster + "-aws-iam-authenticator-ca" }

// iamKubeconfig is the API server's kubeconfig of the authenticator on its machine.
const iamKubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: aws-iam-authenticator
  cluster:
    certificate-authority: ` + iamInPod + `/pki/cert.pem
    server: https://localhost:21362/authenticate
users:
- name: apiserver
contexts:
- name: webhook
  context:
    cluster: aws-iam-authenticator
    user: apiserver
current-context: webhook
`

// iamFiles returns the files of the API server and the authenticator on their machine.
func (r renderer) iamFiles() []bootstrapv1.File {
	return []bootstrapv1.File{
		file(path.Join(iamOnMachine, "kubeconfig.yaml"), "0640", iamKubeconfig),
		secretFile(path.Join(iamOnMachine, "pki/cert.pem"), "0640", iamSecret(r.cluster()), "cert.pem"),
		secretFile(path.Join(iamOnMachine, "pki/key.pem"), "0640", iamSecret(r.cluster()), "key.pem"),
	}
}

// iamAuthenticator runs aws-iam-authenticator on the control plane's machines,
// where the API server asks it.
func (r renderer) iamAuthenticator() ([]templater.Object, error) {
	if r.Config.AWSIam == nil {
		return nil, nil
	}
	files, err := iamManifests(r.cluster(), r.Config.AWSIam.Spec)
	if err != nil {
		return nil, err
	}
	return r.ownAddOn("aws-iam-authenticator", files, addonsv1.ClusterResourceSetStrategyReconcile)
}

// iamManifests returns the manifests of the add-on, by file name.
func iamManifests(cluster string, spec v1alpha1.AWSIamSpec) (map[string]string, error) {
	files := map[string]string{}
	names := []string{"aws-iam-authenticator.yaml"}
	if spec.Reads(v1alpha1.BackendCRD) {
		names = append(names, "aws-iam-authenticator-crd.yaml")
	}
	for _, name := range names {
		file, err := addOnFile(name)
		if err != nil {
			return nil, err
		}
		files[name] = file
	}
	configMap, err := iamConfigMap(cluster, spec)
	if err != nil {
		return nil, err
	}
	files["aws-iam-authenticator-config.yaml"] = configMap
	if ownsAWSAuth(spec) {
		if files["aws-auth.yaml"], err = awsAuthConfigMap(spec); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// ownsAWSAuth reports whether the spec describes the ConfigMap aws-auth. Like EKS
// Anywhere it does whichever of EKSConfigMap and CRD is read. A spec without
// mappings leaves the ConfigMap to its users instead of emptying it.
func ownsAWSAuth(spec v1alpha1.AWSIamSpec) bool {
	mapped := len(spec.MapRoles)+len(spec.MapUsers) > 0
	return mapped && (spec.Reads(v1alpha1.BackendEKSConfigMap) || spec.Reads(v1alpha1.BackendCRD))
}

// awsAuthConfigMap has the mappings in the form of EKS, as EKS Anywhere writes it.
func awsAuthConfigMap(spec v1alpha1.AWSIamSpec) (string, error) {
	var roles, users []map[string]any
	for _, role := range spec.MapRoles {
		roles = append(roles, awsAuthMapping("rolearn", role.RoleARN, role.Username, role.Groups))
	}
	for _, user := range spec.MapUsers {
		users = append(users, awsAuthMapping("userarn", user.UserARN, user.Username, user.Groups))
	}
	data := map[string]string{}
	for key, mappings := range map[string][]map[string]any{"mapRoles": roles, "mapUsers": users} {
		if len(mappings) == 0 {
			data[key] = ""
			continue
		}
		text, err := yaml.Marshal(mappings)
		if err != nil {
			return "", fmt.Errorf("writing %s of the ConfigMap aws-auth: %w", key, err)
		}
		data[key] = string(text)
	}
	return systemConfigMap("aws-auth", data)
}

func awsAuthMapping(key, arn, username string, groups []string) map[string]any {
	if groups == nil {
		groups = []string{}
	}
	return map[string]any{key: arn, "username": username, "groups": groups}
}

// iamConfigMap is the authenticator's configuration. The cluster's name is the
// cluster ID that tokens are made for.
func iamConfigMap(cluster string, spec v1alpha1.AWSIamSpec) (string, error) {
	server := map[string]any{"partition": cmp.Or(spec.Partition, "aws"), "backendMode": spec.BackendMode}
	if spec.Reads(v1alpha1.BackendMountedFile) && len(spec.MapRoles) > 0 {
		server["mapRoles"] = spec.MapRoles
	}
	if spec.Reads(v1alpha1.BackendMountedFile) && len(spec.MapUsers) > 0 {
		server["mapUsers"] = spec.MapUsers
	}
	configuration, err := yaml.Marshal(map[string]any{"clusterID": cluster, "server": server})
	if err != nil {
		return "", fmt.Errorf("writing the configuration of aws-iam-authenticator: %w", err)
	}
	return systemConfigMap("aws-iam-authenticator", map[string]string{"config.yaml": string(configuration), "region": spec.AWSRegion})
}

// systemConfigMap is the manifest of a ConfigMap in the namespace of the control plane.
func systemConfigMap(name string, data map[string]string) (string, error) {
	manifest, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": name, "namespace": metav1.NamespaceSystem},
		"data":       data,
	})
	if err != nil {
		return "", fmt.Errorf("writing the ConfigMap %s: %w", name, err)
	}
	return string(manifest), nil
}

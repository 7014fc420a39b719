package manifests

import (
	"cmp"
	"fmt"
	"path"
	"slices"

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

// iamKubeconfig tells the API server where the authenticator answers on its machine.
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

// iamFiles are what API server and authenticator find on their machine.
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
	names := []string{"aws-iam-authenticator.yaml"}
	if slices.Contains(r.Config.AWSIam.Spec.BackendMode, "CRD") {
		names = append(names, "aws-iam-authenticator-crd.yaml")
	}
	configMap, err := iamConfigMap(r.cluster(), r.Config.AWSIam.Spec)
	if err != nil {
		return nil, err
	}
	files := map[string]string{"aws-iam-authenticator-config.yaml": configMap}
	for _, name := range names {
		if files[name], err = addOnFile(name); err != nil {
			return nil, err
		}
	}
	return r.ownAddOn("aws-iam-authenticator", files, addonsv1.ClusterResourceSetStrategyReconcile)
}

// iamConfigMap is the authenticator's configuration. The cluster's name is the
// cluster ID that tokens are made for.
func iamConfigMap(cluster string, spec v1alpha1.AWSIamSpec) (string, error) {
	server := map[string]any{"partition": cmp.Or(spec.Partition, "aws"), "backendMode": spec.BackendMode}
	if len(spec.MapRoles) > 0 {
		server["mapRoles"] = spec.MapRoles
	}
	if len(spec.MapUsers) > 0 {
		server["mapUsers"] = spec.MapUsers
	}
	configuration, err := yaml.Marshal(map[string]any{"clusterID": cluster, "server": server})
	if err != nil {
		return "", fmt.Errorf("writing the configuration of aws-iam-authenticator: %w", err)
	}
	configMap, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": "aws-iam-authenticator", "namespace": metav1.NamespaceSystem},
		"data":       map[string]any{"config.yaml": string(configuration), "region": spec.AWSRegion},
	})
	if err != nil {
		return "", fmt.Errorf("writing the ConfigMap of aws-iam-authenticator: %w", err)
	}
	return string(configMap), nil
}

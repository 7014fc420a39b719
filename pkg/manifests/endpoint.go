package manifests

import (
	"fmt"
	"net/netip"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// kubeVIPManifest is where the kubelet finds the static pod.
const kubeVIPManifest = "/etc/kubernetes/manifests/kube-vip.yaml"

// useSuperAdmin is run on every machine of the control plane before kubeadm. From 1.29 on the
// user of admin.conf has no rights until the first machine is initialized, which needs the
// endpoint that kube-vip announces: there it has super-admin.conf
// (https://github.com/kube-vip/kube-vip/issues/684). Cluster API's bootstrap provider writes
// the file in the condition on that machine only.
const useSuperAdmin = "if [ -f /run/kubeadm/kubeadm.yaml ]; then sed -i 's|path: /etc/kubernetes/admin.conf|path: /etc/kubernetes/super-admin.conf|' " + kubeVIPManifest + "; fi"

// withEndpoint returns an infrastructure cluster with the endpoint of the spec, if it gives
// one (https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-cluster). The
// error is of type strictyaml.Problems where the object has another one.
func (r renderer) withEndpoint(text []byte) ([]byte, error) {
	given := r.Config.Cluster.Spec.ControlPlaneConfiguration.APIEndpoint()
	if given == nil {
		return text, nil
	}
	var object map[string]any
	if err := yaml.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("decoding what %s renders: %w", providers.InfrastructureTemplate, err)
	}
	host, port := given.HostPort()
	own, has, err := unstructured.NestedString(object, "spec", "controlPlaneEndpoint", "host")
	if err != nil {
		return nil, fmt.Errorf("decoding what %s renders: %w", providers.InfrastructureTemplate, err)
	}
	if has && own != host {
		path := field.NewPath("spec", "controlPlaneConfiguration", "endpoint", "host")
		contradiction := field.Invalid(path, host, fmt.Sprintf("contradicts spec.controlPlaneEndpoint of the infrastructure cluster in the %s, which is %q; remove one of the two", r.Config.Datacenter.Kind, own))
		return nil, r.Config.Locate(v1alpha1.ClusterKind, field.ErrorList{contradiction}).OrNil()
	}
	if err := unstructured.SetNestedMap(object, map[string]any{"host": host, "port": int64(port)}, "spec", "controlPlaneEndpoint"); err != nil {
		return nil, fmt.Errorf("decoding what %s renders: %w", providers.InfrastructureTemplate, err)
	}
	return yaml.Marshal(object)
}

// apiServerPort is the port of API servers on their machines; 0 for kubeadm's own. With
// kube-vip, which passes nothing on, it is that of the endpoint.
func (r renderer) apiServerPort() v1alpha1.Port {
	if !r.Config.Cluster.Spec.ControlPlaneConfiguration.AnnouncesEndpoint() {
		return 0
	}
	_, port := r.Config.Cluster.Spec.ControlPlaneConfiguration.APIEndpoint().HostPort()
	return port
}

// prefix is the length of the network prefix of an address alone; empty for a DNS name.
func prefix(host string) string {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return ""
	}
	return strconv.Itoa(address.BitLen())
}

// announcer returns the file by which kube-vip announces the endpoint from machines of a
// version, and what is run before kubeadm for it.
func (r renderer) announcer(version v1alpha1.Version) ([]bootstrapv1.File, []string, error) {
	if !r.Config.Cluster.Spec.ControlPlaneConfiguration.AnnouncesEndpoint() {
		return nil, nil, nil
	}
	host, port := r.Config.Cluster.Spec.ControlPlaneConfiguration.APIEndpoint().HostPort()
	manifest, err := r.templates.Render("kube-vip.yaml.tmpl", struct {
		Host, Port, Prefix string
	}{host, strconv.Itoa(int(port)), prefix(host)})
	if err != nil {
		return nil, nil, err
	}
	var commands []string
	if version.Minor().Compare(v1alpha1.Minor{Major: 1, Minor: 29}) >= 0 {
		commands = append(commands, useSuperAdmin)
	}
	return []bootstrapv1.File{file(kubeVIPManifest, "0600", string(manifest))}, commands, nil
}

package manifests

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	caplabels "sigs.k8s.io/cluster-api/util/labels"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Places of files on the machines.
const (
	ownDirectory      = "/etc/clusterctl-x"
	patchesDirectory  = "/etc/kubernetes/patches"
	etcdCA            = "/etc/kubernetes/pki/etcd/ca.crt"
	etcdClientCert    = "/etc/kubernetes/pki/apiserver-etcd-client.crt"
	etcdClientKey     = "/etc/kubernetes/pki/apiserver-etcd-client.key"
	kubeadmDownloads  = ownDirectory + "/kubeadm-downloads"
	fetchKubeadm      = ownDirectory + "/fetch-kubeadm.sh"
	restartContainerd = "systemctl daemon-reload && systemctl restart containerd"
)

// part has the settings of machines that the control plane and worker node groups have
// in common.
type part struct {
	version              v1alpha1.Version
	labels               map[string]string
	taints               *[]v1alpha1.Taint
	kubeletConfiguration map[string]any
}

// controlPlaneKubeadm is how kubeadm makes the control plane.
func (r renderer) controlPlaneKubeadm(release versionsbundle.Release) (bootstrapv1.KubeadmConfigSpec, error) {
	config := r.Config.Cluster.Spec.ControlPlaneConfiguration
	spec, err := r.machineKubeadm(part{release.Version, config.Labels, r.controlPlaneTaints(), config.KubeletConfiguration})
	if err != nil {
		return spec, err
	}
	join := spec.JoinConfiguration
	spec.InitConfiguration = bootstrapv1.InitConfiguration{NodeRegistration: join.NodeRegistration, Patches: join.Patches}
	if r.ipv6() && !r.exact {
		// kubeadm would take the machine's address of version 4, which an API
		// server with services of version 6 refuses.
		spec.InitConfiguration.LocalAPIEndpoint.AdvertiseAddress = anyIPv6
		spec.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{LocalAPIEndpoint: bootstrapv1.APIEndpoint{AdvertiseAddress: anyIPv6}}
	}
	apiServer, files, err := r.apiServer(release.Version)
	if err != nil {
		return spec, err
	}
	spec.Files = append(spec.Files, files...)
	announcer, commands, err := r.announcer(release.Version)
	if err != nil {
		return spec, err
	}
	spec.Files = append(spec.Files, announcer...)
	spec.PreKubeadmCommands = append(spec.PreKubeadmCommands, commands...)
	spec.ClusterConfiguration = bootstrapv1.ClusterConfiguration{
		ImageRepository: release.Images.KubeAPIServer.Repository(),
		DNS:             bootstrapv1.DNS{ImageRepository: release.Images.CoreDNS.Repository(), ImageTag: release.Images.CoreDNS.Tag()},
		Etcd:            r.etcd(release),
		APIServer:       apiServer,
	}
	spec.ClusterConfiguration.Scheduler.ExtraArgs = r.defaults.scheduler
	var managerArgs []bootstrapv1.Arg
	if nodes := r.Config.Cluster.Spec.ClusterNetwork.Nodes; nodes != nil && nodes.CIDRMaskSize != nil {
		managerArgs = arguments(map[string]string{"node-cidr-mask-size": strconv.Itoa(*nodes.CIDRMaskSize)})
	}
	spec.ClusterConfiguration.ControllerManager.ExtraArgs = overriding(r.defaults.controllerManager, managerArgs)
	return spec, nil
}

// controlPlaneTaints are none where the control plane's nodes are the only ones,
// which have to run all pods.
func (r renderer) controlPlaneTaints() *[]v1alpha1.Taint {
	spec := r.Config.Cluster.Spec
	if given := spec.ControlPlaneConfiguration.Taints; given != nil || len(spec.WorkerNodeGroupConfigurations) > 0 || r.exact {
		return given
	}
	return &[]v1alpha1.Taint{}
}

func (r renderer) etcd(release versionsbundle.Release) bootstrapv1.Etcd {
	if external := r.Config.Cluster.Spec.ExternalEtcdConfiguration; external != nil && len(external.Endpoints) > 0 {
		return bootstrapv1.Etcd{External: bootstrapv1.ExternalEtcd{
			Endpoints: external.Endpoints, CAFile: etcdCA, CertFile: etcdClientCert, KeyFile: etcdClientKey,
		}}
	}
	image := release.Images.Etcd
	return bootstrapv1.Etcd{Local: bootstrapv1.LocalEtcd{ImageRepository: image.Repository(), ImageTag: image.Tag(), ExtraArgs: r.defaults.etcd}}
}

// groupKubeadm is how kubeadm makes the machines of a worker node group. It
// depends on the group and its own version only, so that a step of the control
// plane replaces no worker.
func (r renderer) groupKubeadm(group v1alpha1.WorkerNodeGroupConfiguration, release versionsbundle.Release) (bootstrapv1.KubeadmConfigSpec, error) {
	spec, err := r.machineKubeadm(part{release.Version, group.Labels, group.Taints, group.KubeletConfiguration})
	if err != nil {
		return spec, err
	}
	if script := r.Provider.Node(release.Version).FetchKubeadm; script != "" {
		spec.Files = append(spec.Files,
			secretFile(kubeadmDownloads, "0644", r.kubeadmDownloadsName(), "downloads"),
			bootstrapv1.File{Path: fetchKubeadm, Owner: "root:root", Permissions: "0755", ContentFormat: bootstrapv1.FileContentFormatTemplate, Content: script},
		)
		spec.PreKubeadmCommands = append(spec.PreKubeadmCommands, fetchKubeadm)
	}
	return spec, nil
}

// machineKubeadm returns the configuration of all machines of a part, as a node that
// joins.
func (r renderer) machineKubeadm(p part) (bootstrapv1.KubeadmConfigSpec, error) {
	var spec bootstrapv1.KubeadmConfigSpec
	node := r.Provider.Node(p.version)
	spec.JoinConfiguration.NodeRegistration = bootstrapv1.NodeRegistrationOptions{
		CRISocket:        node.CRISocket,
		ImagePullPolicy:  r.defaults.imagePullPolicy,
		KubeletExtraArgs: r.kubeletArguments(node, p),
		Taints:           taints(p.taints),
	}
	mirror, mirrorCommands := registryMirror(r.Config.Cluster.Spec.RegistryMirrorConfiguration)
	proxy := proxyFiles(r.Config.Cluster.Spec)
	spec.Files = slices.Concat(proxy, mirror)
	spec.PreKubeadmCommands = mirrorCommands
	if len(spec.Files) > 0 {
		spec.PreKubeadmCommands = append(spec.PreKubeadmCommands, restartContainerd)
	}
	if len(p.kubeletConfiguration) == 0 {
		return spec, nil
	}
	patch, err := yaml.Marshal(p.kubeletConfiguration)
	if err != nil {
		return spec, err
	}
	spec.JoinConfiguration.Patches.Directory = patchesDirectory
	spec.Files = append(spec.Files, file(path.Join(patchesDirectory, "kubeletconfiguration+merge.yaml"), "0644", string(patch)))
	return spec, nil
}

// kubeletArguments returns the arguments for every machine and of the provider, then
// those of the spec.
func (r renderer) kubeletArguments(node providers.Node, p part) []bootstrapv1.Arg {
	defaults := slices.Clone(r.defaults.kubelet)
	for _, arg := range node.KubeletExtraArgs {
		defaults = append(defaults, bootstrapv1.Arg{Name: arg.Name, Value: new(arg.Value)})
	}
	args := hardeningOf(p.kubeletConfiguration)
	if resolvConf := r.Config.Cluster.Spec.ClusterNetwork.DNS.ResolvConf; resolvConf != nil {
		args["resolv-conf"] = resolvConf.Path
	}
	if r.ipv6() && !r.exact {
		args["node-ip"] = anyIPv6
	}
	if own := kubeletLabels(p.labels); len(own) > 0 {
		args["node-labels"] = strings.Join(own, ",")
	}
	return overriding(defaults, arguments(args))
}

// anyIPv6 has programs choose one of the machine's addresses of version 6.
const anyIPv6 = "::"

// ipv6 reports whether the cluster's networks are of version 6.
func (r renderer) ipv6() bool {
	return strings.Contains(r.Config.Cluster.Spec.ClusterNetwork.Pods.Block(), ":")
}

// kubeletLabels are the labels that a node is born with: all but those that
// Cluster API sets, as key=value.
func kubeletLabels(labels map[string]string) []string {
	managed := caplabels.GetManagedLabels(labels)
	var own []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if _, is := managed[key]; !is {
			own = append(own, key+"="+labels[key])
		}
	}
	return own
}

func taints(given *[]v1alpha1.Taint) *[]corev1.Taint {
	if given == nil {
		return nil
	}
	taints := make([]corev1.Taint, len(*given))
	for i, taint := range *given {
		taints[i] = corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)}
	}
	return &taints
}

// arguments of a program, sorted by name.
func arguments(args map[string]string) []bootstrapv1.Arg {
	var list []bootstrapv1.Arg
	for _, name := range slices.Sorted(maps.Keys(args)) {
		list = append(list, bootstrapv1.Arg{Name: name, Value: new(args[name])})
	}
	return list
}

func file(path, permissions, content string) bootstrapv1.File {
	return bootstrapv1.File{Path: path, Owner: "root:root", Permissions: permissions, Content: content}
}

// unindented text has an empty comment first where it begins with a space or an
// empty line. Cluster API writes the text into a block of YAML, which takes the
// indentation of its first line, and ends before a line that has less.
func unindented(text string) string {
	if strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\n") {
		return "#\n" + text
	}
	return text
}

// secretFile has the value of a Secret of the cluster's namespace.
func secretFile(path, permissions, secret, key string) bootstrapv1.File {
	return bootstrapv1.File{
		Path: path, Owner: "root:root", Permissions: permissions,
		ContentFrom: bootstrapv1.FileSource{Secret: bootstrapv1.SecretFileSource{Name: secret, Key: key}},
	}
}

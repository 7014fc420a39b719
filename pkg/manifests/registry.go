package manifests

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Places of containerd's files, as node images of kind have them.
const (
	containerdConfig = "/etc/containerd/config.toml"
	containerdHosts  = "/etc/containerd/certs.d"
	// everyRegistry is containerd's name for the registries that have no
	// directory of their own.
	everyRegistry = "_default"

	mirrorConfig   = ownDirectory + "/containerd-registry.toml"
	mirrorCA       = ownDirectory + "/registry-mirror-ca.crt"
	mirrorUsername = ownDirectory + "/registry-username"
	mirrorPassword = ownDirectory + "/registry-password"

	// registryCredentials is the Secret with the keys username and password of
	// the registry mirror.
	registryCredentials = "registry-credentials"

	// httpsPort is the port that a name of an image leaves out.
	httpsPort = 443

	// credentialsPlace is the placeholder in containerd's files for the credentials
	// that the machine puts there.
	credentialsPlace = "@registry-credentials@"
	// useHosts is run on the machine: a table may stand once in containerd's
	// file, which other node images may have with it.
	useHosts = "grep -qs certs.d " + containerdConfig + " || cat " + mirrorConfig + " >> " + containerdConfig
	// fillCredentials is run on the machine: no template and no file of ours
	// has the credentials.
	fillCredentials = `sed -i "s|` + credentialsPlace + `|$(printf '%s:%s' "$(cat ` + mirrorUsername + `)" "$(cat ` + mirrorPassword + `)" | base64 --wrap=0)|" ` + containerdHosts + `/*/hosts.toml`
)

// registryMirror returns the files that make containerd pull from the mirror,
// and the commands to run before it is restarted.
func registryMirror(mirror *v1alpha1.RegistryMirrorConfiguration) ([]bootstrapv1.File, []string) {
	if mirror == nil {
		return nil, nil
	}
	files := []bootstrapv1.File{file(mirrorConfig, "0644", "# Registries are mirrored as "+containerdHosts+" says.\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\n  config_path = "+strconv.Quote(containerdHosts)+"\n")}
	commands := []string{useHosts}
	permissions := "0644"
	if mirror.Authenticate {
		permissions = "0600"
	}
	namespaces := mirror.OCINamespaces
	if len(namespaces) == 0 {
		namespaces = []v1alpha1.OCINamespace{{Registry: everyRegistry}}
	}
	for _, namespace := range slices.Concat(namespaces, ownAddress(mirror)) {
		files = append(files, file(path.Join(containerdHosts, namespace.Registry, "hosts.toml"), permissions, hosts(mirror, namespace.Namespace)))
	}
	if mirror.CACertContent != "" {
		files = append(files, file(mirrorCA, "0644", unindented(string(mirror.CACertContent))))
	}
	if !mirror.Authenticate {
		return files, commands
	}
	return append(files,
		secretFile(mirrorUsername, "0600", registryCredentials, "username"),
		secretFile(mirrorPassword, "0600", registryCredentials, "password"),
	), append(commands, fillCredentials)
}

// ownAddress are the names under which images of the mirror itself are pulled, for
// its certificate and credentials. Where every registry is mirrored it is one of them.
func ownAddress(mirror *v1alpha1.RegistryMirrorConfiguration) []v1alpha1.OCINamespace {
	if len(mirror.OCINamespaces) == 0 {
		return nil
	}
	names := []string{mirrorHost(mirror) + ":" + strconv.Itoa(int(mirror.Port))}
	if mirror.Port == httpsPort {
		names = append(names, mirrorHost(mirror))
	}
	var own []v1alpha1.OCINamespace
	for _, name := range names {
		if !slices.ContainsFunc(mirror.OCINamespaces, func(n v1alpha1.OCINamespace) bool { return n.Registry == name }) {
			own = append(own, v1alpha1.OCINamespace{Registry: name})
		}
	}
	return own
}

// mirrorHost returns the mirror's host as written in a URL.
func mirrorHost(mirror *v1alpha1.RegistryMirrorConfiguration) string {
	if strings.Contains(mirror.Endpoint, ":") { // an IPv6 address
		return "[" + mirror.Endpoint + "]"
	}
	return mirror.Endpoint
}

// hosts is containerd's file about one registry.
func hosts(mirror *v1alpha1.RegistryMirrorConfiguration, namespace string) string {
	url := strconv.Quote(fmt.Sprintf("https://%s:%d%s", mirrorHost(mirror), mirror.Port, path.Join("/v2", namespace)))
	var b strings.Builder
	fmt.Fprintf(&b, "[host.%s]\n  capabilities = [\"pull\", \"resolve\"]\n  override_path = true\n", url)
	if mirror.CACertContent != "" {
		fmt.Fprintf(&b, "  ca = %q\n", mirrorCA)
	}
	if mirror.InsecureSkipVerify {
		b.WriteString("  skip_verify = true\n")
	}
	if mirror.Authenticate {
		// Under this very name, containerd replaces the header where the mirror
		// asks for a token. It would send one in lower case beside the token.
		fmt.Fprintf(&b, "  [host.%s.header]\n    Authorization = %q\n", url, "Basic "+credentialsPlace)
	}
	return b.String()
}

// Places of what makes containerd use the proxy. The environment is a file of
// its own, since the script that fetches kubeadm reads it too.
const (
	proxyEnvironment = ownDirectory + "/proxy.env"
	proxyDropIn      = "/etc/systemd/system/containerd.service.d/http-proxy.conf"
)

// proxyFiles make containerd use the proxy for all but the cluster's own networks.
func proxyFiles(spec v1alpha1.ClusterSpec) []bootstrapv1.File {
	proxy := spec.ProxyConfiguration
	if proxy == nil {
		return nil
	}
	noProxy := append([]string{"localhost", "127.0.0.1", ".svc", spec.ClusterNetwork.Pods.Block(), spec.ClusterNetwork.Services.Block()}, proxy.NoProxy...)
	var environment strings.Builder
	for _, variable := range [][2]string{
		{"HTTP_PROXY", proxyURL(proxy.HTTPProxy)}, {"HTTPS_PROXY", proxyURL(proxy.HTTPSProxy)}, {"NO_PROXY", strings.Join(noProxy, ",")},
	} {
		// Programs do not agree on upper or lower case.
		fmt.Fprintf(&environment, "%s=%q\n%s=%q\n", variable[0], variable[1], strings.ToLower(variable[0]), variable[1])
	}
	return []bootstrapv1.File{
		file(proxyEnvironment, "0644", environment.String()),
		file(proxyDropIn, "0644", "[Service]\nEnvironmentFile="+proxyEnvironment+"\n"),
	}
}

// proxyURL adds the scheme that may be left out.
func proxyURL(proxy string) string {
	if strings.Contains(proxy, "://") {
		return proxy
	}
	return "http://" + proxy
}

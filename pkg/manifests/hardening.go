package manifests

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
)

// Names of arguments that cipher suites are given by.
const (
	tlsCipherSuites  = "tls-cipher-suites"
	etcdCipherSuites = "cipher-suites"
)

// secureCipherSuites are the cipher suites of TLS 1.2 that EKS Anywhere allows.
const secureCipherSuites = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"

// programs are arguments of the programs that kubeadm starts.
type programs struct {
	apiServer, controllerManager, scheduler, etcd, kubelet []bootstrapv1.Arg
	// imagePullPolicy of kubeadm: there must be one.
	imagePullPolicy corev1.PullPolicy
}

// hardened are the arguments that EKS Anywhere gives these programs always.
func hardened() programs {
	server := arguments(map[string]string{"profiling": "false", tlsCipherSuites: secureCipherSuites})
	return programs{
		apiServer: server, controllerManager: server, scheduler: server,
		etcd:            arguments(map[string]string{etcdCipherSuites: secureCipherSuites}),
		imagePullPolicy: corev1.PullIfNotPresent, // kubeadm's default
		kubelet:         arguments(map[string]string{"anonymous-auth": "false", "read-only-port": "0", tlsCipherSuites: secureCipherSuites}),
	}
}

// overriding are arguments with those that are given, which win.
func overriding(defaults, given []bootstrapv1.Arg) []bootstrapv1.Arg {
	kept := slices.DeleteFunc(slices.Clone(defaults), func(d bootstrapv1.Arg) bool {
		return slices.ContainsFunc(given, func(g bootstrapv1.Arg) bool { return g.Name == d.Name })
	})
	return append(kept, given...)
}

// hardeningOf are the arguments of a kubelet that its configuration has otherwise
// than hardened says: an argument would win over the configuration.
func hardeningOf(kubelet map[string]any) map[string]string {
	args := map[string]string{}
	if port, given := kubelet["readOnlyPort"].(int); given {
		args["read-only-port"] = strconv.Itoa(port)
	}
	authentication, _ := kubelet["authentication"].(map[string]any)
	anonymous, _ := authentication["anonymous"].(map[string]any)
	if enabled, given := anonymous["enabled"].(bool); given {
		args["anonymous-auth"] = strconv.FormatBool(enabled)
	}
	if list, given := kubelet["tlsCipherSuites"].([]any); given {
		suites := make([]string, len(list))
		for i, suite := range list {
			suites[i], _ = suite.(string) // validated to be text
		}
		args[tlsCipherSuites] = strings.Join(suites, ",")
	}
	return args
}

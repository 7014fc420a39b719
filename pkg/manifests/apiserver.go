package manifests

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Places of files on control plane machines and in the pods of API servers.
const (
	auditPolicy      = "/etc/kubernetes/audit-policy.yaml"
	auditLogs        = "/var/log/kubernetes/audit"
	encryptionConfig = "/etc/kubernetes/encryption-config.yaml"
	iamOnMachine     = "/var/lib/kubeadm/aws-iam-authenticator"
	iamInPod         = "/etc/kubernetes/aws-iam-authenticator"
)

// apiServer is how the API servers of a version run, and the files that they need.
func (r renderer) apiServer(version v1alpha1.Version) (bootstrapv1.APIServer, []bootstrapv1.File, error) {
	spec := r.Config.Cluster.Spec
	args := maps.Clone(spec.ControlPlaneConfiguration.APIServerExtraArgs)
	if args == nil {
		args = map[string]string{}
	}
	if oidc := r.Config.OIDC; oidc != nil {
		maps.Copy(args, oidcArguments(oidc.Spec))
	}
	if spec.PodIAMConfig != nil {
		args["service-account-issuer"] = spec.PodIAMConfig.ServiceAccountIssuer
	}
	server := bootstrapv1.APIServer{
		CertSANs: slices.Concat(r.Provider.Node(version).CertSANs, spec.ControlPlaneConfiguration.CertSANs),
	}
	var files []bootstrapv1.File
	if policy := spec.ControlPlaneConfiguration.AuditPolicyContent; policy != "" {
		files = append(files, file(auditPolicy, "0600", unindented(string(policy))))
		maps.Copy(args, auditArguments())
		server.ExtraVolumes = append(server.ExtraVolumes,
			fileVolume("audit-policy", auditPolicy),
			bootstrapv1.HostPathMount{Name: "audit-logs", HostPath: auditLogs, MountPath: auditLogs, ReadOnly: new(false), PathType: corev1.HostPathDirectoryOrCreate},
		)
	}
	if len(spec.EtcdEncryption) > 0 {
		config, volumes, err := encryption(spec.EtcdEncryption[0], version)
		if err != nil {
			return server, nil, err
		}
		files = append(files, config)
		args["encryption-provider-config"] = encryptionConfig
		server.ExtraVolumes = append(server.ExtraVolumes, volumes...)
	}
	if r.Config.AWSIam != nil {
		files = append(files, r.iamFiles()...)
		args["authentication-token-webhook-config-file"] = path.Join(iamInPod, "kubeconfig.yaml")
		server.ExtraVolumes = append(server.ExtraVolumes, bootstrapv1.HostPathMount{
			Name: "aws-iam-authenticator", HostPath: iamOnMachine, MountPath: iamInPod, ReadOnly: new(true), PathType: corev1.HostPathDirectoryOrCreate,
		})
	}
	server.ExtraArgs = overriding(r.defaults.apiServer, arguments(args))
	return server, files, nil
}

// oidcArguments returns the API server's arguments for OpenID Connect.
func oidcArguments(spec v1alpha1.OIDCSpec) map[string]string {
	args := map[string]string{
		"oidc-client-id":       spec.ClientID,
		"oidc-issuer-url":      spec.IssuerURL,
		"oidc-username-claim":  spec.UsernameClaim,
		"oidc-username-prefix": spec.UsernamePrefix,
		"oidc-groups-claim":    spec.GroupsClaim,
		"oidc-groups-prefix":   spec.GroupsPrefix,
	}
	if len(spec.RequiredClaims) > 0 {
		args["oidc-required-claim"] = spec.RequiredClaims[0].Claim + "=" + spec.RequiredClaims[0].Value
	}
	maps.DeleteFunc(args, func(_, value string) bool { return value == "" })
	return args
}

// auditArguments keep 30 days, ten files of 512 MB each, as EKS Anywhere does.
func auditArguments() map[string]string {
	return map[string]string{
		"audit-policy-file":   auditPolicy,
		"audit-log-path":      path.Join(auditLogs, "audit.log"),
		"audit-log-maxage":    "30",
		"audit-log-maxbackup": "10",
		"audit-log-maxsize":   "512",
	}
}

func fileVolume(name, path string) bootstrapv1.HostPathMount {
	return bootstrapv1.HostPathMount{Name: name, HostPath: path, MountPath: path, ReadOnly: new(true), PathType: corev1.HostPathFile}
}

// encryption returns the encryption configuration for API servers of a version, and the
// volumes of this file and of the plugin's socket.
func encryption(spec v1alpha1.EtcdEncryption, version v1alpha1.Version) (bootstrapv1.File, []bootstrapv1.HostPathMount, error) {
	kms := spec.Providers[0].KMS
	plugin := map[string]any{"name": kms.Name, "endpoint": kms.SocketListenAddress}
	// Version 2 of the plugins' interface is there for good since 1.29, where
	// version 1 is off by default (KEP-3299). Only version 1 has a cache size.
	if version.Minor().Compare(v1alpha1.Minor{Major: 1, Minor: 29}) >= 0 {
		plugin["apiVersion"] = "v2"
	} else {
		plugin["apiVersion"] = "v1"
		plugin["cachesize"] = 1000
		if kms.CacheSize != nil {
			plugin["cachesize"] = *kms.CacheSize
		}
	}
	plugin["timeout"] = "3s"
	if kms.Timeout.Duration > 0 {
		plugin["timeout"] = kms.Timeout.String()
	}
	content, err := yaml.Marshal(map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1",
		"kind":       "EncryptionConfiguration",
		"resources": []any{map[string]any{
			"resources": spec.Resources,
			// What was written before encryption is read in clear.
			"providers": []any{map[string]any{"kms": plugin}, map[string]any{"identity": map[string]any{}}},
		}},
	})
	if err != nil {
		return bootstrapv1.File{}, nil, fmt.Errorf("writing the encryption configuration: %w", err)
	}
	socket, err := url.Parse(kms.SocketListenAddress)
	if err != nil {
		return bootstrapv1.File{}, nil, fmt.Errorf("reading the address of the KMS plugin: %w", err)
	}
	directory := path.Dir(socket.Path)
	return file(encryptionConfig, "0600", string(content)), []bootstrapv1.HostPathMount{
		fileVolume("encryption-config", encryptionConfig),
		{Name: "kms-plugin", HostPath: directory, MountPath: directory, ReadOnly: new(false), PathType: corev1.HostPathDirectoryOrCreate},
	}, nil
}

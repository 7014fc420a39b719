package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/hack/source"
)

const (
	authenticator          = "aws-iam-authenticator"
	authenticatorVersion   = "v0.6.13"
	authenticatorModule    = "sigs.k8s.io/aws-iam-authenticator@" + authenticatorVersion
	authenticatorExample   = "deploy/example.yaml"
	authenticatorCRD       = "deploy/iamidentitymapping.yaml"
	authenticatorCopyright = "Copyright 2017 by the contributors"

	// authenticatorImage is the build of this version in the release
	// v1-28-eks-11 of EKS Distro (docs/contents/releases/1-28/11/index.md in
	// github.com/aws/eks-distro). The project itself publishes images only in
	// registries that ask for AWS credentials.
	authenticatorImage = "public.ecr.aws/eks-distro/kubernetes-sigs/" + authenticator + ":" +
		authenticatorVersion + "-eks-1-28-11"

	// hostPKI has cert.pem and key.pem on control plane nodes. It is where EKS
	// Anywhere has them.
	hostPKI = "/var/lib/kubeadm/aws-iam-authenticator/pki"

	stateDir     = "/var/aws-iam-authenticator"
	controlPlane = "node-role.kubernetes.io/control-plane"
)

// crdBinding lets the server watch the mappings, which belong to no namespace:
// the RoleBinding of the example does not do that.
const crdBinding = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: aws-iam-authenticator
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: aws-iam-authenticator
subjects:
- kind: ServiceAccount
  name: aws-iam-authenticator
  namespace: kube-system
`

func generateAuthenticator(ctx context.Context) (fileSet, error) {
	dir, err := source.ModuleDir(ctx, authenticatorModule)
	if err != nil {
		return nil, err
	}
	example, exampleErr := os.ReadFile(filepath.Join(dir, filepath.FromSlash(authenticatorExample)))
	crd, crdErr := os.ReadFile(filepath.Join(dir, filepath.FromSlash(authenticatorCRD)))
	if err := errors.Join(exampleErr, crdErr); err != nil {
		return nil, fmt.Errorf("read the manifests: %w", err)
	}
	server, serverErr := convertExample(string(example))
	backend, backendErr := convertCRD(string(crd))
	if err := errors.Join(serverErr, backendErr); err != nil {
		return nil, err
	}
	return fileSet{
		authenticator + ".yaml":     server,
		authenticator + "-crd.yaml": backend,
	}, nil
}

// convertCRD adds to the kind of the backend mode CRD the right to read it.
func convertCRD(manifest string) (string, error) {
	documents, err := splitDocuments(manifest + "\n---\n" + crdBinding)
	if err != nil {
		return "", fmt.Errorf("%s: %w", authenticatorCRD, err)
	}
	comment := header(authenticatorModule+" "+authenticatorCRD, authenticatorCopyright,
		"the ClusterRoleBinding is added. Only the backend mode CRD needs this file.")
	return joinDocuments(comment, documents...), nil
}

// convertExample makes of the example of a deployment one that runs on the
// control plane nodes of today with a key that is already there. Its ConfigMap
// is left out, because the program writes that.
func convertExample(example string) (string, error) {
	documents, err := splitDocuments(example)
	if err != nil {
		return "", fmt.Errorf("%s: %w", authenticatorExample, err)
	}
	var kept []document
	for _, d := range documents {
		switch d.Kind {
		case "ConfigMap":
			continue
		case "DaemonSet":
			if d.Text, err = convertDaemonSet(d.Text); err != nil {
				return "", fmt.Errorf("%s: %s: %w", authenticatorExample, d.id(), err)
			}
		case "ClusterRole", "ServiceAccount", "RoleBinding":
		default:
			return "", fmt.Errorf("%s: %s is not expected", authenticatorExample, d.id())
		}
		kept = append(kept, d)
	}
	comment := header(authenticatorModule+" "+authenticatorExample, authenticatorCopyright,
		"without the ConfigMaps; the DaemonSet runs on control plane nodes with the key in "+hostPKI+".")
	return joinDocuments(comment, kept...), nil
}

func convertDaemonSet(text string) (string, error) {
	var daemonSet appsv1.DaemonSet
	if err := yaml.UnmarshalStrict([]byte(text), &daemonSet); err != nil {
		return "", fmt.Errorf("parse: %w", err)
	}
	if err := changePod(&daemonSet.Spec.Template.Spec); err != nil {
		return "", err
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&daemonSet)
	if err != nil {
		return "", fmt.Errorf("convert: %w", err)
	}
	unstructured.RemoveNestedField(object, "status")
	marshalled, err := yaml.Marshal(object)
	if err != nil {
		return "", fmt.Errorf("marshal: %w", err)
	}
	return string(marshalled), nil
}

func changePod(pod *corev1.PodSpec) error {
	if len(pod.Containers) != 1 || len(pod.InitContainers) != 0 {
		return errors.New("the pod does not have exactly one container")
	}
	if pod.Containers[0].SecurityContext == nil {
		return errors.New("the container has no security context")
	}
	pod.NodeSelector = map[string]string{controlPlane: ""}
	// A spec may give control planes any taints.
	pod.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	changeContainer(&pod.Containers[0])
	return changeVolumes(pod)
}

// changeContainer runs the server as root, without capabilities: the key
// belongs to root and only its owner may read it. Which mappings are asked and
// in which partition stands in the configuration file, not in the arguments;
// the region can be told by the environment only.
func changeContainer(container *corev1.Container) {
	container.Image = authenticatorImage
	container.Args = []string{
		"server",
		"--config=/etc/aws-iam-authenticator/config.yaml",
		"--state-dir=" + stateDir,
		"--kubeconfig-pregenerated=true",
	}
	container.SecurityContext.RunAsUser = new(int64(0))
	container.Env = []corev1.EnvVar{{Name: "AWS_REGION", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: authenticator}, Key: "region",
	}}}}
}

// changeVolumes takes away the directory that the server would write a
// kubeconfig into, and lets it only read its key: if there is none, it must
// fail and not make one that the API server does not know.
func changeVolumes(pod *corev1.PodSpec) error {
	container := &pod.Containers[0]
	container.VolumeMounts = slices.DeleteFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "output" })
	pod.Volumes = slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "output" })

	mount := slices.IndexFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "state" })
	volume := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "state" && v.HostPath != nil })
	if mount < 0 || volume < 0 {
		return errors.New(`the pod has no volume "state" of the host`)
	}
	container.VolumeMounts[mount].MountPath = stateDir
	container.VolumeMounts[mount].ReadOnly = true
	pod.Volumes[volume].HostPath = &corev1.HostPathVolumeSource{Path: hostPKI, Type: new(corev1.HostPathDirectory)}
	return nil
}

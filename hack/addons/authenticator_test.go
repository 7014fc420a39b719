package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// smallExample has every document of the example once, and in its DaemonSet
// everything that is changed.
const smallExample = `# This is an example of how to deploy AWS IAM Authenticator.
---
kind: ClusterRole
metadata:
  name: aws-iam-authenticator
---
# kind: ConfigMap
---
kind: ConfigMap
metadata:
  name: aws-iam-authenticator
---
kind: DaemonSet
metadata:
  name: aws-iam-authenticator
spec:
  template:
    spec:
      nodeSelector:
        node-role.kubernetes.io/master: ""
      tolerations:
      - effect: NoSchedule
        key: node-role.kubernetes.io/master
      containers:
      - name: aws-iam-authenticator
        image: example:v0.5.3
        args:
        - server
        securityContext:
          allowPrivilegeEscalation: false
        volumeMounts:
        - name: config
          mountPath: /etc/aws-iam-authenticator/
        - name: state
          mountPath: /var/aws-iam-authenticator/
        - name: output
          mountPath: /etc/kubernetes/aws-iam-authenticator/
      volumes:
      - name: config
        configMap:
          name: aws-iam-authenticator
      - name: output
        hostPath:
          path: /etc/kubernetes/aws-iam-authenticator/
      - name: state
        hostPath:
          path: /var/aws-iam-authenticator/
`

const smallConverted = `---
kind: ClusterRole
metadata:
  name: aws-iam-authenticator
---
kind: DaemonSet
metadata:
  name: aws-iam-authenticator
spec:
  selector: null
  template:
    metadata: {}
    spec:
      containers:
      - args:
        - server
        - --config=/etc/aws-iam-authenticator/config.yaml
        - --state-dir=/var/aws-iam-authenticator
        - --kubeconfig-pregenerated=true
        env:
        - name: AWS_REGION
          valueFrom:
            configMapKeyRef:
              key: region
              name: aws-iam-authenticator
        image: public.ecr.aws/eks-distro/kubernetes-sigs/aws-iam-authenticator:v0.6.13-eks-1-28-11
        name: aws-iam-authenticator
        resources: {}
        securityContext:
          allowPrivilegeEscalation: false
          runAsUser: 0
        volumeMounts:
        - mountPath: /etc/aws-iam-authenticator/
          name: config
        - mountPath: /var/aws-iam-authenticator
          name: state
          readOnly: true
      nodeSelector:
        node-role.kubernetes.io/control-plane: ""
      tolerations:
      - operator: Exists
      volumes:
      - configMap:
          name: aws-iam-authenticator
        name: config
      - hostPath:
          path: /var/lib/kubeadm/aws-iam-authenticator/pki
          type: Directory
        name: state
  updateStrategy: {}
`

func TestConvertExample(t *testing.T) {
	t.Parallel()
	got, err := convertExample(smallExample)
	if err != nil {
		t.Fatal(err)
	}
	want := header("sigs.k8s.io/aws-iam-authenticator@v0.6.13 deploy/example.yaml", "Copyright 2017 by the contributors",
		"without the ConfigMaps; the DaemonSet runs on control plane nodes with the key in /var/lib/kubeadm/aws-iam-authenticator/pki.") + smallConverted
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}

func TestConvertExampleRefuses(t *testing.T) {
	t.Parallel()
	const daemonSet = "deploy/example.yaml: DaemonSet/aws-iam-authenticator: "
	tests := map[string]struct{ old, new, want string }{
		"another kind": {"kind: ClusterRole", "kind: Role", "deploy/example.yaml: Role/aws-iam-authenticator is not expected"},
		"another container": {
			"      - name: aws-iam-authenticator\n", "      - name: sidecar\n      - name: aws-iam-authenticator\n",
			daemonSet + "the pod does not have exactly one container",
		},
		"an init container": {
			"      containers:\n", "      initContainers:\n      - name: init\n      containers:\n",
			daemonSet + "the pod does not have exactly one container",
		},
		"no mount":          {"        - name: state\n", "        - name: data\n", daemonSet + `the pod has no volume "state" of the host`},
		"no volume":         {"      - name: state\n        hostPath:", "      - name: data\n        hostPath:", daemonSet + `the pod has no volume "state" of the host`},
		"no security":       {"        securityContext:\n          allowPrivilegeEscalation: false\n", "", daemonSet + "the container has no security context"},
		"a field not known": {"args:", "arguments:", daemonSet + `parse: error unmarshaling JSON: while decoding JSON: json: unknown field "arguments"`},
		"no name":           {"metadata:\n  name: aws-iam-authenticator\n", "", `deploy/example.yaml: document "kind: ClusterRole" has no kind or no name`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			example := strings.Replace(smallExample, test.old, test.new, 1)
			if example == smallExample {
				t.Fatalf("%q is not in the example", test.old)
			}
			_, err := convertExample(example)
			wantError(t, err, test.want)
		})
	}
}

func TestConvertCRD(t *testing.T) {
	t.Parallel()
	const crd = "kind: CustomResourceDefinition\nmetadata: {name: a}\n"
	got, err := convertCRD("---\n" + strings.TrimSuffix(crd, "\n")) // The module's file does not end its last line.
	if err != nil {
		t.Fatal(err)
	}
	want := header("sigs.k8s.io/aws-iam-authenticator@v0.6.13 deploy/iamidentitymapping.yaml", "Copyright 2017 by the contributors",
		"the ClusterRoleBinding is added. Only the backend mode CRD needs this file.") + "---\n" + crd + "---\n" + crdBinding
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}

package manifests

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// TestIAMConfigMap compares the ConfigMap, and the configuration within it.
func TestIAMConfigMap(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		cluster string
		spec    v1alpha1.AWSIamSpec
		region  string
		want    string
	}{
		"everything": {
			"prod",
			v1alpha1.AWSIamSpec{
				AWSRegion: "cn-north-1", Partition: "aws-cn", BackendMode: []string{"MountedFile", "CRD"},
				MapRoles: []v1alpha1.AWSIamRole{{RoleARN: "arn:aws-cn:iam::123456789012:role/admins", Username: "admin:{{SessionName}}", Groups: []string{"system:masters", "a"}}},
				MapUsers: []v1alpha1.AWSIamUser{{UserARN: "arn:aws-cn:iam::123456789012:user/jane", Username: "jane"}, {UserARN: "x", Username: "1", Groups: []string{"b"}}},
			},
			"cn-north-1",
			`clusterID: prod
server:
  backendMode:
  - MountedFile
  - CRD
  mapRoles:
  - groups:
    - system:masters
    - a
    roleARN: arn:aws-cn:iam::123456789012:role/admins
    username: admin:{{SessionName}}
  mapUsers:
  - userARN: arn:aws-cn:iam::123456789012:user/jane
    username: jane
  - groups:
    - b
    userARN: x
    username: "1"
  partition: aws-cn
`,
		},
		"the least": {
			"true", v1alpha1.AWSIamSpec{AWSRegion: "eu-central-1", BackendMode: []string{"EKSConfigMap"}}, "eu-central-1",
			"clusterID: \"true\"\nserver:\n  backendMode:\n  - EKSConfigMap\n  partition: aws\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := iamConfigMap(test.cluster, test.spec)
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := yaml.UnmarshalStrict([]byte(text), &got); err != nil {
				t.Fatal(err)
			}
			want := map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "aws-iam-authenticator", "namespace": "kube-system"},
				"data": map[string]any{"config.yaml": test.want, "region": test.region},
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("ConfigMap (-want +got):\n%s", diff)
			}
		})
	}
}

package manifests

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		"mappings that are read elsewhere": {
			"prod",
			v1alpha1.AWSIamSpec{
				AWSRegion: "eu-central-1", BackendMode: []string{"EKSConfigMap"},
				MapRoles: []v1alpha1.AWSIamRole{{RoleARN: "a", Username: "b"}}, MapUsers: []v1alpha1.AWSIamUser{{UserARN: "c", Username: "d"}},
			},
			"eu-central-1", "clusterID: prod\nserver:\n  backendMode:\n  - EKSConfigMap\n  partition: aws\n",
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

// TestIAMManifests compares what is applied to the cluster in each backend mode
// with whole files. EKS Anywhere writes aws-auth whichever of EKSConfigMap and CRD
// it is told (its pkg/awsiamauth), and refuses MountedFile.
func TestIAMManifests(t *testing.T) {
	t.Parallel()
	mapped := v1alpha1.AWSIamSpec{
		AWSRegion: "test-region", Partition: "test",
		MapRoles: []v1alpha1.AWSIamRole{{RoleARN: "test-role-arn", Username: "test", Groups: []string{"group1", "group2"}}, {RoleARN: "without-groups", Username: "1"}},
		MapUsers: []v1alpha1.AWSIamUser{{UserARN: "test-user-arn", Username: "test", Groups: []string{"group1", "group2"}}},
	}
	roles, without := mapped, v1alpha1.AWSIamSpec{AWSRegion: "test-region"}
	roles.MapUsers = nil
	tests := map[string]struct {
		spec  v1alpha1.AWSIamSpec
		modes []string
	}{
		"eksconfigmap":                  {mapped, []string{"EKSConfigMap"}},
		"eksconfigmap-roles":            {roles, []string{"EKSConfigMap"}},
		"eksconfigmap-without-mappings": {without, []string{"EKSConfigMap"}},
		"crd":                           {mapped, []string{"CRD"}},
		"crd-without-mappings":          {without, []string{"CRD"}},
		"mountedfile":                   {mapped, []string{"MountedFile"}},
		"eksconfigmap-crd":              {mapped, []string{"EKSConfigMap", "CRD"}},
		"mountedfile-eksconfigmap":      {mapped, []string{"MountedFile", "EKSConfigMap"}},
		"all":                           {mapped, []string{"MountedFile", "EKSConfigMap", "CRD"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := test.spec
			spec.BackendMode = test.modes
			files, err := iamManifests("prod", spec)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, file := range slices.Sorted(maps.Keys(files)) {
				text := files[file]
				if committed, err := addOnFile(file); err == nil && committed == text {
					text = "# config/addons/" + file + "\n" // as it is
				}
				got.WriteString("# " + file + "\n" + text + "---\n")
			}
			path := filepath.Join("testdata", "aws-iam-authenticator", name+".yaml")
			if *update {
				if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := gocmp.Diff(string(readFile(t, path)), got.String()); diff != "" {
				t.Errorf("manifests (-want +got; -update writes them anew):\n%s", diff)
			}
		})
	}
}

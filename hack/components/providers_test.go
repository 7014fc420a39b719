package main

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// configuration is that of a provider, as far as components change it.
func configuration() fstest.MapFS {
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: controller-manager\n  namespace: system\n"
	const container = deployment + "spec:\n  template:\n    spec:\n      containers:\n      - name: manager\n        "
	return fstest.MapFS{
		"default/kustomization.yaml":       {Data: []byte("namespace: a-system\nnamePrefix: a-\nresources:\n- ../manager\npatches:\n- path: manager_image_patch.yaml\n- path: manager_pull_policy.yaml\n")},
		"default/manager_image_patch.yaml": {Data: []byte(container + "image: staging/a:main\n")},
		"default/manager_pull_policy.yaml": {Data: []byte(container + "imagePullPolicy: Always\n")},
		"manager/kustomization.yaml":       {Data: []byte("resources:\n- manager.yaml\n")},
		"manager/manager.yaml":             {Data: []byte(container + "image: controller:latest\n        args:\n        - --a=${A:=b}\n")},
	}
}

// TestComponents makes the objects with the image of the release, and no pull of what is there.
func TestComponents(t *testing.T) {
	t.Parallel()
	got, err := provider{image: "registry/a"}.components(configuration(), "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	const want = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: a-controller-manager
  namespace: a-system
spec:
  template:
    spec:
      containers:
      - args:
        - --a=${A:=b}
        image: registry/a:v1.2.3
        imagePullPolicy: IfNotPresent
        name: manager
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
}

// TestUnexpectedConfiguration refuses patches of another form than the one that is changed.
func TestUnexpectedConfiguration(t *testing.T) {
	t.Parallel()
	for found, content := range map[string]string{"0": "kind: Deployment\n", "2": "image: a\nimage: b\n"} {
		t.Run(found, func(t *testing.T) {
			t.Parallel()
			config := configuration()
			config["default/manager_image_patch.yaml"] = &fstest.MapFile{Data: []byte(content)}
			_, err := provider{image: "registry/a"}.components(config, "v1.2.3")
			want := `default/manager_image_patch.yaml has "image: .*" ` + found + ` times, and not once`
			if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

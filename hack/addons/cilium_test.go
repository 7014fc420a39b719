package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	smallConfig = "# Source: cilium-configmap.yaml\nkind: ConfigMap\nmetadata:\n  name: cilium-config\ndata:\n  enable-ipv4: \"true\"\n"
	smallOther  = "kind: ConfigMap\nmetadata:\n  name: other\n"
	smallAgent  = "kind: DaemonSet\nmetadata:\n  name: cilium\nimages:\n- image: quay.io/cilium/cilium:v1.20.2\n- name: a\n  image: \"quay.io/cilium/cilium:v1.20.2@sha256:00\"\n"
)

func TestSplitCilium(t *testing.T) {
	t.Parallel()
	config, rest, err := splitCilium(smallOther + "---\n" + smallConfig + "\n---\n" + smallAgent)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(document{Kind: "ConfigMap", Name: "cilium-config", Text: smallConfig}, config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	want := []document{{Kind: "ConfigMap", Name: "other", Text: smallOther}, {Kind: "DaemonSet", Name: "cilium", Text: smallAgent}}
	if diff := cmp.Diff(want, rest); diff != "" {
		t.Errorf("rest (-want +got):\n%s", diff)
	}
}

func TestSplitCiliumRefuses(t *testing.T) {
	t.Parallel()
	agent := func(image string) string {
		return "kind: DaemonSet\nmetadata: {name: cilium}\nimage: " + image + "\n---\n" + smallConfig
	}
	tests := map[string]struct{ rendered, want string }{
		"a Secret": {
			agent("quay.io/cilium/cilium:v1.20.2") + "---\nkind: Secret\nmetadata: {name: cilium-ca}\n",
			"Secret/cilium-ca: keys must not be the same in all clusters",
		},
		"no config":        {smallAgent, "the chart has no ConfigMap cilium-config"},
		"no image":         {smallConfig, "the chart has no image"},
		"image of a build": {agent(`"quay.io/cilium/cilium-ci:latest"`), `image "quay.io/cilium/cilium-ci:latest" is not one of the release v1.20.2`},
		"image of another release": {
			agent("quay.io/cilium/cilium:v1.20.20@sha256:00"),
			`image "quay.io/cilium/cilium:v1.20.20@sha256:00" is not one of the release v1.20.2`,
		},
		"image of a branch": {agent("quay.io/cilium/cilium:ci-v1.20.2"), `image "quay.io/cilium/cilium:ci-v1.20.2" is not one of the release v1.20.2`},
		"image of others":   {agent("docker.io/cilium/cilium:v1.20.2"), `image "docker.io/cilium/cilium:v1.20.2" is not one of the release v1.20.2`},
		"no kind":           {"image: quay.io/cilium/cilium:v1.20.2", `document "image: quay.io/cilium/cilium:v1.20.2" has no kind or no name`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := splitCilium(test.rendered)
			wantError(t, err, test.want)
		})
	}
}

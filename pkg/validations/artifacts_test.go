package validations_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// artifactBundles have an image of docker for the versions of the first list, and a
// download of kubeadm for those of the second.
func artifactBundles(images, downloads []string) *versionsbundle.Bundles {
	has := map[string]versionsbundle.Release{}
	for _, text := range []string{"v1.32.1", "v1.33.1", "v1.33.2", "v1.34.1"} {
		has[text] = versionsbundle.Release{Version: version(text)}
	}
	for _, text := range images {
		r := has[text]
		r.NodeImages = map[string]string{"docker": "kindest/node:" + text}
		has[text] = r
	}
	for _, text := range downloads {
		r := has[text]
		r.Kubeadm = map[string]versionsbundle.Download{"amd64": {URL: "https://dl.k8s.io/" + text, SHA256: "known"}}
		has[text] = r
	}
	b := &versionsbundle.Bundles{}
	for _, r := range has {
		b.Spec.VersionsBundles = append(b.Spec.VersionsBundles, versionsbundle.VersionsBundle{KubeVersion: r.Version.Minor(), Releases: []versionsbundle.Release{r}})
	}
	return b
}

// from is a plan that begins at versions and has steps.
func from(versions v1alpha1.ClusterVersions, steps ...plan.Step) plan.Plan {
	return plan.Plan{From: versions, Steps: steps}
}

func controlPlaneTo(old, with string) plan.Step {
	return plan.Step{Kind: plan.ControlPlane, From: version(old), To: version(with)}
}

// groupTo is a step of one group; a version that is empty is none.
func groupTo(kind plan.Kind, name, old, with string) plan.Step {
	group := plan.Group{Name: name}
	if old != "" {
		group.From = version(old)
	}
	if with != "" {
		group.To = version(with)
	}
	return plan.Step{Kind: kind, WorkerNodeGroups: []plan.Group{group}}
}

// TestMissingArtifacts: what machines lack that a plan makes.
func TestMissingArtifacts(t *testing.T) {
	t.Parallel()
	all := []string{"v1.32.1", "v1.33.1", "v1.33.2", "v1.34.1"}
	noImage := func(text string) plan.Finding {
		return plan.Finding{Check: "node-image", Reason: "the versions bundle of " + text + " has no node image for provider docker, which would take kindest/node:" + text + ", and that may not exist; add it with --bundles, or ask for a version that has one"}
	}
	noKubeadm := func(group, text, controlPlane, downloads string) plan.Finding {
		return plan.Finding{Check: "new-machines", Reason: "new machines of group " + group + " at " + text + " need kubeadm " + controlPlane + " to join, and the versions bundle has no download of it; add it with --bundles, or ask for control planes with a download: " + downloads}
	}
	atRest := clusterVersions("v1.32.1", "a v1.32.1", "b v1.32.1")
	upgrade := from(atRest, controlPlaneTo("v1.32.1", "v1.33.2"), controlPlaneTo("v1.33.2", "v1.34.1"), groupTo(plan.Workers, "a", "v1.32.1", "v1.34.1"))
	behind := from(clusterVersions("v1.34.1", "a v1.32.1"), groupTo(plan.Workers, "a", "v1.32.1", "v1.33.2"))
	added := func(count int) plan.Step {
		return plan.Step{Kind: plan.InPlace, WorkerNodeGroups: []plan.Group{{Name: "a", MachinesAdded: count}}}
	}
	tests := map[string]struct {
		text    string
		plan    plan.Plan
		bundles *versionsbundle.Bundles
		want    []plan.Finding
	}{
		"machines that need nothing":           {file, upgrade, artifactBundles(nil, nil), nil},
		"nothing to do":                        {onDocker(file), from(atRest), artifactBundles(nil, nil), nil},
		"every image is there":                 {onDocker(file), upgrade, artifactBundles([]string{"v1.33.2", "v1.34.1"}, nil), nil},
		"an image on the way is missing":       {onDocker(file), upgrade, artifactBundles([]string{"v1.34.1"}, nil), []plan.Finding{noImage("v1.33.2")}},
		"each missing image once, sorted":      {onDocker(file), from(atRest, controlPlaneTo("v1.32.1", "v1.34.1"), groupTo(plan.Workers, "a", "v1.32.1", "v1.34.1"), groupTo(plan.Workers, "b", "v1.32.1", "v1.34.1"), groupTo(plan.CreateWorkers, "c", "", "v1.33.1")), artifactBundles(nil, all), []plan.Finding{noImage("v1.33.1"), noImage("v1.34.1")}},
		"a version without a bundle":           {onDocker(file), from(atRest, controlPlaneTo("v1.32.1", "v1.32.9")), artifactBundles(nil, nil), nil},
		"a group that stays needs no image":    {onDocker(file), from(atRest, groupTo(plan.Template, "a", "v1.32.1", "v1.32.1")), artifactBundles(nil, nil), nil},
		"the control plane stays, needs none":  {onDocker(file), from(atRest, plan.Step{Kind: plan.Template, From: version("v1.32.1"), To: version("v1.32.1")}), artifactBundles(nil, nil), nil},
		"a group that goes needs nothing":      {onDocker(file), from(atRest, groupTo(plan.RemoveWorkers, "a", "v1.32.1", "")), artifactBundles(nil, nil), nil},
		"a group at the control plane's minor": {onDocker(file), from(clusterVersions("v1.33.2", "a v1.32.1"), groupTo(plan.Workers, "a", "v1.32.1", "v1.33.1")), artifactBundles(all, nil), nil},
		"a group behind, with the download":    {onDocker(file), behind, artifactBundles(all, []string{"v1.34.1"}), nil},
		"a group behind, with another one":     {onDocker(file), behind, artifactBundles(all, []string{"v1.33.1", "v1.33.2"}), []plan.Finding{noKubeadm("a", "v1.33.2", "v1.34.1", "v1.33.1, v1.33.2")}},
		"a group behind, and no download":      {onDocker(file), behind, artifactBundles(all, nil), []plan.Finding{noKubeadm("a", "v1.33.2", "v1.34.1", "none")}},
		"a control plane without a bundle":     {onDocker(file), from(clusterVersions("v1.34.99", "a v1.32.1"), groupTo(plan.Workers, "a", "v1.32.1", "v1.33.2")), artifactBundles(all, []string{"v1.34.1"}), []plan.Finding{noKubeadm("a", "v1.33.2", "v1.34.99", "v1.34.1")}},
		"simulated machines fetch nothing":     {file, behind, artifactBundles(all, nil), nil},
		"a new group behind": {onDocker(file), from(clusterVersions("v1.34.1"), groupTo(plan.CreateWorkers, "a", "", "v1.33.2")), artifactBundles(all, nil), []plan.Finding{
			noKubeadm("a", "v1.33.2", "v1.34.1", "none"),
		}},
		"a group behind that stays": {onDocker(file), from(clusterVersions("v1.34.1", "a v1.33.2"), groupTo(plan.Template, "a", "v1.33.2", "v1.33.2")), artifactBundles(all, nil), []plan.Finding{
			noKubeadm("a", "v1.33.2", "v1.34.1", "none"),
		}},
		"a group behind that grows":           {onDocker(file), from(clusterVersions("v1.34.1", "a v1.33.2"), added(2)), artifactBundles(all, nil), []plan.Finding{noKubeadm("a", "v1.33.2", "v1.34.1", "none")}},
		"a group behind that does not grow":   {onDocker(file), from(clusterVersions("v1.34.1", "a v1.33.2"), added(0)), artifactBundles(all, nil), nil},
		"a group behind that grows and stays": {onDocker(file), from(clusterVersions("v1.34.1", "a v1.33.2"), added(1), groupTo(plan.Template, "a", "v1.33.2", "v1.33.2")), artifactBundles(all, nil), []plan.Finding{noKubeadm("a", "v1.33.2", "v1.34.1", "none")}},
		// The control plane of the moment counts, not the last one.
		"a group behind on the way": {onDocker(file), from(atRest, controlPlaneTo("v1.32.1", "v1.33.2"), groupTo(plan.CreateWorkers, "c", "", "v1.32.1"), controlPlaneTo("v1.33.2", "v1.34.1"), groupTo(plan.Workers, "a", "v1.32.1", "v1.33.1")), artifactBundles(all, []string{"v1.34.1"}), []plan.Finding{
			noKubeadm("c", "v1.32.1", "v1.33.2", "v1.34.1"),
		}},
		"machines that cannot join before images": {onDocker(file), from(clusterVersions("v1.34.1", "a v1.32.1"), groupTo(plan.Workers, "a", "v1.32.1", "v1.33.2"), groupTo(plan.CreateWorkers, "b", "", "v1.33.1")), artifactBundles(nil, nil), []plan.Finding{
			noKubeadm("a", "v1.33.2", "v1.34.1", "none"), noKubeadm("b", "v1.33.1", "v1.34.1", "none"), noImage("v1.33.1"), noImage("v1.33.2"),
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, validations.MissingArtifacts(ofBuiltIn(decode(t, test.text)), test.plan, test.bundles)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// ofBuiltIn is a spec with its provider.
func ofBuiltIn(config *v1alpha1.Config) validations.Resolved {
	return validations.Resolved{Config: config, Provider: devProviders().Of(config.Cluster)}
}

// TestNeeds: what the machines of a cluster need decides which releases its
// minors stand for.
func TestNeeds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want versionsbundle.Needs
	}{
		"simulated machines":               {file + groups("{name: a, kubernetesVersion: 1.33}"), versionsbundle.Needs{}},
		"docker":                           {onDocker(file) + groups("{name: a}"), versionsbundle.Needs{NodeImage: "docker"}},
		"docker, a group at its own minor": {onDocker(file) + groups("{name: a}", "{name: b, kubernetesVersion: 1.33}"), versionsbundle.Needs{NodeImage: "docker", Kubeadm: true}},
		"docker, a group pinned to the control plane's minor": {onDocker(file) + groups("{name: a, kubernetesVersion: 1.34.1}"), versionsbundle.Needs{NodeImage: "docker"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, validations.Needs(decode(t, test.text), devProviders().Of(decode(t, test.text).Cluster))); diff != "" {
				t.Errorf("needs (-want +got):\n%s", diff)
			}
		})
	}
}

package input

import (
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// ImagesKind is the kind of a file with what machines are made from, by version.
const ImagesKind = "MachineImages"

// Versions are the flags of an upgrade without a file.
type Versions struct {
	// KubernetesVersion is that of --kubernetes-version.
	KubernetesVersion string
	// Groups are those of --worker-node-group, each GROUP=VERSION.
	Groups []string
	// Images is the file of --images; "-" is standard input.
	Images string
}

// Given reports whether one of the flags is there.
func (v Versions) Given() bool {
	return v.KubernetesVersion != "" || len(v.Groups) > 0 || v.Images != ""
}

// ReadVersionChange reads what the flags of an upgrade without a file ask for.
func (r *Reader) ReadVersionChange(flags Versions) (lifecycle.VersionChange, error) {
	change := lifecycle.VersionChange{WorkerNodeGroups: map[string]v1alpha1.KubernetesVersion{}}
	if flags.KubernetesVersion == "" {
		return change, usage.Errorf("%s VERSION is required without -f FILE: the version of the control plane and of all worker node groups without %s", lifecycle.VersionFlag, lifecycle.GroupVersionFlag)
	}
	var err error
	if change.KubernetesVersion, err = v1alpha1.ParseKubernetesVersion(flags.KubernetesVersion); err != nil {
		return change, usage.Errorf("%s: %q is no version of Kubernetes: %w", lifecycle.VersionFlag, flags.KubernetesVersion, err)
	}
	for _, flag := range flags.Groups {
		name, version, found := strings.Cut(flag, "=")
		if _, twice := change.WorkerNodeGroups[name]; !found || name == "" || twice {
			return change, usage.Errorf("%s %q: write GROUP=VERSION, each group once", lifecycle.GroupVersionFlag, flag)
		}
		if change.WorkerNodeGroups[name], err = v1alpha1.ParseKubernetesVersion(version); err != nil {
			return change, usage.Errorf("%s %s: %q is no version of Kubernetes: %w", lifecycle.GroupVersionFlag, name, version, err)
		}
	}
	if flags.Images == "" {
		return change, nil
	}
	change.Images, err = r.readImages(flags.Images)
	return change, err
}

func (r *Reader) readImages(file string) ([]plan.VersionImage, error) {
	data, err := r.ReadFile("the images", "--images names the file with what machines are made from, and - is standard input", file)
	if err != nil {
		return nil, err
	}
	var images struct {
		APIVersion string              `json:"apiVersion"`
		Kind       string              `json:"kind"`
		Images     []plan.VersionImage `json:"images"`
	}
	_, err = strictyaml.Decode(FileName(file), data, ImagesKind, v1alpha1.APIVersion, &images)
	return images.Images, err
}

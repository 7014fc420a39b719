package manifests

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// unknownChecksum stands in the list for one that machines ask the publisher for.
const unknownChecksum = "-"

func (r renderer) kubeadmDownloadsName() string { return r.cluster() + "-kubeadm-downloads" }

// kubeadmDownloads lists where nodes get kubeadm from. It is an object of its
// own, which may change without any machine being replaced.
func (r renderer) kubeadmDownloads() (templater.Object, error) {
	var lines strings.Builder
	for _, release := range r.Downloads {
		for _, arch := range slices.Sorted(maps.Keys(release.Kubeadm)) {
			download := release.Kubeadm[arch]
			fmt.Fprintf(&lines, "%s %s %s %s\n", release.Version, arch, cmp.Or(download.SHA256, unknownChecksum), download.URL)
		}
	}
	return r.render("kubeadm-downloads.yaml.tmpl", struct {
		owner
		Downloads string
	}{r.owner(r.kubeadmDownloadsName()), lines.String()})
}

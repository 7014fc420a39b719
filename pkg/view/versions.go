package view

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Versions writes the versions of Kubernetes: a row for each minor, or for each version
// with all columns.
func Versions(w io.Writer, minors []versionsbundle.Minor, columns Columns) error {
	providers := map[string]bool{}
	for _, minor := range minors {
		for provider := range minor.Default {
			providers[provider] = true
		}
	}
	names := slices.Sorted(maps.Keys(providers))
	row := func(cells ...string) string { return strings.Join(cells, "\t") + "\n" }
	headers := []string{"MINOR", "NEWEST"}
	if columns == AllColumns {
		headers = []string{"MINOR", "VERSION"}
	}
	for _, name := range names {
		headers = append(headers, strings.ToUpper(name))
	}
	rows := row(append(headers, "OUT OF SUPPORT SINCE")...)
	for _, minor := range minors {
		ended := cmp.Or(minor.EndOfSupport, none)
		if columns != AllColumns {
			cells := []string{minor.Minor.String(), minor.Newest.String()}
			for _, name := range names {
				cells = append(cells, minor.Default[name].String())
			}
			rows += row(append(cells, ended)...)
			continue
		}
		for _, available := range minor.Versions {
			cells := []string{minor.Minor.String(), available.Version.String()}
			for _, name := range names {
				cells = append(cells, availability(minor, available, name))
			}
			rows += row(append(cells, ended)...)
		}
	}
	return align(w, rows, columnSpacing)
}

// availability says for which clusters the minor stands for a version, and what the version
// lacks.
func availability(minor versionsbundle.Minor, available versionsbundle.Available, provider string) string {
	text := "available"
	switch available.Version {
	case minor.Default[provider]:
		text = "default"
	case minor.WithOlderGroups[provider]:
		text = "default with older groups"
	}
	for _, lack := range available.Lacks[provider] {
		text += ", no " + map[versionsbundle.Lack]string{versionsbundle.LacksNodeImage: "node image", versionsbundle.LacksKubeadm: "kubeadm"}[lack]
	}
	return text
}

package templates_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
)

// isAdded reports whether a field is one that a spec may add: labels of clusterctl-x and of Cluster
// API, and the default number of concurrent upgrades in a topology.
func isAdded(path, value string) bool {
	_, name, _ := strings.Cut(path, "metadata.")
	switch name {
	case "labels.clusterctl-x.io/cluster", "labels.clusterctl-x.io/worker-node-group", "labels.cluster.x-k8s.io/cluster-name":
		return true
	case "annotations.topology.cluster.x-k8s.io/upgrade-concurrency":
		return value == "1"
	}
	return strings.HasPrefix(path, "spec.selector.matchLabels.clusterctl-x.io/")
}

// content returns the fields of objects, by Kind name and path, with the defaults that Cluster
// API's webhooks add.
func content(t *testing.T, objects []*unstructured.Unstructured) map[string]map[string]string {
	t.Helper()
	parts, err := topology.Parts{"": objects}.WithDefaults(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	for _, object := range parts[""] {
		fields := map[string]string{}
		for _, name := range []string{"apiVersion", "metadata", "spec"} {
			addLeaves(fields, name, object.Object[name])
		}
		all[object.GetKind()+" "+object.GetName()] = fields
	}
	return all
}

// addLeaves adds the values at the ends of all paths. The items of a topology are called by their names.
func addLeaves(into map[string]string, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, of := range value {
			addLeaves(into, path+"."+name, of)
		}
	case []any:
		for i, of := range value {
			key := fmt.Sprint(i)
			if item, is := of.(map[string]any); is && strings.HasPrefix(path, "spec.topology.") && item["name"] != nil {
				key = fmt.Sprint(item["name"])
			}
			addLeaves(into, path+"["+key+"]", of)
		}
	default:
		if value != nil && value != "" {
			into[path] = fmt.Sprint(value)
		}
	}
}

// differences are those between given and rendered objects that no note names.
func differences(given, rendered map[string]map[string]string, notes []string) []string {
	var lines []string
	for _, name := range union(given, rendered) {
		was, is := given[name], rendered[name]
		if is == nil && slices.ContainsFunc(notes, func(note string) bool {
			return strings.HasPrefix(note, name+" is left out: ") || strings.HasPrefix(note, "all of "+name+": ")
		}) {
			continue
		}
		for _, path := range union(was, is) {
			if was[path] == is[path] || was[path] == "" && isAdded(path, is[path]) || is[path] == "" && isNoted(name, path, notes) {
				continue
			}
			lines = append(lines, fmt.Sprintf("%s %s: %q -> %q", name, path, was[path], is[path]))
		}
	}
	return lines
}

// ofLabel is the place that a note about a label in a topology names.
var ofLabel = regexp.MustCompile(`^(?:label )?(\S+) in (\S*metadata)$`)

// isNoted reports whether a note says that a field of an object is left out.
func isNoted(name, path string, notes []string) bool {
	return slices.ContainsFunc(notes, func(note string) bool {
		what, _, is := strings.Cut(note, " of "+name+": ")
		if match := ofLabel.FindStringSubmatch(what); match != nil {
			return is && (path == match[2]+".labels."+match[1] || path == match[2]+".annotations."+match[1])
		}
		return is && (path == what || strings.HasPrefix(path, what+".") || strings.HasPrefix(path, what+"["))
	})
}

func union[V any](a, b map[string]V) []string {
	return slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, names := range []map[string]V{a, b} {
			for name := range maps.Keys(names) {
				if !yield(name) {
					return
				}
			}
		}
	}))
}

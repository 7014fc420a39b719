package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/types"
)

// HoldPoint is a place in an upgrade where it can be held up.
type HoldPoint string

// Places where an upgrade can be held up, each with Cluster API's hook.
const (
	BeforeUpgrade      HoldPoint = "before-upgrade"       // BeforeClusterUpgrade
	BeforeControlPlane HoldPoint = "before-control-plane" // BeforeControlPlaneUpgrade, once for each version
	AfterControlPlane  HoldPoint = "after-control-plane"  // AfterControlPlaneUpgrade, once for each version
	BeforeWorkers      HoldPoint = "before-workers"       // BeforeWorkersUpgrade, once for each version
	AfterWorkers       HoldPoint = "after-workers"        // AfterWorkersUpgrade, once for each version
	AfterUpgrade       HoldPoint = "after-upgrade"        // AfterClusterUpgrade
)

// HoldPoints are all places, in the order of an upgrade.
func HoldPoints() []HoldPoint {
	return []HoldPoint{BeforeUpgrade, BeforeControlPlane, AfterControlPlane, BeforeWorkers, AfterWorkers, AfterUpgrade}
}

// HoldPlaces are the places that there are to hold "before", or "after".
func HoldPlaces(when string) []string {
	var places []string
	for _, point := range HoldPoints() {
		if place, is := strings.CutPrefix(string(point), when+"-"); is {
			places = append(places, place)
		}
	}
	return places
}

// String is the place in words: "before workers".
func (p HoldPoint) String() string {
	when, what, _ := strings.Cut(string(p), "-")
	return when + " " + strings.ReplaceAll(what, "-", " ")
}

// Flag is the place as the commands take it: "--before workers".
func (p HoldPoint) Flag() string {
	when, what, _ := strings.Cut(string(p), "-")
	return "--" + when + " " + what
}

const (
	// upgradeHook is the prefix of annotations of a Cluster that Cluster API itself
	// begins no upgrade with: BeforeClusterUpgradeHookAnnotationPrefix.
	upgradeHook = "before-upgrade.hook.cluster.cluster.x-k8s.io"
	// holdPrefix is that of the other annotations.
	holdPrefix = "clusterctl-x.io/hold-"
)

// Annotation is the key of the annotation that a hold is kept as.
func (p HoldPoint) Annotation() string {
	if p == BeforeUpgrade {
		return upgradeHook + "/clusterctl-x"
	}
	return holdPrefix + string(p)
}

// Hold stops the upgrades of a cluster at a hold point.
type Hold struct {
	Point HoldPoint `json:"point"`
	// Reason and By are empty where who set it did not say.
	Reason string    `json:"reason,omitempty"`
	By     string    `json:"by,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	// Annotation that it is kept as.
	Annotation string `json:"annotation"`
	// Cluster is its namespace and name.
	Cluster types.NamespacedName `json:"-"`
}

// held is the value of the annotation.
type held struct {
	Reason string    `json:"reason"`
	By     string    `json:"by,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}

// Value returns the value of the annotation.
func (h Hold) Value() (string, error) {
	value, err := json.Marshal(held{Reason: h.Reason, By: h.By, Since: h.Since})
	return string(value), err
}

// maxHoldReason is how long the reason of a hold may be, so that it can be read at a
// glance where it is shown.
const maxHoldReason = 200

// ParseHoldReason returns the reason of a hold on one line. The error follows the name of
// where the reason stands.
func ParseHoldReason(text string) (string, error) {
	reason := strings.Join(strings.Fields(text), " ")
	if len(reason) > maxHoldReason {
		return "", fmt.Errorf("has %d bytes; at most %d are allowed", len(reason), maxHoldReason)
	}
	return reason, nil
}

// HoldsOf are the holds among the annotations of a Cluster, in the order of an
// upgrade. What is not ours, or was written by hand, has its text as the reason.
func HoldsOf(cluster types.NamespacedName, annotations map[string]string) []Hold {
	var holds []Hold
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		point := BeforeUpgrade
		if name, ours := strings.CutPrefix(key, holdPrefix); ours {
			point = HoldPoint(name)
		} else if !strings.HasPrefix(key, upgradeHook) {
			continue
		}
		if !slices.Contains(HoldPoints(), point) {
			continue
		}
		hold := Hold{Point: point, Annotation: key, Cluster: cluster}
		var written held
		if err := json.Unmarshal([]byte(annotations[key]), &written); err == nil {
			hold.Reason, hold.By, hold.Since = written.Reason, written.By, written.Since
		} else {
			hold.Reason = annotations[key]
		}
		hold.Reason, hold.By = oneLine(hold.Reason), oneLine(hold.By)
		holds = append(holds, hold)
	}
	slices.SortStableFunc(holds, func(a, b Hold) int {
		return slices.Index(HoldPoints(), a.Point) - slices.Index(HoldPoints(), b.Point)
	})
	return holds
}

// maxText is how many characters of a reason or a name are shown: annotations may have
// 256 KiB, and conditions of a Cluster much less.
const maxText = 300

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// oneLine removes terminal control characters from a user's text.
func oneLine(text string) string {
	blank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	runes := []rune(strings.Join(strings.FieldsFunc(text, blank), " "))
	if len(runes) > maxText {
		return string(runes[:maxText]) + "…"
	}
	return string(runes)
}

// String says which, why, by whom, since when and how it is lifted.
func (h Hold) String() string {
	text := "held " + h.Point.String()
	if h.By != "" {
		text += " by " + h.By
	}
	if !h.Since.IsZero() {
		text += " since " + h.Since.UTC().Format(time.RFC3339)
	}
	if h.Reason != "" {
		text += ": " + h.Reason
	}
	return text + "; " + h.lift() + " lifts it"
}

// Ours reports whether clusterctl-x set the hold, or may lift it.
func (h Hold) Ours() bool { return h.Annotation == h.Point.Annotation() }

// lift returns the command or edit that lifts the hold.
func (h Hold) lift() string {
	if !h.Ours() {
		return "removing the annotation " + h.Annotation
	}
	return fmt.Sprintf("'clusterctl-x release cluster %s -n %s %s'", h.Cluster.Name, h.Cluster.Namespace, h.Point.Flag())
}

// Hook is the name of Cluster API's hook at the place.
func (p HoldPoint) Hook() string {
	switch p {
	case BeforeUpgrade:
		return "BeforeClusterUpgrade"
	case BeforeControlPlane:
		return "BeforeControlPlaneUpgrade"
	case AfterControlPlane:
		return "AfterControlPlaneUpgrade"
	case BeforeWorkers:
		return "BeforeWorkersUpgrade"
	case AfterWorkers:
		return "AfterWorkersUpgrade"
	case AfterUpgrade:
		return "AfterClusterUpgrade"
	}
	return ""
}

// Handler returns the name of the runtime extension's handler that enforces holds at
// the hold point.
func (p HoldPoint) Handler() string { return "hold-" + string(p) }

// HeldByHook returns the hold that Cluster API waits at during the upgrade of a
// topology; nil without one. The hook follows from the hooks that Cluster API has yet
// to call, and from the progress of the parts.
func (c Cluster) HeldByHook() *Hold {
	if c.Topology == nil || c.Topology.Settled || !c.ControlPlane.Done() {
		return nil
	}
	for _, point := range c.hooksNext() {
		if i := slices.IndexFunc(c.Holds, func(h Hold) bool { return h.Point == point }); i >= 0 {
			return &c.Holds[i]
		}
	}
	return nil
}

// hooksNext are the hooks that Cluster API calls next while the control plane is at
// rest.
func (c Cluster) hooksNext() []HoldPoint {
	pending := func(p HoldPoint) bool { return slices.Contains(c.Topology.Pending, p.Hook()) }
	arrived := c.ControlPlane.Version == c.Topology.Version
	switch {
	case pending(AfterControlPlane):
		return []HoldPoint{AfterControlPlane}
	case pending(BeforeWorkers):
		return []HoldPoint{BeforeWorkers}
	case pending(AfterWorkers):
		behind := func(p Part) bool { return !p.Unmanaged && (!p.Done() || p.Version != c.ControlPlane.Version) }
		if slices.ContainsFunc(c.Attached().WorkerNodeGroups, behind) {
			return nil
		}
		return []HoldPoint{AfterWorkers}
	case !arrived && !c.Topology.Upgrading:
		return []HoldPoint{BeforeUpgrade, BeforeControlPlane}
	case !arrived:
		return []HoldPoint{BeforeControlPlane}
	case c.Topology.Upgrading:
		return []HoldPoint{AfterUpgrade}
	}
	return nil
}

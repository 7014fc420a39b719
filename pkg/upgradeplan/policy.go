package upgradeplan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Policy says which of the plans that keep to the rules is made.
type Policy struct {
	// EveryPatch takes the control plane through every patch there is; else it goes
	// through the newest of each minor.
	EveryPatch bool
	// Workers is how often workers are upgraded on the way.
	Workers Workers
	// Through are minors that workers stop at, whatever the skew policy needs.
	Through []v1alpha1.Minor
	// Avoid are versions that no plan goes through or to.
	Avoid []v1alpha1.Version
	// Provider is that of the machines, which may need more than a version; empty
	// for one that needs nothing.
	Provider string
}

// Workers is how often workers are upgraded on the way.
type Workers string

// How often workers are upgraded on the way.
const (
	Efficient    Workers = "efficient"     // only where the version skew policy needs it, and at the end
	EveryMinor   Workers = "every-minor"   // once in each minor
	EveryVersion Workers = "every-version" // to each version that the control plane goes through
)

// Names of settings, as they stand in spec.settings of an ExtensionConfig.
const (
	PatchesSetting  = "patches"
	WorkersSetting  = "workers"
	ThroughSetting  = "workersThrough"
	AvoidSetting    = "avoid"
	ProviderSetting = "provider"
)

// Values of the setting for patches.
const (
	NewestPatch = "newest"
	EveryPatch  = "every"
)

// ParsePolicy reads a policy from settings. The error names every one that is
// unknown or wrong.
func ParsePolicy(settings map[string]string) (Policy, error) {
	policy := Policy{Workers: Efficient}
	var wrong []string
	fail := func(name, value, remedy string) {
		wrong = append(wrong, fmt.Sprintf("setting %s is %q: %s", name, value, remedy))
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := settings[name]
		switch name {
		case PatchesSetting:
			policy.EveryPatch = value == EveryPatch
			if value != EveryPatch && value != NewestPatch {
				fail(name, value, "must be "+NewestPatch+" or "+EveryPatch)
			}
		case WorkersSetting:
			policy.Workers = Workers(value)
			if !slices.Contains([]Workers{Efficient, EveryMinor, EveryVersion}, policy.Workers) {
				fail(name, value, fmt.Sprintf("must be %s, %s or %s", Efficient, EveryMinor, EveryVersion))
			}
		case ThroughSetting:
			for _, text := range list(value) {
				minor, err := v1alpha1.ParseMinor(text)
				if err != nil {
					fail(name, value, err.Error())
				}
				policy.Through = append(policy.Through, minor)
			}
		case AvoidSetting:
			for _, text := range list(value) {
				version, err := v1alpha1.ParseVersion(text)
				if err != nil {
					fail(name, value, err.Error())
				}
				policy.Avoid = append(policy.Avoid, version)
			}
		case ProviderSetting:
			policy.Provider = value
		default:
			wrong = append(wrong, fmt.Sprintf("there is no setting %s: use %s", name, strings.Join([]string{AvoidSetting, PatchesSetting, ProviderSetting, WorkersSetting, ThroughSetting}, ", ")))
		}
	}
	if len(wrong) > 0 {
		return Policy{}, fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return policy, nil
}

// list are the items of a text that is separated by commas.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

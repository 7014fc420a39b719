package v1alpha1

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"
)

// Version is one exact version of Kubernetes, such as v1.34.2, v1.36.0-rc.1 or
// v1.34.2+vendor.1. The zero value is no version.
// It is comparable, so that it can be the key of a map.
type Version struct {
	major, minor, patch uint64
	pre                 string // dot-separated identifiers, without the hyphen
	build               string // dot-separated identifiers, without the plus
	anyPatch            bool   // of a minor that stands for any patch of it
}

// MinorVersion returns the version of a control plane whose provider chooses the patch of a
// minor. No patch of the minor is newer.
func MinorVersion(minor Minor) Version {
	return Version{major: minor.Major, minor: minor.Minor, anyPatch: true}
}

// FirstPatch returns the first release of a minor.
func FirstPatch(minor Minor) Version { return Version{major: minor.Major, minor: minor.Minor} }

// ParseVersion reads an exact version, with or without the leading v.
func ParseVersion(text string) (Version, error) {
	parsed, err := semver.Parse(strings.TrimPrefix(text, "v"))
	if err != nil || parsed.Major == 0 {
		return Version{}, fmt.Errorf("%q is not a version of Kubernetes such as v1.34.2", text)
	}
	pre := make([]string, len(parsed.Pre))
	for i, identifier := range parsed.Pre {
		pre[i] = identifier.String()
	}
	return Version{
		major: parsed.Major, minor: parsed.Minor, patch: parsed.Patch,
		pre: strings.Join(pre, "."), build: strings.Join(parsed.Build, "."),
	}, nil
}

// MustParseVersion is for constants and tests; it panics on anything else.
func MustParseVersion(text string) Version {
	v, err := ParseVersion(text)
	if err != nil {
		panic(err)
	}
	return v
}

// String is the version as Cluster API writes it: v1.34.2; as v1.34 where the provider
// chooses the patch. It is empty for no version.
func (v Version) String() string {
	if v.IsZero() {
		return ""
	}
	if v.anyPatch {
		return "v" + v.Minor().String()
	}
	text := fmt.Sprintf("v%d.%d.%d", v.major, v.minor, v.patch)
	if v.pre != "" {
		text += "-" + v.pre
	}
	if v.build != "" {
		text += "+" + v.build
	}
	return text
}

// IsZero reports whether this is no version.
func (v Version) IsZero() bool {
	return v == Version{}
}

// Minor is the minor that the version is a patch of.
func (v Version) Minor() Minor { return Minor{Major: v.major, Minor: v.minor} }

// AnyPatch reports whether the provider chooses the patch, so that the version is a minor.
func (v Version) AnyPatch() bool { return v.anyPatch }

// Build is what providers add to a version of Kubernetes, without the plus; empty where they
// add nothing.
func (v Version) Build() string { return v.build }

// Completed returns the wanted version where this one is the same but for what a distribution
// adds, and one of the two leaves out the other's addition or the end of it: providers complete
// versions that users write, and kubelets add to them or leave out a part. Additions are
// builds, and what EKS and GKE write in the form of a pre-release (v1.34.2-eks-cb19647).
func (v Version) Completed(wanted Version) Version {
	has, wants := v.additionAsBuild(), wanted.additionAsBuild()
	full := has
	full.build = wants.build
	if full == wants && (startsWith(wants.build, has.build) || startsWith(has.build, wants.build)) {
		return wanted
	}
	return v
}

// additionAsBuild returns the version with a pre-release that is none of Kubernetes' own as
// the start of its build.
func (v Version) additionAsBuild() Version {
	stage, _, _ := strings.Cut(v.pre, ".")
	if v.pre == "" || slices.Contains([]string{"alpha", "beta", "rc"}, stage) {
		return v
	}
	v.pre, v.build = "", strings.TrimSuffix(v.pre+"."+v.build, ".")
	return v
}

// startsWith reports whether a build begins with the identifiers of another one.
func startsWith(build, start string) bool {
	return start == "" || strings.HasPrefix(build+".", start+".")
}

// IsPreRelease reports whether this is a version that comes before a release,
// such as v1.36.0-rc.1.
func (v Version) IsPreRelease() bool { return v.pre != "" }

// Compare is negative where v is older than other, 0 where they are equal,
// positive where it is newer. Pre-releases come before their release, in the
// order of semantic versioning. Builds are ordered as Cluster API orders them:
// none before any, numbers by their value, numbers before words, the shorter
// before the longer. Where Cluster API sees no order (commit hashes, 1 and 01)
// the text decides, so that the order is total.
func (v Version) Compare(other Version) int {
	return cmp.Or(
		v.Minor().Compare(other.Minor()),
		compareBool(v.anyPatch, other.anyPatch),
		cmp.Compare(v.patch, other.patch),
		v.comparePreRelease(other),
		slices.CompareFunc(v.buildIdentifiers(), other.buildIdentifiers(), buildIdentifier.compare),
		strings.Compare(v.build, other.build),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

func (v Version) comparePreRelease(other Version) int {
	if v.pre == other.pre {
		return 0
	}
	return semver.Version{Pre: v.preIdentifiers()}.Compare(semver.Version{Pre: other.preIdentifiers()})
}

func (v Version) preIdentifiers() []semver.PRVersion {
	if v.pre == "" {
		return nil
	}
	var identifiers []semver.PRVersion
	for part := range strings.SplitSeq(v.pre, ".") {
		identifier, _ := semver.NewPRVersion(part) // ParseVersion has read it
		identifiers = append(identifiers, identifier)
	}
	return identifiers
}

// buildIdentifier is one part of a build: a number where word is empty.
type buildIdentifier struct {
	word   string
	number uint64
}

func (b buildIdentifier) compare(other buildIdentifier) int {
	return cmp.Or(strings.Compare(b.word, other.word), cmp.Compare(b.number, other.number))
}

func (v Version) buildIdentifiers() []buildIdentifier {
	if v.build == "" {
		return nil
	}
	var identifiers []buildIdentifier
	for part := range strings.SplitSeq(v.build, ".") {
		identifier := buildIdentifier{word: part}
		if strings.Trim(part, "0123456789") == "" {
			// What is too large for the type counts as its largest number.
			number, _ := strconv.ParseUint(part, 10, 64)
			identifier = buildIdentifier{number: number}
		}
		identifiers = append(identifiers, identifier)
	}
	return identifiers
}

// Before reports whether v is older than other.
func (v Version) Before(other Version) bool { return v.Compare(other) < 0 }

// After reports whether v is newer than other.
func (v Version) After(other Version) bool { return v.Compare(other) > 0 }

// MarshalText writes the version as String does.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (v *Version) UnmarshalText(text []byte) (err error) {
	if minor, err := ParseMinor(string(text)); err == nil {
		*v = MinorVersion(minor)
		return nil
	}
	*v, err = ParseVersion(string(text))
	return err
}

// Minor is a minor version of Kubernetes, such as 1.34.
type Minor struct{ Major, Minor uint64 }

// String is the minor as EKS Anywhere writes it: 1.34.
func (m Minor) String() string { return fmt.Sprintf("%d.%d", m.Major, m.Minor) }

// Compare is negative, 0 or positive where m is older than, equal to or newer than other.
func (m Minor) Compare(other Minor) int {
	return cmp.Or(cmp.Compare(m.Major, other.Major), cmp.Compare(m.Minor, other.Minor))
}

// MarshalText writes the minor as String does.
func (m Minor) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a minor.
func (m *Minor) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMinor(string(text))
	return err
}

var minorPattern = regexp.MustCompile(`^v?([1-9][0-9]*)\.(0|[1-9][0-9]*)$`)

// ParseMinor reads a minor, with or without the leading v.
func ParseMinor(text string) (Minor, error) {
	parts := minorPattern.FindStringSubmatch(text)
	if parts == nil {
		return Minor{}, fmt.Errorf("%q is not a minor version of Kubernetes such as 1.34", text)
	}
	major, majorErr := strconv.ParseUint(parts[1], 10, 64)
	minor, minorErr := strconv.ParseUint(parts[2], 10, 64)
	if majorErr != nil || minorErr != nil {
		return Minor{}, fmt.Errorf("%q is not a minor version of Kubernetes such as 1.34", text)
	}
	return Minor{Major: major, Minor: minor}, nil
}

// KubernetesVersion is a version as a user writes it: a minor, which means any
// patch of it, or an exact version.
type KubernetesVersion struct {
	minor Minor
	exact Version // zero where only the minor is given
}

// ParseKubernetesVersion reads "1.34", "1.34.2", "v1.34.2" or "1.36.0-rc.1", each
// exact one with +build where a provider has one.
func ParseKubernetesVersion(text string) (KubernetesVersion, error) {
	if minor, err := ParseMinor(text); err == nil {
		return KubernetesVersion{minor: minor}, nil
	}
	exact, err := ParseVersion(text)
	if err != nil {
		return KubernetesVersion{}, fmt.Errorf(`write a minor such as "1.34" or an exact version such as "1.34.2"`)
	}
	return KubernetesVersion{minor: exact.Minor(), exact: exact}, nil
}

// ExactVersion is what a user writes who means a version.
func ExactVersion(v Version) KubernetesVersion { return KubernetesVersion{minor: v.Minor(), exact: v} }

// Minor is the minor that is meant.
func (k KubernetesVersion) Minor() Minor { return k.minor }

// Exact is the version that is meant, and false where only the minor is given.
func (k KubernetesVersion) Exact() (Version, bool) { return k.exact, !k.exact.IsZero() }

// IsZero reports whether no version is given.
func (k KubernetesVersion) IsZero() bool { return k.minor == Minor{} }

// String is the version as a user would write it. It is empty where none is given.
func (k KubernetesVersion) String() string {
	if exact, ok := k.Exact(); ok {
		return exact.String()
	}
	if k.IsZero() {
		return ""
	}
	return k.minor.String()
}

// MarshalText writes the version as String does.
func (k KubernetesVersion) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what a user writes.
func (k *KubernetesVersion) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKubernetesVersion(string(text))
	return err
}

// ClusterVersions are the exact versions of the control plane and of every
// worker node group at one moment.
type ClusterVersions struct {
	ControlPlane     Version            `json:"controlPlane,omitzero"`
	WorkerNodeGroups map[string]Version `json:"workerNodeGroups,omitempty"`
}

// Of is the version of the control plane (ControlPlaneName) or of a worker node group; zero where
// there is none.
func (c ClusterVersions) Of(part string) Version {
	if part == ControlPlaneName {
		return c.ControlPlane
	}
	return c.WorkerNodeGroups[part]
}

// All are the versions, each once, oldest first.
func (c ClusterVersions) All() []Version {
	all := []Version{c.ControlPlane}
	for _, version := range c.WorkerNodeGroups {
		all = append(all, version)
	}
	slices.SortFunc(all, Version.Compare)
	return slices.Compact(all)
}

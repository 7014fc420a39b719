package v1alpha1

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"
	capiversion "sigs.k8s.io/cluster-api/util/version"
)

// Version is one exact version of Kubernetes, such as v1.34.2 or
// v1.34.2+vendor.1. The zero value is no version.
// It is comparable, so that it can be the key of a map.
type Version struct {
	major, minor, patch uint64
	build               string // dot-separated identifiers, without the plus
}

// ParseVersion reads an exact version, with or without the leading v.
func ParseVersion(text string) (Version, error) {
	parsed, err := semver.Parse(strings.TrimPrefix(text, "v"))
	if err != nil || len(parsed.Pre) > 0 {
		return Version{}, fmt.Errorf("%q is not a version of Kubernetes such as v1.34.2", text)
	}
	return Version{major: parsed.Major, minor: parsed.Minor, patch: parsed.Patch, build: strings.Join(parsed.Build, ".")}, nil
}

// MustParseVersion is for constants and tests; it panics on anything else.
func MustParseVersion(text string) Version {
	v, err := ParseVersion(text)
	if err != nil {
		panic(err)
	}
	return v
}

// String is the version as Cluster API writes it: v1.34.2. It is empty for no version.
func (v Version) String() string {
	if v.IsZero() {
		return ""
	}
	return "v" + v.semver().String()
}

// IsZero tells whether this is no version.
func (v Version) IsZero() bool {
	return v == Version{}
}

func (v Version) semver() semver.Version {
	s := semver.Version{Major: v.major, Minor: v.minor, Patch: v.patch}
	if v.build != "" {
		s.Build = strings.Split(v.build, ".")
	}
	return s
}

// Minor is the minor that the version is a patch of.
func (v Version) Minor() Minor { return Minor{Major: v.major, Minor: v.minor} }

// Compare is negative where v is older than other, 0 where they are equal,
// positive where it is newer. Builds are ordered as Cluster API orders them;
// of two builds that have no order (commit hashes) the text decides, so that
// the order is total.
func (v Version) Compare(other Version) int {
	switch c := capiversion.Compare(v.semver(), other.semver(), capiversion.WithBuildTags()); c {
	case 2:
		return strings.Compare(v.String(), other.String())
	default:
		return c
	}
}

// Before tells whether v is older than other.
func (v Version) Before(other Version) bool { return v.Compare(other) < 0 }

// After tells whether v is newer than other.
func (v Version) After(other Version) bool { return v.Compare(other) > 0 }

// MarshalText writes the version as String does.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads an exact version.
func (v *Version) UnmarshalText(text []byte) (err error) {
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

var minorPattern = regexp.MustCompile(`^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`)

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

// ParseKubernetesVersion reads "1.34", "1.34.2" or "v1.34.2", with +build where
// a provider has one.
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

// Minor is the minor that is meant.
func (k KubernetesVersion) Minor() Minor { return k.minor }

// Exact is the version that is meant, and false where only the minor is given.
func (k KubernetesVersion) Exact() (Version, bool) { return k.exact, !k.exact.IsZero() }

// IsZero tells whether no version is given.
func (k KubernetesVersion) IsZero() bool { return k.minor == Minor{} }

// String is the version as a user would write it.
func (k KubernetesVersion) String() string {
	if exact, ok := k.Exact(); ok {
		return exact.String()
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
	ControlPlane     Version            `json:"controlPlane"`
	WorkerNodeGroups map[string]Version `json:"workerNodeGroups,omitempty"`
}

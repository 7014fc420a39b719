package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// published is the content of published.yaml.
type published struct {
	// Name becomes the name of the Bundles object.
	Name string `json:"name"`
	// Sources says in words where the digests were copied from. The releases
	// refer to its keys.
	Sources map[string]string `json:"sources"`
	// EndOfSupport has the minors that Kubernetes no longer supports, such as "1.25".
	EndOfSupport map[string]publishedDate `json:"endOfSupport,omitempty"`
	Releases     []publishedRelease       `json:"releases"`
}

// publishedDate is a day.
type publishedDate struct {
	Date   string `json:"date"`
	Source string `json:"source"`
}

// publishedRelease is what is known from the publishers of one release.
type publishedRelease struct {
	Version string                     `json:"version"`
	Docker  *publishedImage            `json:"docker,omitempty"`
	Kubeadm map[string]publishedBinary `json:"kubeadm,omitempty"`
}

// publishedImage is a node image with its digest.
type publishedImage struct {
	Image  string `json:"image"`
	Source string `json:"source"`
}

// publishedBinary is the checksum of a binary for one architecture.
type publishedBinary struct {
	SHA256 string `json:"sha256"`
	Source string `json:"source"`
}

// readPublished reads the hand-kept input and refuses it as a whole if any
// part of it cannot be right: a slip of the hand must not reach the bundles.
func readPublished(path string) (published, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return published{}, fmt.Errorf("read the published data: %w", err)
	}
	input, err := parsePublished(content)
	if err != nil {
		return published{}, fmt.Errorf("%s: %w", path, err)
	}
	return input, nil
}

func parsePublished(content []byte) (published, error) {
	var input published
	if err := yaml.UnmarshalStrict(content, &input); err != nil {
		return published{}, fmt.Errorf("parse: %w", err)
	}
	if err := input.validate(); err != nil {
		return published{}, err
	}
	return input, nil
}

// validate reports everything that is wrong at once, because the file is
// corrected by hand.
func (p published) validate() error {
	var errs []error
	if p.Name == "" {
		errs = append(errs, errors.New("name is missing"))
	}
	if len(p.Releases) == 0 {
		errs = append(errs, errors.New("releases are missing"))
	}
	minors := map[string]bool{}
	for _, release := range p.Releases {
		if version, err := parseVersion(release.Version); err == nil {
			minors[version.KubeVersion()] = true
		}
	}
	for _, minor := range slices.Sorted(maps.Keys(p.EndOfSupport)) {
		err := p.EndOfSupport[minor].validate(p.Sources)
		if !minors[minor] {
			err = errors.Join(errors.New("no release is of this minor"), err)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("end of support of %q: %w", minor, err))
		}
	}
	seen := map[string]bool{}
	for _, release := range p.Releases {
		if seen[release.Version] {
			errs = append(errs, fmt.Errorf("release %s is there twice", release.Version))
		}
		seen[release.Version] = true
		if err := release.validate(p.Sources); err != nil {
			errs = append(errs, fmt.Errorf("release %q: %w", release.Version, err))
		}
	}
	return errors.Join(errs...)
}

func (d publishedDate) validate(sources map[string]string) error {
	var errs []error
	if _, err := time.Parse(time.DateOnly, d.Date); err != nil {
		errs = append(errs, fmt.Errorf("date %q is not of the form 2026-02-28", d.Date))
	}
	return errors.Join(append(errs, checkSource(d.Source, sources))...)
}

func (r publishedRelease) validate(sources map[string]string) error {
	var errs []error
	if _, err := parseVersion(r.Version); err != nil {
		errs = append(errs, err)
	}
	if r.Docker != nil {
		errs = append(errs, checkNodeImage(r.Docker.Image, r.Version), checkSource(r.Docker.Source, sources))
	}
	for _, arch := range slices.Sorted(maps.Keys(r.Kubeadm)) {
		binary := r.Kubeadm[arch]
		if err := errors.Join(checkArch(arch), checkSHA256(binary.SHA256), checkSource(binary.Source, sources)); err != nil {
			errs = append(errs, fmt.Errorf("kubeadm for %s: %w", arch, err))
		}
	}
	return errors.Join(errs...)
}

// checkNodeImage refuses an image of another release: a node that runs another
// kubelet than the cluster asks for fails late and in unclear ways.
func checkNodeImage(image, version string) error {
	digest, ok := strings.CutPrefix(image, "kindest/node:"+version+"@sha256:")
	if !ok {
		return fmt.Errorf("image %q is not kindest/node:%s with a sha256 digest", image, version)
	}
	return checkSHA256(digest)
}

// architectures are those for which the bundles have downloads, sorted.
func architectures() []string { return []string{"amd64", "arm64"} }

// checkArch refuses others.
func checkArch(arch string) error {
	if !slices.Contains(architectures(), arch) {
		return fmt.Errorf("unknown architecture %q", arch)
	}
	return nil
}

// checkSHA256 also refuses capitals, so that digests can be compared as text.
func checkSHA256(digest string) error {
	const hexDigits = 64
	if _, err := hex.DecodeString(digest); err != nil {
		return fmt.Errorf("sha256 %q: %w", digest, err)
	}
	if len(digest) != hexDigits || strings.ToLower(digest) != digest {
		return fmt.Errorf("sha256 %q is not %d lower-case hexadecimal digits", digest, hexDigits)
	}
	return nil
}

// checkSource keeps a digest out whose origin cannot be looked up.
func checkSource(source string, sources map[string]string) error {
	if sources[source] == "" {
		return fmt.Errorf("source %q is not among the sources", source)
	}
	return nil
}

package versionsbundle

import (
	"errors"
	"regexp"
	"strings"
)

// Image is a full reference of a container image: registry, path, name, tag.
type Image string

const imageForm = "an image with repository and tag and without digest, such as registry.k8s.io/pause:3.10"

// kubeadm's configuration has no field for a digest: only repository and tag.
var imagePattern = regexp.MustCompile(`^[a-zA-Z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)+:[a-zA-Z0-9_][a-zA-Z0-9_.-]*$`)

// UnmarshalText reads a reference, which must have a tag and a path.
func (i *Image) UnmarshalText(text []byte) error {
	if !imagePattern.Match(text) {
		return errors.New("must be " + imageForm)
	}
	*i = Image(text)
	return nil
}

// Tag returns the part after the last colon of the name.
func (i Image) Tag() string {
	name := string(i)[strings.LastIndexByte(string(i), '/')+1:]
	_, tag, _ := strings.Cut(name, ":")
	return tag
}

// Name returns the part before the tag, without registry and path.
func (i Image) Name() string {
	name, _, _ := strings.Cut(string(i)[strings.LastIndexByte(string(i), '/')+1:], ":")
	return name
}

// Repository returns the part before the name: registry and path.
func (i Image) Repository() string {
	return string(i)[:max(strings.LastIndexByte(string(i), '/'), 0)]
}

// Registry returns the part before the first slash, with its port if it has one.
func (i Image) Registry() string {
	registry, _, _ := strings.Cut(string(i), "/")
	return registry
}

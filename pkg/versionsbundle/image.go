package versionsbundle

import (
	"fmt"
	"strings"
)

// Image is a full reference of a container image: registry, path, name, tag.
type Image string

// UnmarshalText reads a reference, which must have a tag and a path.
func (i *Image) UnmarshalText(text []byte) error {
	*i = Image(text)
	if i.Tag() == "" || i.Repository() == "" {
		return fmt.Errorf("must be an image with repository and tag, such as registry.k8s.io/pause:3.10")
	}
	return nil
}

// Tag is what follows the last colon of the name.
func (i Image) Tag() string {
	name := string(i)[strings.LastIndexByte(string(i), '/')+1:]
	_, tag, _ := strings.Cut(name, ":")
	return tag
}

// Repository is what stands before the name: registry and path.
func (i Image) Repository() string {
	return string(i)[:max(strings.LastIndexByte(string(i), '/'), 0)]
}

// Package config holds the files that clusterctl-x brings along: release
// manifests, templates, schemas and samples.
package config

import "embed"

// Bundles is the release manifest that is used unless --bundles names another.
//
//go:embed bundles/bundles.yaml
var Bundles []byte

// Templates of all rendered objects, in the directory "templates". Those of a
// provider are in a directory of its name.
//
//go:embed templates
var Templates embed.FS

// Schemas of the rendered kinds that have no Go types here, in the directory
// "schemas": group_version_Kind.json.
//
//go:embed schemas
var Schemas embed.FS

// Samples of cluster specs, in the directory "samples".
//
//go:embed samples
var Samples embed.FS

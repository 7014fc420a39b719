// Package config holds the files that clusterctl-x brings along: release
// manifests, templates, schemas, guardrails and samples.
package config

import "embed"

// Bundles is the release manifest that is used unless --bundles names another.
//
//go:embed bundles/bundles.yaml
var Bundles []byte

// Templates of the objects that all clusters have, in the directory "templates".
//
//go:embed templates
var Templates embed.FS

// Providers are the infrastructure providers, in the directory "providers": a folder of
// the name of each.
//
//go:embed providers
var Providers embed.FS

// ControlPlanes are the kinds of control planes of other providers than kubeadm's.
//
//go:embed control-planes.yaml
var ControlPlanes []byte

// Classes are variables and patches of the ClusterClasses of every provider, in the
// directory "classes".
//
//go:embed classes
var Classes embed.FS

// Schemas of the rendered kinds that have no Go types here, in the directory
// "schemas": group_version_Kind.json.
//
//go:embed schemas
var Schemas embed.FS

// AddOns are the manifests of what clusters get installed, in the directory
// "addons".
//
//go:embed addons
var AddOns embed.FS

// SpecSchema is the JSON Schema of the documents of a cluster spec. It is
// generated from their Go types by hack/schema.
//
//go:embed schema/clusterctl-x.io_v1alpha1.json
var SpecSchema []byte

// BundlesSchema is the JSON Schema of the versions bundles, made as SpecSchema.
//
//go:embed schema/bundles.json
var BundlesSchema []byte

// Guardrails are the policies that refuse, to everybody, changes of versions that
// break the version skew policy: in the directory "guardrails".
//
//go:embed guardrails
var Guardrails embed.FS

// RBAC are templates of the ClusterRoles of users of clusterctl-x in a management cluster,
// in the directory "rbac"; those of users who change nothing are in "rbac/read-only".
//
//go:embed rbac
var RBAC embed.FS

// RuntimeExtension is what deploys the runtime extension in a management cluster, with
// IMAGE and NAMESPACE where these stand.
//
//go:embed runtime-extension
var RuntimeExtension embed.FS

// Samples of cluster specs, in the directory "samples".
//
//go:embed samples
var Samples embed.FS

// Package v1alpha1 is the cluster spec: its types, versions, decoding and
// defaults. All of it is pure; nothing here reads a file or a clock.
package v1alpha1

// Package collector keeps the garbage collector waiting until main begins.
//
// Most of the time that a short command takes, the packages of Kubernetes and Cluster
// API spend on their initialization. They allocate some ten megabytes that live as long
// as the program, and the collector, which begins at four, would go through them twice.
// Go initializes packages that are ready in the order of their import paths, so that
// this one, which needs the standard library only, comes before them.
package collector

import "runtime/debug"

// percent is what the user, or Go, has set; of GOGC too.
var percent = debug.SetGCPercent(-1) //nolint:gochecknoglobals // there is no other way to run before them

// Start lets the collector begin.
func Start() { debug.SetGCPercent(percent) }

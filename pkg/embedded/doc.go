// Package embedded starts, finds and stops embedded management clusters: a
// real etcd, kube-apiserver and Cluster API's controllers as processes of the
// current user, without containers and without root.
//
// It knows processes, files and ports only. It does not talk to the API
// server; package management does, through the kubeconfig that an Instance
// names. The supervisor itself is the program in cmd/clusterctl-x-embedded,
// which shares the layout of an instance's directory with this package.
package embedded

// Command kindnetd stands in for the network plugin of kind, which the Go module proxy does
// not have, behind the same DaemonSet: it configures the pod network of its node, and the
// routes to the pods of the others.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	configFile = "/etc/cni/net.d/10-kindnet.conflist"
	interval   = 3 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	// The address of the service works once kube-proxy does, which may be later.
	if endpoint := os.Getenv("CONTROL_PLANE_ENDPOINT"); endpoint != "" {
		config.Host = "https://" + endpoint
	}
	config.Timeout = 10 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := configure(ctx, client, os.Getenv("HOST_IP")); err != nil {
			log.Print(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// configure brings the configuration of this node in line with the nodes of the cluster. A node
// that cannot be reached keeps no other from it.
func configure(ctx context.Context, client kubernetes.Interface, own string) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	var problems []error
	for _, node := range nodes.Items {
		address, pods := internalIP(node), node.Spec.PodCIDR
		switch {
		case address == "" || pods == "":
		case address == own:
			problems = append(problems, writeConfig(pods))
		default:
			problems = append(problems, route(pods, address))
		}
	}
	return errors.Join(problems...)
}

func internalIP(node corev1.Node) string {
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}

func route(pods, node string) error {
	_, network, err := net.ParseCIDR(pods)
	if err != nil {
		return err
	}
	if err := netlink.RouteReplace(&netlink.Route{Dst: network, Gw: net.ParseIP(node)}); err != nil {
		return fmt.Errorf("route to %s by %s: %w", pods, node, err)
	}
	return nil
}

// writeConfig says to containerd how pods of this node get their address: the node
// becomes Ready by it.
func writeConfig(pods string) error {
	type object map[string]any
	config, err := json.MarshalIndent(object{
		"cniVersion": "0.3.1",
		"name":       "kindnet",
		"plugins": []object{
			{"type": "ptp", "ipMasq": true, "ipam": object{
				"type": "host-local", "dataDir": "/run/cni-ipam-state",
				"routes": []object{{"dst": "0.0.0.0/0"}},
				"ranges": [][]object{{{"subnet": pods}}},
			}},
			{"type": "portmap", "capabilities": object{"portMappings": true}},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(configFile); err == nil && string(old) == string(config) {
		return nil
	}
	// containerd reads the folder as soon as anything changes in it.
	temporary := configFile + ".tmp"
	if err := os.WriteFile(temporary, config, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, configFile)
}

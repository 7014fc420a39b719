// Command crictl does what Cluster API's docker provider and these tests ask of the
// program of that name, whose module the Go module proxy does not have: it lists the
// containers, or the images, that containerd has for the kubelet.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const socket = "unix:///run/containerd/containerd.sock"

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "crictl:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, args []string) error {
	connection, err := grpc.NewClient(socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close() //nolint:errcheck // the program ends
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var rows []string
	switch {
	case len(args) > 0 && args[0] == "ps":
		rows, err = containers(ctx, connection, slices.Contains(args[1:], "-a"))
	case len(args) == 1 && args[0] == "images":
		rows, err = images(ctx, connection)
	default:
		return fmt.Errorf("%q: it has 'ps', 'ps -a' and 'images' only", strings.Join(args, " "))
	}
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(table, strings.Join(rows, "\n")); err != nil {
		return err
	}
	return table.Flush()
}

//nolint:revive // flag-parameter: -a of the command line
func containers(ctx context.Context, connection *grpc.ClientConn, all bool) ([]string, error) {
	filter := &runtime.ContainerFilter{}
	if !all {
		filter.State = &runtime.ContainerStateValue{State: runtime.ContainerState_CONTAINER_RUNNING}
	}
	r, err := runtime.NewRuntimeServiceClient(connection).ListContainers(ctx, &runtime.ListContainersRequest{Filter: filter})
	if err != nil {
		return nil, fmt.Errorf("listing containers: %w", err)
	}
	rows := []string{"CONTAINER\tSTATE\tNAME\tATTEMPT\tPOD"}
	for _, c := range r.Containers {
		state := strings.TrimPrefix(c.State.String(), "CONTAINER_")
		rows = append(rows, fmt.Sprintf("%.13s\t%s\t%s\t%d\t%s", c.Id, state, c.Metadata.Name, c.Metadata.Attempt, c.Labels["io.kubernetes.pod.name"]))
	}
	return rows, nil
}

func images(ctx context.Context, connection *grpc.ClientConn) ([]string, error) {
	r, err := runtime.NewImageServiceClient(connection).ListImages(ctx, &runtime.ListImagesRequest{})
	if err != nil {
		return nil, fmt.Errorf("listing images: %w", err)
	}
	rows := []string{"IMAGE\tSIZE"}
	for _, i := range r.Images {
		rows = append(rows, fmt.Sprintf("%s\t%d", strings.Join(i.RepoTags, ","), i.Size))
	}
	return rows, nil
}

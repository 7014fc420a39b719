// Command bundles writes config/bundles/bundles.yaml, the release data that
// clusterctl-x ships: for every supported Kubernetes release the container
// images, the node images and the kubeadm downloads.
//
// The data is generated so that it can be checked: what Kubernetes itself
// decides (which etcd, CoreDNS and pause image belong to a release) is read
// from the sources of that very release, and what only its publishers know
// (digests and checksums) comes from published.yaml, where every value names
// its source.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/clusterctl-x/clusterctl-x/hack/source"
)

// defaultPublished is where the repository keeps the hand-kept input, seen
// from the repository's root, where make runs.
const defaultPublished = "hack/bundles/published.yaml"

// errDiffers says that the file given to -check is not what would be generated
// today.
var errDiffers = errors.New("the file is not up to date, run `make bundles`")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundles:", err)
		os.Exit(1)
	}
}

// options are the command's flags.
type options struct {
	out       string
	check     string
	published string
}

// run is main without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	opts, err := parseFlags(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}

	generated, err := generate(ctx, opts.published)
	if err != nil {
		return err
	}
	if opts.check != "" {
		return check(opts.check, generated, stdout)
	}
	return source.ReplaceFile(opts.out, generated)
}

// parseFlags insists on exactly one of -out and -check: the one changes the
// file and the other must never do so.
func parseFlags(args []string, stderr io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("bundles", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&opts.out, "out", "", "write the bundles to this `file`")
	flags.StringVar(&opts.check, "check", "", "compare the bundles with this `file` and fail if they differ")
	flags.StringVar(&opts.published, "published", defaultPublished, "read releases, digests and checksums from this `file`")
	if err := flags.Parse(args); err != nil {
		return options{}, fmt.Errorf("parse flags: %w", err)
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if (opts.out == "") == (opts.check == "") {
		return options{}, errors.New("give exactly one of -out and -check")
	}
	return opts, nil
}

// generate makes the content of the bundles file.
func generate(ctx context.Context, publishedPath string) ([]byte, error) {
	input, err := readPublished(publishedPath)
	if err != nil {
		return nil, err
	}
	bundles, err := buildBundles(ctx, input, readKubeadm)
	if err != nil {
		return nil, err
	}
	return render(bundles)
}

// check compares the generated bundles with those in the file at path and
// writes the difference to out.
func check(path string, generated []byte, out io.Writer) error {
	existing, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the bundles to check: %w", err)
	}
	difference := diffLines(string(existing), string(generated))
	if difference == "" {
		return nil
	}
	if _, err := fmt.Fprintf(out, "--- %s\n+++ generated\n%s", path, difference); err != nil {
		return fmt.Errorf("write the difference: %w", err)
	}
	return fmt.Errorf("%s: %w", path, errDiffers)
}

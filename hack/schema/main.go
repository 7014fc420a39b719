// Command schema writes the JSON Schema of the cluster spec, for editors and
// for 'clusterctl-x explain', and that of the versions bundles for the latter. They
// are generated from the Go types that the decoder reads into, with their
// comments, so that they say of each field what the code says.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// defaultTypes is where the repository keeps the types, seen from its root,
// where make runs.
const defaultTypes = "pkg/api/v1alpha1"

// bundleTypes is where those of the versions bundles are.
const bundleTypes = "pkg/versionsbundle"

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

// run is main without the process around it.
func run(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("schema", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "", "write the schema to this `file`")
	bundles := flags.String("bundles", "", "write the schema of the versions bundles to this `file`")
	types := flags.String("types", defaultTypes, "read the comments of the types in this `directory`")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return fmt.Errorf("parse flags: %w", err)
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case *out == "":
		return errors.New("-out is required: the file to write")
	}
	generated, err := generate(*types)
	if err != nil {
		return err
	}
	if err := os.WriteFile(*out, generated, 0o644); err != nil {
		return fmt.Errorf("write the schema: %w", err)
	}
	if *bundles == "" {
		return nil
	}
	if generated, err = generateBundles(*types, bundleTypes); err != nil {
		return err
	}
	if err := os.WriteFile(*bundles, generated, 0o644); err != nil {
		return fmt.Errorf("write the schema of the versions bundles: %w", err)
	}
	return nil
}

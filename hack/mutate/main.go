// Command mutate measures what the tests of packages prove: it changes the code of a package
// in one place at a time, and runs the tests of the package. A change that no test notices is
// printed.
//
//	go run ./hack/mutate [-sample N] [-seed N] [-only TEXT] [-slow REGEXP] [-timeout D] DIRECTORY...
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// noTest is a pattern that no test matches.
const noTest = "^$"

type options struct {
	sample  int
	seed    uint64
	only    string
	slow    string
	timeout time.Duration
}

// outcomes of a mutant.
const (
	killed   = "killed"
	timedOut = "timed out" // which is noticed too
	survived = "survived"
	invalid  = "does not compile"
)

func main() {
	var o options
	flag.IntVar(&o.sample, "sample", 0, "number of mutants of each package, chosen by the seed; 0 is all")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the choice")
	flag.StringVar(&o.only, "only", "", "try mutants whose printed lines contain this text, such as FILE:LINE:")
	flag.StringVar(&o.slow, "slow", noTest, "tests that run only if all others pass")
	flag.DurationVar(&o.timeout, "timeout", 5*time.Minute, "time that the tests may take before a mutant counts as killed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, directory := range flag.Args() {
		if err := o.measure(ctx, directory); err != nil {
			fmt.Fprintf(os.Stderr, "mutate: %s: %v\n", directory, err)
			os.Exit(1)
		}
	}
}

// measure prints the mutants of a package that survive, and how many there are of each outcome.
func (o options) measure(ctx context.Context, directory string) error {
	mutants, err := mutantsOf(directory)
	if err != nil {
		return err
	}
	if o.sample > 0 {
		random := rand.New(rand.NewPCG(o.seed, 0))
		random.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	}
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !strings.Contains(m.String(), o.only) })
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	counts := map[string]int{}
	for _, m := range mutants {
		valid := counts[killed] + counts[timedOut] + counts[survived]
		if o.sample > 0 && valid == o.sample {
			break
		}
		outcome, err := o.try(ctx, work, directory, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		counts[outcome]++
		if outcome == survived || outcome == timedOut {
			fmt.Printf("%s: %s\n", outcome, m)
		}
	}
	noticed := counts[killed] + counts[timedOut]
	fmt.Printf("%s: %d of %d mutants noticed (%d by the timeout); of %d possible ones, %d were tried, of which %d do not compile\n",
		directory, noticed, noticed+counts[survived], counts[timedOut], len(mutants), noticed+counts[survived]+counts[invalid], counts[invalid])
	return nil
}

// try returns what the tests of a package make of a mutant.
func (o options) try(ctx context.Context, work, directory string, m mutant) (string, error) {
	changed, overlay, tests := filepath.Join(work, "changed.go"), filepath.Join(work, "overlay.json"), filepath.Join(work, "tests")
	if err := os.WriteFile(changed, m.text(), 0o600); err != nil {
		return "", err
	}
	absolute, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{absolute: changed}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", tests, "./"+filepath.Clean(directory))
	if err := build.Run(); err != nil {
		return invalid, ctx.Err()
	}
	for _, choice := range [][]string{{"-test.skip=" + o.slow}, {"-test.run=" + o.slow}} {
		if outcome, err := o.run(ctx, tests, directory, choice); err != nil || outcome != survived {
			return outcome, err
		}
	}
	return survived, nil
}

func (o options) run(ctx context.Context, tests, directory string, choice []string) (string, error) {
	within, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	cmd := exec.CommandContext(within, tests, append(choice, "-test.failfast")...)
	cmd.Dir = directory
	err := cmd.Run()
	failed := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return survived, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case within.Err() != nil:
		return timedOut, nil
	case errors.As(err, &failed):
		return killed, nil
	default:
		return "", err
	}
}

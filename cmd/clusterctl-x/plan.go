package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

func (a *app) planUpgradeCommand() *cobra.Command {
	var o upgradeOptions
	cmd := &cobra.Command{
		Use:   "upgrade -f FILE",
		Short: "Show what 'upgrade cluster' would do, step by step; nothing is changed",
		Example: `  clusterctl-x plan upgrade -f cluster.yaml
  clusterctl-x plan upgrade -f cluster.yaml --from old.yaml
  clusterctl-x plan upgrade -f cluster.yaml --out plan.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.checkScope(); err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			p, err := a.planUpgrade(ctx, o)
			if err != nil {
				return err
			}
			if o.out != "" {
				if err := savePlan(o.out, p); err != nil {
					return fmt.Errorf("writing the plan to %s: %w", o.out, err)
				}
				a.say("plan written to %s%s", o.out, forReading(o.from))
			}
			return a.print(p, func() error { return a.style(a.out).Plan(a.out, p) })
		},
	}
	o.addTo(cmd)
	cmd.Flags().StringVar(&o.from, "from", "", "file that describes the cluster as it is, instead of a live one; no management cluster is asked")
	a.addExtensionCertificate(cmd)
	cmd.Flags().StringVar(&o.out, "out", "", "file to write the plan to, for 'upgrade cluster --plan'")
	return cmd
}

func (a *app) planUpgrade(ctx context.Context, o upgradeOptions) (plan.Plan, error) {
	if o.from != "" {
		u, err := a.planBetween(ctx, o)
		return u.Plan, err
	}
	_, u, err := a.planLive(ctx, o)
	return u.Plan, err
}

// planBetween plans the upgrade from the cluster that one file describes to that of
// another.
func (a *app) planBetween(ctx context.Context, o upgradeOptions) (lifecycle.Upgrade, error) {
	if o.from == "-" && o.file == "-" {
		return lifecycle.Upgrade{}, usageError{errors.New("-f and --from cannot both be standard input; give one of them a file")}
	}
	before, err := a.readSpecOf("--from names the file that describes the cluster as it is, and - is standard input", o.from)
	if err != nil {
		return lifecycle.Upgrade{}, err
	}
	after, err := a.readSpec(o.file)
	if err != nil {
		return lifecycle.Upgrade{}, err
	}
	return lifecycle.PlanBetween(ctx, before, after, o.UpgradeOptions, lifecycle.Options{Namespace: a.namespaceOffline(), Warn: a.warnText})
}

// forReading says what a plan that was made without a cluster is not good for.
func forReading(from string) string {
	if from == "" {
		return ""
	}
	return ", for reading: 'upgrade cluster --plan' takes plans of the cluster itself, made without --from"
}

// showPlan shows a person what is going to happen, whoever is asked in any case.
func (a *app) showPlan(p plan.Plan, o upgradeOptions) error {
	if !o.interactive && (a.options.Quiet || a.options.Output == outputJSON) {
		return nil
	}
	return a.style(a.err).Plan(a.err, p)
}

// savePlan writes the plan, all of it or nothing.
func savePlan(file string, p plan.Plan) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return errors.New("it is a directory; name a file")
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-")
	if err != nil {
		return withoutPath(err)
	}
	defer os.Remove(temporary.Name()) //nolint:errcheck // it has its name by then, unless writing failed, which is returned
	if _, err := temporary.Write(append(data, '\n')); err != nil {
		return withoutPath(err)
	}
	if err := temporary.Close(); err != nil {
		return withoutPath(err)
	}
	return withoutPath(os.Rename(temporary.Name(), file))
}

// withoutPath is an error without the path of a file that nobody named.
func withoutPath(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	default:
		return err
	}
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/upgradeplan"
)

func (a *app) validateUpgradePlanCommand() *cobra.Command {
	var file string
	var asked upgradeplan.Exchange
	cmd := &cobra.Command{
		Use:   "upgrade-plan -f FILE",
		Short: "Check the answer of a runtime extension to GenerateUpgradePlan as Cluster API does",
		Long: `Check the answer of a runtime extension to GenerateUpgradePlan as Cluster API does.

The file has the GenerateUpgradePlanResponse, and may have the
GenerateUpgradePlanRequest as a document of its own; else the flags say what was
asked for.`,
		Example: `  clusterctl-x validate upgrade-plan -f response.yaml --control-plane v1.30.0 --workers v1.29.0 --target v1.33.0`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			exchange, err := a.readExchange(file, asked)
			if err != nil {
				return err
			}
			var errs []error
			for _, problem := range upgradeplan.Check(exchange) {
				errs = append(errs, fmt.Errorf("%s: %w", fileName(file), problem))
			}
			if err := errors.Join(errs...); err != nil {
				return usageError{err}
			}
			workers := "the workers as few times as the version skew policy allows"
			switch {
			case exchange.FromWorkers == "" || exchange.FromWorkers == exchange.To:
				workers = "no workers move"
			case len(exchange.Workers) > 0:
				workers = "the workers through " + strings.Join(exchange.Workers, ", ")
			}
			if len(exchange.ControlPlane) == 0 {
				return a.result("%s: the plan is valid: the control plane stays at %s; %s", fileName(file), exchange.To, workers)
			}
			return a.result("%s: the plan is valid: the control plane through %s; %s", fileName(file), strings.Join(exchange.ControlPlane, ", "), workers)
		},
	}
	addFile(cmd, &file, "file with the response; - is standard input")
	cmd.Flags().StringVar(&asked.FromControlPlane, "control-plane", "", "version of the control plane that was asked for, in place of the request's")
	cmd.Flags().StringVar(&asked.FromWorkers, "workers", "", "oldest version of the workers that was asked for, in place of the request's")
	cmd.Flags().StringVar(&asked.To, "target", "", "version that was asked for, in place of the request's")
	return cmd
}

// readExchange reads a response, and the request where it is in the file. What the
// flags say comes first.
func (a *app) readExchange(file string, flags upgradeplan.Exchange) (upgradeplan.Exchange, error) {
	if file == "" {
		return flags, usageError{errors.New("-f FILE is required: the file with the GenerateUpgradePlanResponse")}
	}
	data, err := a.readFile("the response", "-f names the file with the GenerateUpgradePlanResponse, and - is standard input", file)
	if err != nil {
		return flags, err
	}
	exchange, err := upgradeplan.ReadExchange(data, flags)
	if errors.Is(err, upgradeplan.ErrNoRequest) {
		err = fmt.Errorf("%w: give --control-plane and --target, and --workers where there are some, or add the GenerateUpgradePlanRequest to the file", err)
	}
	if err != nil {
		return flags, usageError{fmt.Errorf("%s: %w", fileName(file), err)}
	}
	return exchange, nil
}

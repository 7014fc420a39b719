package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
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

// olderRequest reports whether a request has the one version that Cluster API's
// proposal had, in place of those of control plane and workers.
func olderRequest(document []byte) bool {
	var older struct {
		FromKubernetesVersion *string `json:"fromKubernetesVersion"`
	}
	return yaml.Unmarshal(document, &older) == nil && older.FromKubernetesVersion != nil
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
	wrong := func(format string, args ...any) (upgradeplan.Exchange, error) {
		return flags, usageError{fmt.Errorf("%s: %w", fileName(file), fmt.Errorf(format, args...))}
	}
	if len(data) > v1alpha1.MaxFileSize {
		return wrong("it is larger than %d bytes", v1alpha1.MaxFileSize)
	}
	var request *runtimehooksv1.GenerateUpgradePlanRequest
	var response *runtimehooksv1.GenerateUpgradePlanResponse
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var kind metav1.TypeMeta
		if err == nil {
			err = yaml.Unmarshal(document, &kind)
		}
		switch {
		case err != nil:
			return wrong("%w", err)
		case kind.Kind == "GenerateUpgradePlanRequest" && request == nil:
			if err = yaml.UnmarshalStrict(document, &request); err != nil && olderRequest(document) {
				return wrong("%s: fromKubernetesVersion is of an older form of the request; Cluster API asks with fromControlPlaneKubernetesVersion, and fromWorkersKubernetesVersion where there are workers: write these", kind.Kind)
			}
		case kind.Kind == "GenerateUpgradePlanResponse" && response == nil:
			err = yaml.UnmarshalStrict(document, &response)
		case kind != metav1.TypeMeta{}:
			return wrong("a document of kind %q is one too many: there is one GenerateUpgradePlanResponse, and at most one GenerateUpgradePlanRequest", kind.Kind)
		}
		switch {
		case err != nil:
			return wrong("%s: %w", kind.Kind, err)
		case kind.Kind != "" && kind.APIVersion != runtimehooksv1.GroupVersion.String():
			return wrong("%s: apiVersion is %q; write %s", kind.Kind, kind.APIVersion, runtimehooksv1.GroupVersion)
		}
	}
	switch {
	case response == nil:
		return wrong("there is no document of kind GenerateUpgradePlanResponse")
	case response.Status == runtimehooksv1.ResponseStatusFailure:
		return wrong("status: the extension had no plan: %s", response.Message)
	case response.Status != runtimehooksv1.ResponseStatusSuccess:
		return wrong("status: is %q; write %s or %s", response.Status, runtimehooksv1.ResponseStatusSuccess, runtimehooksv1.ResponseStatusFailure)
	}
	if request == nil {
		request = &runtimehooksv1.GenerateUpgradePlanRequest{}
	}
	exchange := upgradeplan.Exchange{
		FromControlPlane: cmp.Or(flags.FromControlPlane, request.FromControlPlaneKubernetesVersion),
		FromWorkers:      cmp.Or(flags.FromWorkers, request.FromWorkersKubernetesVersion),
		To:               cmp.Or(flags.To, request.ToKubernetesVersion),
	}
	if exchange.FromControlPlane == "" || exchange.To == "" {
		return wrong("nothing says what was asked for: give --control-plane and --target, and --workers where there are some, or add the GenerateUpgradePlanRequest to the file")
	}
	for _, step := range response.ControlPlaneUpgrades {
		exchange.ControlPlane = append(exchange.ControlPlane, step.Version)
	}
	for _, step := range response.WorkersUpgrades {
		exchange.Workers = append(exchange.Workers, step.Version)
	}
	return exchange, nil
}

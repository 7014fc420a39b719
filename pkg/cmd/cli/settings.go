package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/internal/collector"
	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/logs"
	"github.com/clusterctl-x/clusterctl-x/pkg/settings"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// configurable are the flags that may stand in the environment, as
// CLUSTERCTL_X_MANAGEMENT and so on, and in the configuration file.
func configurable() []string {
	return append(ConfigurableOfAll(), connection.CertificateFlag, connection.KeyFlag)
}

// ConfigurableOfAll are those of them that all commands have.
func ConfigurableOfAll() []string {
	return []string{"bundles", "color", "context", "kubeconfig", "management", "name", "namespace", providersFlag, "quiet", replaceBundlesFlag}
}

// Complete fills options that were not given as flags from the environment and
// the configuration file, and checks them all.
func (a *App) Complete(cmd *cobra.Command) error {
	_, a.command, _ = strings.Cut(cmd.CommandPath(), " ")
	_, a.Management.Starts = cmd.Annotations[startsAnnotation]
	collector.Start() // what does without settings is done before it would begin
	set, err := settings.Read(configurable())
	if err != nil {
		return usage.Wrap(err)
	}
	places, errs := set.Fill(cmd.Flags(), func(name, value string) error {
		if name == "namespace" { // the flag contradicts a file, and a default does not
			a.DefaultNamespace = value
			return nil
		}
		return cmd.Flags().Set(name, value)
	})
	if err := errors.Join(append(errs, a.checkOptions(cmd, places)...)...); err != nil {
		return usage.Wrap(err)
	}
	return logs.SetUp(a.Verbosity)
}

// WithoutSettings checks the flags of a command that the environment and the
// configuration file, which may be broken, are no use to.
func (a *App) WithoutSettings(cmd *cobra.Command, _ []string) error {
	return usage.Wrap(errors.Join(a.checkOptions(cmd, nil)...))
}

// checkOptions checks what can be checked of an option by itself.
func (a *App) checkOptions(cmd *cobra.Command, places map[string]string) []error {
	var errs []error
	wrong := func(flag, format string, args ...any) {
		where, ok := places[flag]
		if !ok {
			where = "--" + flag
		}
		errs = append(errs, fmt.Errorf(where+" "+format, args...))
	}
	if err := usage.CheckOneOf(a.Management.Kind, connection.Kinds()); err != nil {
		wrong("management", "%w", err)
	}
	if err := usage.CheckOneOf(a.Color, terminal.Colors()); err != nil {
		wrong("color", "%w", err)
	}
	if err := a.checkOutput(cmd); err != nil {
		errs = append(errs, err)
	}
	if namespace := cmp.Or(a.Namespace, a.DefaultNamespace); namespace != "" {
		for _, problem := range utilvalidation.IsDNS1123Label(namespace) {
			wrong("namespace", "is %q: %s", namespace, problem)
		}
	}
	if a.ReplaceBundles && a.Bundles == "" {
		wrong(replaceBundlesFlag, "needs --bundles FILE: the bundles to use instead")
	}
	if a.Timeout < 0 {
		wrong("timeout", "must not be negative")
	}
	if v := a.Verbosity; v < 0 || v > 9 {
		wrong("v", "must be 0 to 9, not %d", v)
	}
	return errs
}

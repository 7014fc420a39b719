package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/internal/collector"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// configurable are the flags that may stand in the environment, as
// CLUSTERCTL_X_MANAGEMENT and so on, and in the configuration file.
func configurable() []string {
	return append(ConfigurableOfAll(), extensionCertificateFlag, extensionKeyFlag)
}

// ConfigurableOfAll are those of them that all commands have.
func ConfigurableOfAll() []string {
	return []string{"bundles", "color", "context", "kubeconfig", "management", "name", "namespace", providersFlag, "quiet", replaceBundlesFlag}
}

// Complete fills options that were not given as flags from the environment and
// the configuration file, and checks them all.
func (a *App) Complete(cmd *cobra.Command) error {
	_, a.command, _ = strings.Cut(cmd.CommandPath(), " ")
	_, a.starts = cmd.Annotations[startsAnnotation]
	collector.Start() // what does without settings is done before it would begin
	settings, file, err := readSettings()
	if err != nil {
		return usage.Wrap(err)
	}
	var errs []error
	places := map[string]string{} // of options that are not from flags
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || !slices.Contains(configurable(), flag.Name) || !settings.IsSet(flag.Name) {
			return
		}
		places[flag.Name] = place(flag.Name, file)
		flags := cmd.Flags()
		if flag.Name == "namespace" { // the flag contradicts a file, and a default does not
			flags = pflag.NewFlagSet("", pflag.ContinueOnError)
			flags.StringVar(&a.Options.DefaultNamespace, "namespace", "", "")
		}
		if err := set(flags, flag.Name, settings.Get(flag.Name)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", places[flag.Name], err))
		}
	})
	if err := errors.Join(append(errs, a.checkOptions(cmd, places)...)...); err != nil {
		return usage.Wrap(err)
	}
	return a.setUpLog()
}

// WithoutSettings checks the flags of a command that the environment and the
// configuration file, which may be broken, are no use to.
func (a *App) WithoutSettings(cmd *cobra.Command, _ []string) error {
	if err := errors.Join(a.checkOptions(cmd, nil)...); err != nil {
		return usage.Wrap(err)
	}
	return nil
}

// readSettings reads the environment and the configuration file, and returns
// the path of the file, which need not exist.
func readSettings() (settings *viper.Viper, file string, err error) {
	settings = viper.New()
	settings.SetEnvPrefix("CLUSTERCTL_X")
	settings.SetEnvKeyReplacer(inVariables())
	settings.AutomaticEnv()
	dir, err := os.UserConfigDir()
	if err != nil {
		return settings, "", nil //nolint:nilerr // nor is there a file then
	}
	file = filepath.Join(dir, "clusterctl-x", "config.yaml")
	settings.SetConfigFile(file)
	if err := settings.ReadInConfig(); errors.Is(err, os.ErrNotExist) {
		return settings, file, nil
	} else if err != nil {
		return nil, "", fmt.Errorf("reading the configuration file %s: %w", file, err)
	}
	unknown := map[string]bool{}
	for _, key := range settings.AllKeys() {
		if name, _, _ := strings.Cut(key, "."); !slices.Contains(configurable(), name) {
			unknown[name] = true
		}
	}
	if len(unknown) > 0 {
		return nil, "", fmt.Errorf("%s: unknown settings: %s; there are: %s", file, strings.Join(slices.Sorted(maps.Keys(unknown)), ", "), strings.Join(configurable(), ", "))
	}
	return settings, file, nil
}

// inVariables makes the name of a flag one that variables may have.
func inVariables() *strings.Replacer { return strings.NewReplacer("-", "_") }

// place is where the value of a setting stands.
func place(name, file string) string {
	if variable := "CLUSTERCTL_X_" + inVariables().Replace(strings.ToUpper(name)); os.Getenv(variable) != "" {
		return variable
	}
	return file + ": " + name
}

func set(flags *pflag.FlagSet, name string, value any) error {
	switch value.(type) {
	case string, bool, int:
		return flags.Set(name, fmt.Sprint(value))
	default:
		return fmt.Errorf("must be text, not %v", value)
	}
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
	for _, choice := range []struct {
		flag, value string
		allowed     []string
	}{
		{"management", a.Options.Management, []string{managementAuto, managementKubeconfig, managementEmbedded}},
		{"color", a.Color, terminal.Colors()},
	} {
		if !slices.Contains(choice.allowed, choice.value) {
			wrong(choice.flag, "must be one of %s, not %q", strings.Join(choice.allowed, ", "), choice.value)
		}
	}
	if err := a.checkOutput(cmd); err != nil {
		errs = append(errs, err)
	}
	if namespace := cmp.Or(a.Namespace, a.Options.DefaultNamespace); namespace != "" {
		for _, problem := range utilvalidation.IsDNS1123Label(namespace) {
			wrong("namespace", "is %q: %s", namespace, problem)
		}
	}
	if a.ReplaceBundles && a.Bundles == "" {
		wrong(replaceBundlesFlag, "needs --bundles FILE: the bundles to use instead")
	}
	if a.Options.Timeout < 0 {
		wrong("timeout", "must not be negative")
	}
	if v := a.Options.Verbosity; v < 0 || v > 9 {
		wrong("v", "must be 0 to 9, not %d", v)
	}
	return errs
}

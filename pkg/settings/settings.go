// Package settings reads what a user sets once for all commands: variables of the
// environment, as CLUSTERCTL_X_NAMESPACE, and the configuration file.
package settings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// prefix begins the names of variables.
const prefix = "CLUSTERCTL_X"

// Settings are the values of flags that the user did not give on the command line.
type Settings struct {
	names  []string
	values *viper.Viper
	file   string // which need not exist
}

// Read reads the settings of these names, which are those of flags. Others in the
// configuration file are an error.
func Read(names []string) (*Settings, error) {
	s := &Settings{names: names, values: viper.New()}
	s.values.SetEnvPrefix(prefix)
	s.values.SetEnvKeyReplacer(inVariables())
	s.values.AutomaticEnv()
	dir, err := os.UserConfigDir()
	if err != nil {
		return s, nil //nolint:nilerr // nor is there a file then
	}
	s.file = filepath.Join(dir, "clusterctl-x", "config.yaml")
	s.values.SetConfigFile(s.file)
	if err := s.values.ReadInConfig(); errors.Is(err, os.ErrNotExist) {
		return s, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading the configuration file %s: %w", s.file, err)
	}
	unknown := map[string]bool{}
	for _, key := range s.values.AllKeys() {
		if name, _, _ := strings.Cut(key, "."); !slices.Contains(names, name) {
			unknown[name] = true
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("%s: unknown settings: %s; there are: %s", s.file, strings.Join(slices.Sorted(maps.Keys(unknown)), ", "), strings.Join(names, ", "))
	}
	return s, nil
}

// Fill sets the flags that the command line leaves out. It returns where the values stand
// that it set, by the names of the flags, and what is wrong with others.
func (s *Settings) Fill(flags *pflag.FlagSet, set func(name, value string) error) (places map[string]string, errs []error) {
	places = map[string]string{}
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || !slices.Contains(s.names, flag.Name) || !s.values.IsSet(flag.Name) {
			return
		}
		places[flag.Name] = s.place(flag.Name)
		value, err := text(s.values.Get(flag.Name))
		if err == nil {
			err = set(flag.Name, value)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", places[flag.Name], err))
		}
	})
	return places, errs
}

// inVariables makes the name of a flag one that variables may have.
func inVariables() *strings.Replacer { return strings.NewReplacer("-", "_") }

// place is where the value of a setting stands.
func (s *Settings) place(name string) string {
	if variable := prefix + "_" + inVariables().Replace(strings.ToUpper(name)); os.Getenv(variable) != "" {
		return variable
	}
	return s.file + ": " + name
}

// text returns a value as it would stand on a command line.
func text(value any) (string, error) {
	switch value.(type) {
	case string, bool, int:
		return fmt.Sprint(value), nil
	default:
		return "", fmt.Errorf("must be text, not %v", value)
	}
}

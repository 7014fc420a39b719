package input

import (
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// Selection are the flags that choose clusters.
type Selection struct {
	AllNamespaces bool
	// Selector is a selector of labels as kubectl takes it.
	Selector string
}

// AddTo adds the flags. What a command does with clusters begins their help.
func (s *Selection) AddTo(flags *pflag.FlagSet, does string) {
	flags.BoolVarP(&s.AllNamespaces, "all-namespaces", "A", false, does+" the clusters of all namespaces")
	flags.StringVarP(&s.Selector, "selector", "l", "", does+" the clusters with these labels, such as team=payments,stage!=test")
}

// Given reports whether one of the flags is there.
func (s *Selection) Given() bool { return s.AllNamespaces || s.Selector != "" }

// Read returns the clusters that the flags of a command choose, or its arguments, which name some.
func (s *Selection) Read(command string, names []string) (lifecycle.Selection, error) {
	of := lifecycle.Selection{AllNamespaces: s.AllNamespaces, Names: names}
	switch {
	case len(names) > 0 && s.AllNamespaces:
		return of, usage.Errorf("'%s' takes no names with --all-namespaces: give the namespace with -n", command)
	case len(names) > 0 && s.Selector != "":
		return of, usage.Errorf("'%s' takes either names or --selector", command)
	case slices.Contains(names, ""):
		return of, usage.Errorf("'%s': the name of a cluster must not be empty", command)
	}
	if s.Selector == "" {
		return of, nil
	}
	selector, err := labels.Parse(s.Selector)
	if err != nil {
		return of, usage.Errorf("--selector %q: %w", s.Selector, err)
	}
	of.Selector = selector
	return of, nil
}

package input

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// HoldPlace are the flags that name the place of a hold.
type HoldPlace struct{ Before, After string }

// AddTo adds the flags.
func (p *HoldPlace) AddTo(flags *pflag.FlagSet) {
	flags.StringVar(&p.Before, "before", "", "what the upgrade waits before: "+strings.Join(state.HoldPlaces("before"), ", "))
	flags.StringVar(&p.After, "after", "", "what the upgrade waits after: "+strings.Join(state.HoldPlaces("after"), ", "))
}

// Read returns the place that the flags of a command name.
func (p *HoldPlace) Read(command string) (state.HoldPoint, error) {
	if (p.Before == "") == (p.After == "") {
		return "", usage.Errorf("'%s' needs --before or --after; see '%s --help'", command, command)
	}
	flag, place := "before", p.Before
	if p.After != "" {
		flag, place = "after", p.After
	}
	return state.HoldPoint(flag + "-" + place), usage.CheckChoice(flag, place, state.HoldPlaces(flag))
}

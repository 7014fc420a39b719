package cli

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// full is a file on a disk without space.
type full struct{ io.Writer }

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestLostEvents: events are the result with -o json, so a command that cannot write
// them fails.
func TestLostEvents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		out  io.Writer
		want error
	}{
		"written": {&strings.Builder{}, nil},
		"lost":    {full{}, syscall.ENOSPC},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := New(terminal.Streams{Out: test.out, Err: io.Discard})
			a.Format = output.JSON
			progress := a.Progress()
			progress.Show(state.Cluster{Name: "prod"})
			progress.Close()
			if err := a.Lossy.Unwritten(); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

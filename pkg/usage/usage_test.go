package usage_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// TestErrorf: the error is about usage, and keeps what it wraps.
func TestErrorf(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("starting: %w", usage.Errorf("reading the plan: %w", os.ErrNotExist))
	if about := (usage.Error{}); !errors.As(err, &about) {
		t.Error("it is no usage.Error")
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Error("it lost what it wraps")
	}
}

func TestCheckChoice(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"":      "--color is required: one of auto, never",
		"never": "<nil>",
		"red":   `--color must be one of auto, never, not "red"`,
	} {
		if got := fmt.Sprint(usage.CheckChoice("color", value, []string{"auto", "never"})); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

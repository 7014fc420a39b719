package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// helmModule pins the helm that renders charts, seen from the repository's root.
const helmModule = "test/bench/peers"

// RenderChart runs the pinned helm with the arguments of 'helm template', in the root of the
// repository. It asks no cluster: template never does.
func RenderChart(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"tool", "helm", "template"}, args...)...)
	cmd.Dir = filepath.FromSlash(helmModule)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	output, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("helm template: %w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("helm template: %w", err)
	}
	return string(output), nil
}

// Package source fetches what generated files are made from, and writes them.
package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ModuleDir has the go command fetch a module and says where it is.
//
// It runs in an empty directory, so that the go.mod of this repository can
// neither replace the module nor be changed.
func ModuleDir(ctx context.Context, module string) (dir string, err error) {
	work, err := os.MkdirTemp("", "source-")
	if err != nil {
		return "", fmt.Errorf("create a working directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()

	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "PWD="+work)
	output, runErr := cmd.Output()
	return parseDownload(module, output, runErr)
}

// parseDownload reads what `go mod download -json` printed. That command also
// prints JSON when it fails, and then says there what went wrong.
func parseDownload(module string, output []byte, runErr error) (string, error) {
	var result struct{ Dir, Error string }
	if err := json.Unmarshal(output, &result); err != nil {
		return "", fmt.Errorf("download %s: %w", module, errors.Join(runErr, err))
	}
	if result.Error != "" {
		return "", fmt.Errorf("download %s: %s", module, result.Error)
	}
	if runErr != nil {
		return "", fmt.Errorf("download %s: %w", module, runErr)
	}
	return result.Dir, nil
}

// ReadModuleFile reads a file of a module, after fetching the module.
func ReadModuleFile(ctx context.Context, module, file string) ([]byte, error) {
	dir, err := ModuleDir(ctx, module)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
	if err != nil {
		return nil, fmt.Errorf("read a file of %s: %w", module, err)
	}
	return content, nil
}

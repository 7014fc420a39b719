package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ReplaceFile replaces the file at path in one step, so that an interrupted run
// leaves the old file and not half of the new one.
func ReplaceFile(path string, content []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("create a temporary file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()

	_, writeErr := temp.Write(content)
	if err := errors.Join(writeErr, temp.Chmod(0o644), temp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", temp.Name(), err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

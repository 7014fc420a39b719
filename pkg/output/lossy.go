package output

import (
	"fmt"
	"io"
)

// Lossy keeps the error of what cobra writes, helps and completions, and of events:
// cobra and view.Progress drop it.
type Lossy struct {
	io.Writer
	err error
}

func (l *Lossy) Write(data []byte) (int, error) {
	if _, err := l.Writer.Write(data); l.err == nil && err != nil {
		l.err = err
	}
	return len(data), nil
}

// Unwritten is the first error of writing.
func (l *Lossy) Unwritten() error {
	if l.err == nil {
		return nil
	}
	return fmt.Errorf("writing the output: %w", l.err)
}

package commandline

import (
	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// Filename is the flag that names files.
const Filename = "filename"

// fileFlag is the value of -f of a command that reads one file.
type fileFlag struct {
	file *string
	more []string
}

func (f *fileFlag) String() string { return *f.file }

// Type is what help calls the value.
func (f *fileFlag) Type() string { return "string" }

// Set takes the first file. CheckFile refuses another one: for completions the command line
// is parsed twice.
func (f *fileFlag) Set(file string) error {
	if *f.file != "" {
		f.more = append(f.more, file)
		return nil
	}
	*f.file = file
	return nil
}

// AddFile adds the flag -f of a command that reads one file.
func AddFile(cmd *cobra.Command, file *string, usage string) {
	cmd.Flags().VarP(&fileFlag{file: file}, Filename, "f", usage)
}

// CheckFile refuses a second file of a command that reads one.
func CheckFile(cmd *cobra.Command) error {
	flag := cmd.Flag(Filename)
	if flag == nil {
		return nil
	}
	if file, ok := flag.Value.(*fileFlag); ok && len(file.more) > 0 {
		return usage.Errorf("-f names %q and %q; '%s' reads one file", *file.file, file.more[0], cmd.CommandPath())
	}
	return nil
}

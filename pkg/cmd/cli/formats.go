package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// outputFlag is the flag that names the format of a result.
const outputFlag = "output"

// Annotations of the flag: the formats of the command, and what an error about another
// format says in addition.
const (
	formatsAnnotation = "clusterctl-x.io/formats"
	remedyAnnotation  = "clusterctl-x.io/remedy"
)

// Formats are the output formats of a command.
type Formats struct {
	// Names of the formats, the default first; those with a template are written as
	// jsonpath=TEMPLATE.
	Names []string
	// Usage follows the names in the help of the flag.
	Usage string
	// Remedy is what an error about another format says in addition.
	Remedy string
}

// ListFormats are those of commands that list something.
func ListFormats(names ...string) Formats {
	return Formats{Names: append(names, outputJSONPath+"TEMPLATE", outputGoTemplate+"TEMPLATE", outputCustomColumns+"HEADER:PATH,...")}
}

// AddOutput gives a command output formats of its own.
func (a *App) AddOutput(cmd *cobra.Command, formats Formats) {
	addOutput(cmd.Flags(), &a.Options.Output, formats)
}

func addOutput(flags *pflag.FlagSet, output *string, formats Formats) {
	flags.StringVarP(output, outputFlag, "o", OutputText, "output: "+listed(formats.Names)+formats.Usage)
	flags.Lookup(outputFlag).DefValue = formats.Names[0] // for the help; all commands share the value
	_ = flags.SetAnnotation(outputFlag, formatsAnnotation, formats.Names)
	_ = flags.SetAnnotation(outputFlag, remedyAnnotation, []string{formats.Remedy})
}

// listed writes a list as a sentence does.
func listed(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// checkOutput checks the format against those of the command.
func (a *App) checkOutput(cmd *cobra.Command) error {
	flag := cmd.Flag(outputFlag)
	formats, format := flag.Annotations[formatsAnnotation], a.Options.Output
	if !flag.Changed {
		return nil
	}
	if !slices.ContainsFunc(formats, func(name string) bool { return is(format, name) }) {
		err := fmt.Errorf("--output must be one of %s, not %q", strings.Join(formats, ", "), format)
		if len(formats) == 1 {
			err = fmt.Errorf("--output must be %s, not %q", formats[0], format)
		}
		if remedy := flag.Annotations[remedyAnnotation][0]; remedy != "" {
			err = fmt.Errorf("%w; %s", err, remedy)
		}
		a.Options.Output = OutputText // of the error
		return err
	}
	render, err := parseTemplate(format)
	a.render = render
	return err
}

// is reports whether a value of the flag has the format of a name.
func is(value, name string) bool {
	prefix, _, template := strings.Cut(name, "=")
	if !template {
		return value == name
	}
	argument, has := strings.CutPrefix(value, prefix+"=")
	return has && argument != ""
}

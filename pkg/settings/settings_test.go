package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/clusterctl-x/clusterctl-x/pkg/settings"
)

// configured has a configuration file, and returns its path.
func configured(t *testing.T, text string) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	dir, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "clusterctl-x", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestFill: the command line comes before the environment, and that before the file.
func TestFill(t *testing.T) {
	file := configured(t, "color: never\nquiet: true\nname: of-the-file\nreplace-bundles: [a]\nport: 7\n")
	t.Setenv("CLUSTERCTL_X_NAME", "of-the-environment")
	t.Setenv("CLUSTERCTL_X_REPLACE_BUNDLES", "")
	t.Setenv("CLUSTERCTL_X_OTHER", "of no flag that may be set")
	read, err := settings.Read([]string{"color", "context", "name", "port", "quiet", "replace-bundles"})
	if err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range []string{"color", "context", "name", "other", "port", "replace-bundles"} {
		flags.String(name, "default", "")
	}
	flags.Bool("quiet", false, "")
	if err := flags.Parse([]string{"--color", "always"}); err != nil {
		t.Fatal(err)
	}
	places, errs := read.Fill(flags, flags.Set)
	wantPlaces := map[string]string{"name": "CLUSTERCTL_X_NAME", "port": file + ": port", "quiet": file + ": quiet", "replace-bundles": file + ": replace-bundles"}
	if diff := cmp.Diff(wantPlaces, places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if got, want := fmt.Sprint(errs), "["+file+": replace-bundles: must be text, not [a]]"; got != want {
		t.Errorf("errors %s, want %s", got, want)
	}
	values := map[string]string{}
	flags.VisitAll(func(flag *pflag.Flag) { values[flag.Name] = flag.Value.String() })
	want := map[string]string{"color": "always", "context": "default", "name": "of-the-environment", "other": "default", "port": "7", "quiet": "true", "replace-bundles": "default"}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
}

// TestRead: a file that cannot be read, or that has settings which there are not, is an
// error; none is fine.
func TestRead(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"empty":            {"", "<nil>"},
		"unknown settings": {"timeout: 1m\nname: x\nb: {c: 1}\n", "$FILE: unknown settings: b, timeout; there are: name"},
		"no YAML":          {"\t", "reading the configuration file $FILE: "},
	} {
		file := configured(t, test.text)
		_, err := settings.Read([]string{"name"})
		if got := strings.ReplaceAll(fmt.Sprint(err), file, "$FILE"); got != test.want && (name != "no YAML" || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	if err := os.Remove(configured(t, "")); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Read(nil); err != nil {
		t.Errorf("without a file: %v", err)
	}
}

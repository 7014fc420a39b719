package v1alpha1_test

import (
	"encoding"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	type parsed struct {
		Duration time.Duration
		Text     string
		Err      string
	}
	const remedy = "write a duration such as 90s or 1m30s, or 0s"
	tests := map[string]struct {
		text string
		want parsed
	}{
		"seconds":     {"90s", parsed{Duration: 90 * time.Second, Text: "1m30s"}},
		"fraction":    {"1.5s", parsed{Duration: 1500 * time.Millisecond, Text: "1.5s"}},
		"zero":        {"0", parsed{Text: "0s"}},
		"no unit":     {"5", parsed{Text: "0s", Err: remedy}},
		"negative":    {"-5s", parsed{Text: "0s", Err: remedy}},
		"too long":    {"9999999h", parsed{Text: "0s", Err: remedy}},
		"nothing":     {"", parsed{Text: "0s", Err: remedy}},
		"no duration": {"soon", parsed{Text: "0s", Err: remedy}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var duration v1alpha1.Duration
			got := parsed{}
			if err := duration.UnmarshalText([]byte(test.text)); err != nil {
				got.Err = err.Error()
			}
			text, err := duration.MarshalText()
			if err != nil {
				t.Fatal(err)
			}
			got.Duration, got.Text = duration.Duration, string(text)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("duration %q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

// parsed is what a text was read to, and what that is written as.
type parsed[T any] struct {
	Value T
	Text  string
	Err   string
}

// parse reads a text into a value that has one already, which must stay where
// the text is wrong.
func parse[T encoding.TextMarshaler, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, value T, text string,
) parsed[T] {
	t.Helper()
	got := parsed[T]{}
	if err := P(&value).UnmarshalText([]byte(text)); err != nil {
		got.Err = err.Error()
	}
	written, err := value.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	got.Value, got.Text = value, string(written)
	return got
}

func TestIntOrPercent(t *testing.T) {
	t.Parallel()
	before := v1alpha1.IntOrPercent{Value: 7, Percent: true}
	number := func(value int, text string) parsed[v1alpha1.IntOrPercent] {
		return parsed[v1alpha1.IntOrPercent]{Value: v1alpha1.IntOrPercent{Value: value}, Text: text}
	}
	percent := func(value int, text string) parsed[v1alpha1.IntOrPercent] {
		return parsed[v1alpha1.IntOrPercent]{Value: v1alpha1.IntOrPercent{Value: value, Percent: true}, Text: text}
	}
	wrong := parsed[v1alpha1.IntOrPercent]{Value: before, Text: "7%", Err: "write a number of machines such as 2, or a percentage such as 40%"}
	tests := map[string]struct {
		text string
		want parsed[v1alpha1.IntOrPercent]
	}{
		"number":                   {"3", number(3, "3")},
		"none":                     {"0", number(0, "0")},
		"largest":                  {"9223372036854775807", number(9223372036854775807, "9223372036854775807")},
		"less than none":           {"-1", number(-1, "-1")}, // validations know the bounds
		"part":                     {"40%", percent(40, "40%")},
		"no part":                  {"0%", percent(0, "0%")},
		"more than all":            {"101%", percent(101, "101%")},
		"negative part":            {"-1%", percent(-1, "-1%")},
		"too large":                {"9223372036854775808", wrong},
		"nothing":                  {"", wrong},
		"percent sign alone":       {"%", wrong},
		"two percent signs":        {"40%%", wrong},
		"percent sign in front":    {"%40", wrong},
		"blank before the sign":    {"40 %", wrong},
		"blank in front":           {" 40", wrong},
		"leading zero":             {"040", wrong},
		"leading zero of a part":   {"040%", wrong},
		"plus":                     {"+3", wrong},
		"minus zero":               {"-0", wrong},
		"fraction":                 {"2.5", wrong},
		"fraction of a part":       {"33.3%", wrong},
		"exponent":                 {"1e3", wrong},
		"hexadecimal":              {"0x10", wrong},
		"underscore":               {"1_000", wrong},
		"digits of another script": {"\u0663", wrong},
		"word":                     {"all", wrong},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, parse(t, before, test.text)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func TestPort(t *testing.T) {
	t.Parallel()
	port := func(value v1alpha1.Port, text string) parsed[v1alpha1.Port] {
		return parsed[v1alpha1.Port]{Value: value, Text: text}
	}
	wrong := parsed[v1alpha1.Port]{Value: 7, Text: "7", Err: "must be a port: a number from 1 to 65535"}
	tests := map[string]struct {
		text string
		want parsed[v1alpha1.Port]
	}{
		"first":           {"1", port(1, "1")},
		"usual":           {"443", port(443, "443")},
		"last":            {"65535", port(65535, "65535")},
		"one too large":   {"65536", wrong},
		"wraps to 443":    {"65979", wrong},
		"very large":      {"99999999999999999999", wrong},
		"none":            {"0", wrong},
		"negative":        {"-1", wrong},
		"nothing":         {"", wrong},
		"leading zero":    {"0443", wrong},
		"plus":            {"+443", wrong},
		"fraction":        {"443.0", wrong},
		"hexadecimal":     {"0x1bb", wrong},
		"name":            {"https", wrong},
		"with an end":     {"443/tcp", wrong},
		"blank at an end": {"443 ", wrong},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, parse(t, v1alpha1.Port(7), test.text)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	content := func(text string) parsed[v1alpha1.Content] {
		return parsed[v1alpha1.Content]{Value: v1alpha1.Content(text), Text: text}
	}
	wrong := func(char string) parsed[v1alpha1.Content] {
		return parsed[v1alpha1.Content]{Value: "before", Text: "before", Err: "must be printable text; remove the character " + char}
	}
	tests := map[string]struct {
		text string
		want parsed[v1alpha1.Content]
	}{
		"nothing":                   {"", content("")},
		"one line":                  {"a", content("a")},
		"lines":                     {"a\nb\n", content("a\nb\n")},
		"empty lines and blanks":    {"\n\n  a \n \n", content("\n\n  a \n \n")},
		"tab":                       {"a\tb", content("a\tb")},
		"letters of many scripts":   {"é 漢 \U0001F600", content("é 漢 \U0001F600")},
		"what templates look like":  {"{{ .x }} $x `x` 'x' \"x\" \\", content("{{ .x }} $x `x` 'x' \"x\" \\")},
		"line end of Windows":       {"a\r\n", wrong("U+000D")},
		"null":                      {"a\x00", wrong("U+0000")},
		"escape":                    {"a\x1b[31m", wrong("U+001B")},
		"delete":                    {"\x7f", wrong("U+007F")},
		"next line":                 {"a\u0085b", wrong("U+0085")},
		"space that does not break": {"a\u00a0b", wrong("U+00A0")},
		"space without width":       {"a\u200bb", wrong("U+200B")},
		"line separator":            {"a\u2028b", wrong("U+2028")},
		"byte order mark":           {"\ufeffa", wrong("U+FEFF")},
		"the first of two":          {"a\u0001\u0002", wrong("U+0001")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, parse(t, v1alpha1.Content("before"), test.text)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

// TestValuesInAFile: whether such a value has quotes in the file is all the same,
// and a mapping or list is none.
func TestValuesInAFile(t *testing.T) {
	t.Parallel()
	type values struct {
		MaxUnhealthy v1alpha1.IntOrPercent
		Port         v1alpha1.Port
		Content      v1alpha1.Content
		Timeout      time.Duration
	}
	tests := map[string]struct {
		maxUnhealthy, port, content, timeout string
		want                                 values
		problems                             []string
	}{
		"without quotes":                         {"3", "5000", "a", "90s", values{v1alpha1.IntOrPercent{Value: 3}, 5000, "a", 90 * time.Second}, nil},
		"with quotes":                            {`"3"`, `"5000"`, `"a"`, `"90s"`, values{v1alpha1.IntOrPercent{Value: 3}, 5000, "a", 90 * time.Second}, nil},
		"other forms":                            {"40%", "'1'", "|\n      a\n      b\n", "0", values{v1alpha1.IntOrPercent{Value: 40, Percent: true}, 1, "a\nb\n", 0}, nil},
		"text that YAML reads as something else": {"0", "65535", "1.30", "1h", values{v1alpha1.IntOrPercent{}, 65535, "1.30", time.Hour}, nil},
		"mappings and lists": {"{a: b}", "[1]", "{}", "[]", values{}, []string{
			`cluster.yaml:16: spec.machineHealthCheck.maxUnhealthy: Invalid value: "a mapping": must be one value`,
			`cluster.yaml:17: spec.machineHealthCheck.nodeStartupTimeout: Invalid value: "a list": must be one value`,
			`cluster.yaml:20: spec.registryMirrorConfiguration.port: Invalid value: "a list": must be one value`,
			`cluster.yaml:21: spec.registryMirrorConfiguration.caCertContent: Invalid value: "a mapping": must be one value`,
		}},
		"wrong values": {"some", "0", `"\e"`, "-1s", values{}, []string{
			`cluster.yaml:16: spec.machineHealthCheck.maxUnhealthy: Invalid value: "some": write a number of machines such as 2, or a percentage such as 40%`,
			`cluster.yaml:17: spec.machineHealthCheck.nodeStartupTimeout: Invalid value: "-1s": write a duration such as 90s or 1m30s, or 0s`,
			`cluster.yaml:20: spec.registryMirrorConfiguration.port: Invalid value: "0": must be a port: a number from 1 to 65535`,
			`cluster.yaml:21: spec.registryMirrorConfiguration.caCertContent: Invalid value: must be printable text; remove the character U+001B`,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := minimal + "  machineHealthCheck:\n    maxUnhealthy: " + test.maxUnhealthy + "\n    nodeStartupTimeout: " + test.timeout +
				"\n  registryMirrorConfiguration:\n    endpoint: mirror\n    port: " + test.port + "\n    caCertContent: " + test.content
			if diff := cmp.Diff(test.problems, problemsOf(t, []byte(text))); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if test.problems != nil {
				return
			}
			spec := decode(t, text).Cluster.Spec
			check, mirror := spec.MachineHealthCheck, spec.RegistryMirrorConfiguration
			got := values{*check.MaxUnhealthy, mirror.Port, mirror.CACertContent, check.NodeStartupTimeout.Duration}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			written := string(marshal(t, decoded{Cluster: decode(t, text).Cluster}))
			again := decode(t, strings.TrimPrefix(written, "---\n")).Cluster.Spec
			if diff := cmp.Diff(spec, again, equateVersions()); diff != "" {
				t.Errorf("written and read again (-want +got):\n%s\n%s", diff, written)
			}
		})
	}
}

func TestEndpointHostPort(t *testing.T) {
	t.Parallel()
	type hostPort struct {
		host string
		port v1alpha1.Port
	}
	for text, want := range map[string]hostPort{
		"10.0.0.5":             {"10.0.0.5", 6443},
		"10.0.0.5:443":         {"10.0.0.5", 443},
		"fd00::5":              {"fd00::5", 6443},
		"[fd00::5]:443":        {"fd00::5", 443},
		"api.example.com":      {"api.example.com", 6443},
		"API.example.com:8443": {"api.example.com", 8443},
		"api.example.com:none": {"api.example.com:none", 6443},
	} {
		host, port := v1alpha1.Endpoint{Host: text}.HostPort()
		if got := (hostPort{host, port}); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// generatedSpecs are files that cannot stand in an archive. Each is made at the
// path that it is given.
func generatedSpecs() map[string]generatedSpec {
	const (
		cluster  = "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\nmetadata: {name: prod}\nspec:\n  kubernetesVersion: \"1.34\"\n"
		networks = "  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}}\n  datacenterRef: {kind: InMemoryDatacenterConfig, name: prod}\n"
		tooLarge = "cluster.yaml: the file has more than 1048576 bytes, which none of its kind needs: is this the right file?\n"
		notText  = "cluster.yaml: the file is not text in UTF-8: is this the right file?\n"
		tabs     = "not valid YAML: found character that cannot start any token; indent with spaces instead of tabs\n"
		tooDeep  = "not valid YAML: exceeded max depth of 10000; check indentation, quotes and brackets here and above\n"
		notThere = "error: reading the cluster spec: open cluster.yaml: no such file or directory; -f names the file that describes the cluster, and - is standard input\n"
		kubelet  = "spec.controlPlaneConfiguration.kubeletConfiguration"
		idle     = "warning: cluster.yaml:7: spec.datacenterRef: simulated machines run no kubelet, containerd or kube-apiserver that would read kubeletConfiguration: it is rendered, and has no visible effect\n"
		values   = "the document has more than 100000 values, each use of an alias counted: is this the right file?\n"
	)
	repeat := strings.Repeat
	bomb := "  controlPlaneConfiguration:\n    kubeletConfiguration:\n      a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("      a%d: &a%d [%s]\n", i+1, i+1, repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	deep := repeat("{a: ", 5000) + repeat("}", 5000)
	utf16 := func(text string) string {
		encoded := "\xff\xfe"
		for _, char := range []byte(text) {
			encoded += string([]byte{char, 0})
		}
		return encoded
	}
	specs := map[string]generatedSpec{
		"50 MB of comments":      {text(repeat("#", 50<<20)), tooLarge},
		"50 MB of groups":        {text(cluster + "  workerNodeGroupConfigurations:\n" + repeat("  - {name: md-0}\n", 50<<20/17)), tooLarge},
		"50 MB of documents":     {text(repeat("---\n"+cluster+networks, 170_000)), tooLarge},
		"50 MB in one line":      {text("a: " + repeat("[", 50<<20)), tooLarge},
		"a byte too large":       {text(repeat("\n", 1<<20+1)), tooLarge},
		"a terabyte of nothing":  {sparse(1 << 40), tooLarge},
		"file without end":       {link("/dev/zero"), tooLarge},
		"pipe without end":       {endless, tooLarge},
		"file that is none":      {link("/dev/null"), "cluster.yaml: the file is empty: is this the right file?\n"},
		"nothing":                {text(""), "cluster.yaml: the file is empty: is this the right file?\n"},
		"only a byte order mark": {text("\uFEFF"), "cluster.yaml: the file is empty: is this the right file?\n"},
		"a program":              {text("\x7fELF\x02\x01\x01\x00\x00\xff\xfe" + repeat("\x00\x90", 1000)), notText},
		"an archive":             {text("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"), notText},
		"NUL bytes":              {text(cluster + "\x00" + networks), notText},
		"UTF-16":                 {text(utf16(cluster + networks)), notText},
		"Latin-1":                {text("# gr\xfcn\n" + cluster + networks), notText},
		"CRLF and tabs":          {text(strings.ReplaceAll(cluster+networks+"  controlPlaneConfiguration:\n\t count: 3\n", "\n", "\r\n")), "cluster.yaml:9: " + tabs},
		"old line breaks of Mac": {text(strings.ReplaceAll(cluster+networks+"\tx: 1\n", "\n", "\r")), "cluster.yaml:1: not valid YAML: found character that cannot start any token; check indentation, quotes and brackets here and above\n"},
		"100000 groups":          {text(cluster + "  workerNodeGroupConfigurations:\n" + repeat("  - {}\n", 100_000) + networks), "cluster.yaml:99999: " + values},
		"deep brackets":          {text(cluster + "  addOns: " + repeat("[", 500_000) + "\n"), "cluster.yaml:6: " + tooDeep},
		"deep indentation":       {text(cluster + "  addOns:\n  " + repeat("- ", 250_000) + "x\n"), "cluster.yaml:7: " + tooDeep},
		"deep values": {
			text(cluster + networks + "  controlPlaneConfiguration: {kubeletConfiguration: " + deep + "}\n"),
			idle + "cluster.yaml:8: " + kubelet + ".a: Forbidden: unknown field; remove it\ncluster.yaml:8: " + kubelet + repeat(".a", 97) + `: Invalid value: "a mapping": has more than 100 levels above it; is it an alias of itself?` + "\n",
		},
		"name of 900000 characters": {
			text(strings.Replace(cluster, "prod", repeat("x", 900_000), 1) + networks),
			`cluster.yaml:3: metadata.name: Invalid value: "` + repeat("x", 300) + `...": must have at most 40 characters, and has 900000; shorten it` + "\n",
		},
		"alias of itself": {
			text(cluster + networks + "  controlPlaneConfiguration: {kubeletConfiguration: &a {a: *a}}\n"),
			idle + "cluster.yaml:8: " + kubelet + ".a: Forbidden: unknown field; remove it\ncluster.yaml:8: " + kubelet + repeat(".a", 97) + `: Invalid value: "a mapping": has more than 100 levels above it; is it an alias of itself?` + "\n",
		},
		"aliases that expand ten to ten": {text(cluster + networks + bomb), idle + "cluster.yaml:10: " + values},
		"missing file":                   {func(*testing.T, string) {}, notThere},
		"link to nothing":                {link("nothing"), notThere},
		"link to itself":                 {link(specFile), "error: reading the cluster spec: open cluster.yaml: too many levels of symbolic links; -f names the file that describes the cluster, and - is standard input\n"},
		"directory":                      {directory, "error: reading the cluster spec: read cluster.yaml: is a directory; -f names the file that describes the cluster, and - is standard input\n"},
	}
	if os.Geteuid() != 0 { // who may read anything
		specs["file without permission"] = generatedSpec{unreadable, "error: reading the cluster spec: open cluster.yaml: permission denied; -f names the file that describes the cluster, and - is standard input\n"}
	}
	return specs
}

type generatedSpec struct {
	make func(t *testing.T, path string)
	want string
}

func text(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) { t.Helper(); write(t, path, text) }
}

func link(to string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
}

// sparse is a file that needs no room on the disk.
func sparse(size int64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		write(t, path, "")
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
}

func directory(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func unreadable(t *testing.T, path string) {
	t.Helper()
	write(t, path, "")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
}

// endless is a link to a pipe, outside of the directory that is compared, into
// which something is written as long as somebody reads.
func endless(t *testing.T, path string) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link(pipe)(t, path)
	done := make(chan error, 1)
	var taken atomic.Int64
	go func() { done <- feed(pipe, &taken) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
		if taken := taken.Load(); taken > maxTaken {
			t.Errorf("%d bytes of a pipe without end were read, more than %d", taken, maxTaken)
		}
	})
}

// feed writes into a pipe until its reader closes it, and ends in any case.
func feed(pipe string, taken *atomic.Int64) (err error) {
	file, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	chunk := bytes.Repeat([]byte("# without end\n"), 1000)
	for taken.Load() < 64*maxTaken {
		n, err := file.Write(chunk)
		taken.Add(int64(n))
		if errors.Is(err, syscall.EPIPE) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestBrokenFiles gives each of them to validate.
func TestBrokenFiles(t *testing.T) {
	enterBroken(t)
	for name, spec := range generatedSpecs() {
		t.Run(name, func(t *testing.T) {
			spec.make(t, specFile)
			defer remove(t, specFile)
			allocated := allocatedBy(func() { checkBroken(t, spec.want, noInput(), "validate", "-f", specFile) })
			checkLines(t, spec.want)
			if strings.Contains(spec.want, "1048576 bytes") && allocated > maxRefusedMemory {
				t.Errorf("%d bytes were allocated, more than %d", allocated, maxRefusedMemory)
			}
		})
	}
}

// TestBrokenBundles gives the same kinds of files to --bundles.
func TestBrokenBundles(t *testing.T) {
	enterBroken(t)
	const spec = "spec.yaml"
	write(t, spec, "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\n")
	const tooLarge = "cluster.yaml: the file has more than 1048576 bytes, which none of its kind needs: is this the right file?\n"
	for name, bundles := range map[string]generatedSpec{
		"50 MB":            {text(strings.Repeat("#", 50<<20)), tooLarge},
		"file without end": {link("/dev/zero"), tooLarge},
		"pipe without end": {endless, tooLarge},
		"directory":        {directory, "error: reading the versions bundles: read cluster.yaml: is a directory\n"},
		"NUL bytes":        {text("a: b\x00"), "cluster.yaml: the file is not text in UTF-8: is this the right file?\n"},
	} {
		t.Run(name, func(t *testing.T) {
			bundles.make(t, specFile)
			defer remove(t, specFile)
			allocated := allocatedBy(func() {
				checkBroken(t, bundles.want, noInput(), "validate", "-f", spec, "--bundles", specFile)
			})
			if allocated > maxRefusedMemory {
				t.Errorf("%d bytes were allocated, more than %d", allocated, maxRefusedMemory)
			}
		})
	}
}

// TestBrokenInput gives broken specs to the standard input.
func TestBrokenInput(t *testing.T) {
	enterBroken(t)
	endless := &endlessReader{}
	for name, test := range map[string]struct {
		in   io.Reader
		want string
	}{
		"without end":   {endless, "standard input: the file has more than 1048576 bytes, which none of its kind needs: is this the right file?\n"},
		"nothing":       {noInput(), "standard input: the file is empty: is this the right file?\n"},
		"NUL bytes":     {strings.NewReader("a: b\x00"), "standard input: the file is not text in UTF-8: is this the right file?\n"},
		"not readable":  {brokenReader{}, "error: reading the cluster spec: input/output error\n"},
		"breaks within": {io.MultiReader(strings.NewReader("apiVersion: a\n"), brokenReader{}), "error: reading the cluster spec: input/output error\n"},
	} {
		t.Run(name, func(t *testing.T) { checkBroken(t, test.want, test.in, "validate", "-f", "-") })
	}
	if endless.taken > maxTaken {
		t.Errorf("%d bytes of an input without end were read, more than %d", endless.taken, maxTaken)
	}
}

// endlessReader ends far behind what may be read of it.
type endlessReader struct{ taken int }

func (r *endlessReader) Read(into []byte) (int, error) {
	if r.taken > 64*maxTaken {
		return 0, io.EOF
	}
	r.taken += len(into)
	return copy(into, bytes.Repeat([]byte("#"), len(into))), nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, syscall.EIO }

func allocatedBy(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

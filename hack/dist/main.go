// Command dist packs what was built for each platform into an archive, with a
// bill of materials and the licenses of all modules, and writes the checksums of all archives. The same files
// give the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// project is the name of the archives and of the program that people run.
const project = "clusterctl-x"

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Args[1:]); err != nil {
		log.Fatal("error: ", err)
	}
}

// release is what all archives have in common.
type release struct {
	version string
	time    time.Time
	out     string // directory
	extra   []file // in every archive
}

func run(ctx context.Context, args []string) error {
	var r release
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	flags.Usage = func() {
		_, _ = fmt.Fprintln(flags.Output(), "usage: dist [flags] FILE[=NAME IN THE ARCHIVE]...")
		flags.PrintDefaults()
	}
	stage := flags.String("stage", "", "directory with what was built for each platform, below OS-ARCHITECTURE")
	flags.StringVar(&r.out, "out", "", "directory for the archives")
	flags.StringVar(&r.version, "version", "", "version of the release")
	seconds := flags.Int64("time", 0, "modification time of all files, in seconds since 1970")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r.time = time.Unix(*seconds, 0).UTC()
	for _, arg := range flags.Args() {
		from, name, _ := strings.Cut(arg, "=")
		files, err := below(from, name)
		if err != nil {
			return err
		}
		r.extra = append(r.extra, files...)
	}
	platforms, err := os.ReadDir(*stage)
	if err != nil {
		return err
	}
	if len(platforms) == 0 {
		return fmt.Errorf("nothing was built below %s", *stage)
	}
	var archives []string
	for _, platform := range platforms {
		archive, err := r.pack(ctx, filepath.Join(*stage, platform.Name()))
		if err != nil {
			return fmt.Errorf("packing %s: %w", platform.Name(), err)
		}
		archives = append(archives, archive)
	}
	return writeSums(filepath.Join(r.out, "SHA256SUMS"), archives)
}

// pack writes the archive of one platform and returns its path.
func (r release) pack(ctx context.Context, dir string) (string, error) {
	programs, err := below(dir, "")
	if err != nil {
		return "", err
	}
	built, err := builtFrom(programs)
	if err != nil {
		return "", err
	}
	bill, err := r.bill(built)
	if err != nil {
		return "", err
	}
	terms, err := licenses(ctx, built)
	if err != nil {
		return "", err
	}
	system, architecture, ok := strings.Cut(filepath.Base(dir), "-")
	if !ok {
		return "", fmt.Errorf("%s is not OS-ARCHITECTURE", filepath.Base(dir))
	}
	name := fmt.Sprintf("%s_%s_%s_%s", project, r.version, system, architecture)
	for i := range programs {
		programs[i].executable = true
	}
	a := archive{root: name, time: r.time, files: slices.Concat(programs, r.extra, terms, []file{{name: "sbom.cdx.json", data: bill}})}
	if system == "windows" {
		return a.write(filepath.Join(r.out, name+".zip"), a.zip)
	}
	return a.write(filepath.Join(r.out, name+".tar.gz"), a.tar)
}

// file of an archive.
type file struct {
	name       string // slash-separated, below the archive's root
	path       string // of the content, unless it is data
	data       []byte
	executable bool
}

func (f file) content() ([]byte, error) {
	if f.path == "" {
		return f.data, nil
	}
	return os.ReadFile(f.path)
}

// below returns the file at from, or all files below it where it is a directory,
// under name in the archive.
func below(from, name string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(from, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is no regular file", p)
		}
		relative, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		files = append(files, file{name: path.Join(name, filepath.ToSlash(relative)), path: p})
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errors.New("no files in " + from)
	}
	if len(files) == 1 && files[0].name == "." {
		files[0].name = filepath.Base(from)
	}
	return files, err
}

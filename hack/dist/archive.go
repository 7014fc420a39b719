package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// archive is what is packed. Its bytes depend on these values and the content of
// the files alone: not on the order, owners, modes and times of files on the disk.
type archive struct {
	root  string // directory that everything is unpacked into
	time  time.Time
	files []file
}

func (f file) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// write writes the archive by pack, and returns the path.
func (a archive) write(to string, pack func(io.Writer) error) (_ string, err error) {
	slices.SortFunc(a.files, func(x, y file) int { return cmp.Compare(x.name, y.name) })
	out, err := os.Create(to)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	buffered := bufio.NewWriter(out)
	return to, errors.Join(pack(buffered), buffered.Flush())
}

func (a archive) tar(out io.Writer) error {
	compressed := gzip.NewWriter(out)
	packed := tar.NewWriter(compressed)
	for _, f := range a.files {
		content, err := f.content()
		if err != nil {
			return err
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(a.root, f.name), Size: int64(len(content)), Mode: int64(f.mode()),
			ModTime: a.time, Uname: "root", Gname: "root", Format: tar.FormatPAX,
		}
		if err := packed.WriteHeader(header); err != nil {
			return err
		}
		if _, err := packed.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(packed.Close(), compressed.Close())
}

func (a archive) zip(out io.Writer) error {
	packed := zip.NewWriter(out)
	for _, f := range a.files {
		content, err := f.content()
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: path.Join(a.root, f.name), Method: zip.Deflate, Modified: a.time}
		header.SetMode(f.mode())
		entry, err := packed.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(content); err != nil {
			return err
		}
	}
	return packed.Close()
}

// writeSums writes what 'sha256sum --check' reads.
func writeSums(to string, archives []string) error {
	var lines strings.Builder
	for _, archive := range archives {
		content, err := os.ReadFile(archive)
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), filepath.Base(archive))
	}
	return os.WriteFile(to, []byte(lines.String()), 0o644)
}

package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// containerImage is a container image that is built.
type containerImage struct {
	// names by which nodes know it.
	names []string
	// layers, each a directory that is the root of the file system.
	layers     []string
	entrypoint []string
	command    []string // arguments of the entrypoint, unless a pod has others
	user       string   // root, unless it is set
}

// archive writes container images as an OCI image layout, which containerd imports. What
// several images have in common it writes once.
type archive struct {
	tar       *tar.Writer
	layers    map[string]descriptor // by directory
	blobs     map[string]bool
	manifests []descriptor
}

// descriptor refers to a part of an image, as the OCI image specification says.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

const mediaTypes = "application/vnd.oci.image."

// writeArchive writes images to a file.
func writeArchive(path string, images []containerImage) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	a := &archive{tar: tar.NewWriter(file), layers: map[string]descriptor{}, blobs: map[string]bool{}}
	for _, i := range images {
		if err := a.image(i); err != nil {
			return err
		}
	}
	index := map[string]any{"schemaVersion": 2, "mediaType": mediaTypes + "index.v1+json", "manifests": a.manifests}
	if err := a.json("index.json", index); err != nil {
		return err
	}
	if err := a.json("oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"}); err != nil {
		return err
	}
	return a.tar.Close()
}

func (a *archive) image(i containerImage) error {
	var layers []descriptor
	var digests []string
	for _, dir := range i.layers {
		layer, err := a.layer(dir)
		if err != nil {
			return err
		}
		layers, digests = append(layers, layer), append(digests, layer.Digest)
	}
	config, err := a.jsonBlob(mediaTypes+"config.v1+json", map[string]any{
		"os": "linux", "architecture": runtime.GOARCH,
		"config": map[string]any{
			"Entrypoint": i.entrypoint,
			"Cmd":        i.command,
			"User":       i.user,
			// Images of the same content are not the same image.
			"Labels": map[string]string{"org.opencontainers.image.title": i.names[0]},
			"Env":    []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": digests},
	})
	if err != nil {
		return err
	}
	manifest, err := a.jsonBlob(mediaTypes+"manifest.v1+json", map[string]any{
		"schemaVersion": 2, "mediaType": mediaTypes + "manifest.v1+json", "config": config, "layers": layers,
	})
	if err != nil {
		return err
	}
	for _, name := range i.names {
		named := manifest
		named.Annotations = map[string]string{"io.containerd.image.name": name}
		a.manifests = append(a.manifests, named)
	}
	return nil
}

// layer writes a directory as a layer, which is not compressed: it is read once.
func (a *archive) layer(dir string) (d descriptor, err error) {
	if known, ok := a.layers[dir]; ok {
		return known, nil
	}
	file, err := os.CreateTemp("", "layer-")
	if err != nil {
		return descriptor{}, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	sum := sha256.New()
	if err := writeTree(io.MultiWriter(file, sum), dir); err != nil {
		return descriptor{}, err
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return descriptor{}, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return descriptor{}, err
	}
	a.layers[dir] = descriptor{MediaType: mediaTypes + "layer.v1.tar", Digest: digest(sum.Sum(nil)), Size: size}
	return a.layers[dir], a.blob(a.layers[dir], file)
}

// writeTree writes all files below a directory, which root owns, without their times.
func writeTree(w io.Writer, dir string) error {
	out := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		target := ""
		if entry.Type() == fs.ModeSymlink {
			if target, err = os.Readlink(path); err != nil {
				return err
			}
		}
		header, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		plain := &tar.Header{Typeflag: header.Typeflag, Name: name, Linkname: target, Mode: header.Mode, Size: header.Size}
		if err := out.WriteHeader(plain); err != nil || !info.Mode().IsRegular() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close() //nolint:errcheck // it is only read
		_, err = io.Copy(out, file)
		return err
	})
	return errors.Join(err, out.Close())
}

func (a *archive) jsonBlob(mediaType string, content any) (descriptor, error) {
	data, err := json.Marshal(content)
	if err != nil {
		return descriptor{}, err
	}
	sum := sha256.Sum256(data)
	d := descriptor{MediaType: mediaType, Digest: digest(sum[:]), Size: int64(len(data))}
	return d, a.blob(d, bytes.NewReader(data))
}

func digest(sum []byte) string { return "sha256:" + hex.EncodeToString(sum) }

func (a *archive) blob(d descriptor, content io.Reader) error {
	if a.blobs[d.Digest] {
		return nil
	}
	a.blobs[d.Digest] = true
	return a.file("blobs/sha256/"+d.Digest[len("sha256:"):], d.Size, content)
}

func (a *archive) json(name string, content any) error {
	data, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return a.file(name, int64(len(data)), bytes.NewReader(data))
}

func (a *archive) file(name string, size int64, content io.Reader) error {
	if err := a.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size}); err != nil {
		return err
	}
	_, err := io.Copy(a.tar, content)
	return err
}

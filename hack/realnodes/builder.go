package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/clusterctl-x/clusterctl-x/hack/source"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// builder builds directories and images that are named after what they are built from, and
// builds none twice.
type builder struct {
	dir, scripts string
	log          *log.Logger
}

func newBuilder(dir, scripts string) (builder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return builder{}, err
	}
	scripts, err = filepath.Abs(scripts)
	if err != nil {
		return builder{}, err
	}
	return builder{dir: dir, scripts: scripts, log: log.New(os.Stderr, "realnodes: ", 0)}, os.MkdirAll(dir, 0o755)
}

// shared is what all releases have in common.
type shared struct {
	programs string // containerd, CoreDNS and the like
	debian   string // with the file systems 'root' and 'proxy'
}

func (b builder) shared(ctx context.Context) (shared, error) {
	programs, err := b.step(ctx, "programs", "programs/build", []string{"programs"})
	if err != nil {
		return shared{}, err
	}
	files, err := source.ModuleDir(ctx, kind)
	if err != nil {
		return shared{}, err
	}
	debian, err := b.step(ctx, "debian", "debian", nil, filepath.Join(files, "images/base/files"))
	return shared{programs: programs, debian: debian}, err
}

// kubernetes returns the directory with the programs of a release.
func (b builder) kubernetes(ctx context.Context, r versionsbundle.Release) (string, error) {
	etcd, _, _ := strings.Cut(r.Images.Etcd.Tag(), "-")
	return b.step(ctx, "kubernetes-"+r.Version.String(), "kubernetes", nil, r.Version.String(), "v"+etcd)
}

// step has a script fill a directory, unless that was done before with the same script,
// sources and arguments. Arguments that are directories of this builder have such names, too.
func (b builder) step(ctx context.Context, name, script string, sources []string, args ...string) (string, error) {
	hash, err := b.hash(append(sources, script), append(args, runtime.Version()))
	if err != nil {
		return "", err
	}
	return b.once(name, hash, func(dir string) error {
		return b.logged(ctx, name, filepath.Join(b.scripts, script), append(args, dir)...)
	})
}

// once fills a directory that is named after what it is made of, unless that was done before.
func (b builder) once(name, hash string, fill func(dir string) error) (string, error) {
	result := filepath.Join(b.dir, name+"-"+hash)
	if _, err := os.Stat(result); err == nil {
		return result, nil
	}
	partial := result + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return "", err
	}
	if err := os.Mkdir(partial, 0o755); err != nil {
		return "", err
	}
	start := time.Now()
	b.log.Printf("building %s ...", name)
	if err := fill(partial); err != nil {
		return "", err
	}
	b.log.Printf("built %s in %s", name, time.Since(start).Round(time.Second))
	if err := b.forget(name); err != nil {
		return "", err
	}
	return result, os.Rename(partial, result)
}

// logged runs a program whose output is interesting if it fails.
func (b builder) logged(ctx context.Context, name, program string, args ...string) error {
	output, err := os.Create(filepath.Join(b.dir, name+".log"))
	if err != nil {
		return err
	}
	defer output.Close() //nolint:errcheck // what it says is for people
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building %s: %w; see %s", name, err, output.Name())
	}
	return nil
}

// forget removes what was built under a name before.
func (b builder) forget(name string) error {
	old, err := filepath.Glob(filepath.Join(b.dir, name+"-"+strings.Repeat("[0-9a-f]", hashLength)))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

const hashLength = 10

// hash returns what changes with the content of the sources, which are files or directories
// as seen from the scripts, or with the arguments.
func (b builder) hash(sources, args []string) (string, error) {
	sum := sha256.New()
	for _, arg := range args {
		sum.Write(fmt.Appendf(nil, "%q\n", strings.TrimPrefix(arg, b.dir)))
	}
	slices.Sort(sources)
	for _, s := range sources {
		err := filepath.WalkDir(filepath.Join(b.scripts, s), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(b.scripts, path)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(sum, "%q %x\n", "/"+filepath.ToSlash(name), sha256.Sum256(data))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:hashLength], nil
}

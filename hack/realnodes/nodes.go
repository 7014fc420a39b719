package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// repository has what is built here, in the engine only.
const repository = "realnodes/"

// loadBalancer is the image that Cluster API starts in front of the control plane machines.
const loadBalancer = "kindest/haproxy:v20230606-42a2262b"

// nodes makes the images of machines.
type nodes struct {
	builder
	shared
	releases []versionsbundle.Release
	programs map[v1alpha1.Version]string
}

// build makes the node image of a release, unless the engine has it, and returns its name.
func (n nodes) build(ctx context.Context, r versionsbundle.Release) (string, error) {
	base, err := n.base(ctx)
	if err != nil {
		return "", err
	}
	args := []string{base, n.shared.programs}
	for _, other := range n.releases {
		args = append(args, n.programs[other.Version], fmt.Sprint(other.Images))
	}
	hash, err := n.hash([]string{"nodes.go", "archive.go"}, args)
	if err != nil {
		return "", err
	}
	image := repository + "node:" + r.Version.String() + "-" + hash
	if n.has(ctx, image) {
		return image, nil
	}
	if err := os.RemoveAll(n.work()); err != nil {
		return "", err
	}
	defer os.RemoveAll(n.work()) //nolint:errcheck // the next build does it again
	images, err := n.images(r)
	if err != nil {
		return "", err
	}
	files := filepath.Join(n.work(), "files")
	root := filepath.Join(files, "image")
	for _, dir := range []string{"kind/images", "etc/containerd"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return "", err
		}
	}
	if err := writeArchive(filepath.Join(root, "kind/images/images.tar"), images); err != nil {
		return "", err
	}
	programs := map[string]string{
		filepath.Join(n.programs[r.Version], "bin/kubeadm"):         "usr/bin",
		filepath.Join(n.programs[r.Version], "bin/kubelet"):         "usr/bin",
		filepath.Join(n.shared.programs, "containerd"):              "usr/local/bin",
		filepath.Join(n.shared.programs, "containerd-shim-runc-v2"): "usr/local/bin",
		filepath.Join(n.shared.programs, "ctr"):                     "usr/local/bin",
		filepath.Join(n.shared.programs, "crictl"):                  "usr/local/bin",
	}
	for _, other := range n.releases {
		if other.Version.Compare(r.Version) > 0 {
			programs[filepath.Join(n.programs[other.Version], "bin/kubeadm")] = filepath.Dir(broughtKubeadm(other))
		}
	}
	for program, to := range programs {
		if err := os.MkdirAll(filepath.Join(root, to), 0o755); err != nil {
			return "", err
		}
		if err := os.Link(program, filepath.Join(root, to, filepath.Base(program))); err != nil {
			return "", err
		}
	}
	if err := n.configure(ctx, root, r); err != nil {
		return "", err
	}
	return image, n.docker(ctx, image, files, fmt.Sprintf("FROM %s\nSTOPSIGNAL SIGRTMIN+3\nCOPY image /\n", base))
}

// broughtKubeadm is where older node images have the kubeadm of a release: a machine joins with
// that of its control plane.
func broughtKubeadm(r versionsbundle.Release) string {
	return "/opt/kubeadm/" + r.Version.String() + "/kubeadm"
}

// kubeadm is what the versions bundle says of the kubeadm of a release.
func (n nodes) kubeadm(r versionsbundle.Release) (map[string]versionsbundle.Download, error) {
	program, err := os.ReadFile(filepath.Join(n.programs[r.Version], "bin/kubeadm"))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(program)
	download := versionsbundle.Download{URL: "file://" + broughtKubeadm(r), SHA256: hex.EncodeToString(sum[:])}
	return map[string]versionsbundle.Download{runtime.GOARCH: download}, nil
}

// configure writes the files that depend on a release or a program.
func (n nodes) configure(ctx context.Context, root string, r versionsbundle.Release) error {
	const containerd = "etc/containerd/config.toml"
	text, err := os.ReadFile(filepath.Join(n.debian, "root", containerd))
	if err != nil {
		return err
	}
	pause := regexp.MustCompile(`sandbox_image = .*`).ReplaceAllString(string(text), fmt.Sprintf("sandbox_image = %q", string(r.Images.Pause)))
	if err := os.WriteFile(filepath.Join(root, containerd), []byte(pause), 0o644); err != nil {
		return err
	}
	base, err := n.containerSpec(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "etc/containerd/cri-base.json"), base, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "kind/version"), []byte(r.Version.String()), 0o644)
}

// containerSpec returns what containerd starts containers with by itself, but without limits of
// resources, and with kind's script that hides the host's identity from them.
func (n nodes) containerSpec(ctx context.Context) ([]byte, error) {
	text, err := exec.CommandContext(ctx, filepath.Join(n.shared.programs, "ctr"), "oci", "spec").Output()
	if err != nil {
		return nil, fmt.Errorf("ctr oci spec: %w", err)
	}
	var spec map[string]any
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, err
	}
	process, ok := spec["process"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("ctr oci spec has no process: %s", text)
	}
	delete(process, "rlimits")
	spec["hooks"] = map[string]any{"createContainer": []any{map[string]any{"path": "/kind/bin/mount-product-files.sh"}}}
	return json.Marshal(spec)
}

// images returns the container images of a node. No machine can pull one. The DaemonSet of
// kube-proxy has the version of the control plane on nodes of older ones, too; and a
// control plane machine pulls the CoreDNS of the version that its cluster is upgraded from.
func (n nodes) images(r versionsbundle.Release) ([]containerImage, error) {
	dns := containerImage{entrypoint: []string{"/coredns"}}
	var images []containerImage
	for _, other := range n.releases {
		layer, err := n.layer(other, "kube-proxy", "usr/local/bin", filepath.Join(n.programs[other.Version], "bin/kube-proxy"))
		if err != nil {
			return nil, err
		}
		images = append(images, containerImage{
			names: []string{string(other.Images.KubeProxy)}, layers: []string{filepath.Join(n.debian, "proxy"), layer},
		})
		dns.names = append(dns.names, string(other.Images.CoreDNS))
	}
	plugin, err := kindnetd()
	if err != nil {
		return nil, err
	}
	own := filepath.Join(n.programs[r.Version], "bin")
	for _, program := range []struct {
		image      containerImage
		path, file string
	}{
		{dns, "", filepath.Join(n.shared.programs, "coredns")},
		{containerImage{names: []string{string(r.Images.Pause)}, entrypoint: []string{"/pause"}}, "", filepath.Join(n.shared.programs, "pause")},
		{containerImage{names: []string{plugin}, entrypoint: []string{"/bin/kindnetd"}}, "bin", filepath.Join(n.shared.programs, "kindnetd")},
		{containerImage{names: []string{string(r.Images.Etcd)}}, "usr/local/bin", filepath.Join(own, "etcd")},
		{containerImage{names: []string{string(r.Images.KubeAPIServer)}}, "usr/local/bin", filepath.Join(own, "kube-apiserver")},
		{containerImage{names: []string{string(r.Images.KubeControllerManager)}}, "usr/local/bin", filepath.Join(own, "kube-controller-manager")},
		{containerImage{names: []string{string(r.Images.KubeScheduler)}}, "usr/local/bin", filepath.Join(own, "kube-scheduler")},
	} {
		layer, err := n.layer(r, filepath.Base(program.file), program.path, program.file)
		if err != nil {
			return nil, err
		}
		program.image.layers = []string{layer}
		images = append(images, program.image)
	}
	return images, nil
}

// kindnetd returns the image of the network plugin that the add-on of that name has.
func kindnetd() (string, error) {
	manifest, err := config.AddOns.ReadFile("addons/kindnetd.yaml.tmpl")
	if err != nil {
		return "", err
	}
	image := regexp.MustCompile(`image: (\S+kindnetd\S+)`).FindSubmatch(manifest)
	if image == nil {
		return "", fmt.Errorf("config/addons/kindnetd.yaml.tmpl has no image of kindnetd; mend the search for it")
	}
	return string(image[1]), nil
}

func (n nodes) work() string { return filepath.Join(n.dir, "node.partial") }

// layer returns a directory with one program.
func (n nodes) layer(r versionsbundle.Release, name, path, program string) (string, error) {
	root := filepath.Join(n.work(), "layers", r.Version.String(), name)
	if err := os.MkdirAll(filepath.Join(root, path), 0o755); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(root, "tmp"), 0o777); err != nil {
		return "", err
	}
	to := filepath.Join(root, path, name)
	if err := os.RemoveAll(to); err != nil {
		return "", err
	}
	return root, os.Link(program, to)
}

// base makes the image that node images begin with, and the load balancer's.
func (n nodes) base(ctx context.Context) (string, error) {
	image := repository + "base:" + filepath.Base(n.debian)
	if n.has(ctx, image) {
		return image, nil
	}
	n.log.Printf("making %s ...", image)
	tar := exec.CommandContext(ctx, "tar", "--numeric-owner", "-C", filepath.Join(n.debian, "root"), "-c", ".")
	pipe, err := tar.StdoutPipe()
	if err != nil {
		return "", err
	}
	load := exec.CommandContext(ctx, "docker", "import", "--change", "ENV container=docker",
		"--change", `ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]`, "-", image)
	load.Stdin, load.Stderr = pipe, os.Stderr
	if err := tar.Start(); err != nil {
		return "", err
	}
	if err := load.Run(); err != nil {
		return "", fmt.Errorf("docker import: %w", err)
	}
	if err := tar.Wait(); err != nil {
		return "", fmt.Errorf("tar: %w", err)
	}
	empty, err := os.MkdirTemp(n.dir, "load-balancer-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(empty) //nolint:errcheck // it is empty
	return image, n.docker(ctx, loadBalancer, empty, "FROM "+image+
		"\nSTOPSIGNAL SIGUSR1\nENTRYPOINT [\"haproxy\", \"-W\", \"-db\", \"-f\", \"/usr/local/etc/haproxy/haproxy.cfg\"]\n")
}

func (n nodes) has(ctx context.Context, image string) bool {
	return exec.CommandContext(ctx, "docker", "image", "inspect", image).Run() == nil
}

// docker builds an image from a directory. The engine may be older than BuildKit.
func (n nodes) docker(ctx context.Context, image, dir, dockerfile string) error {
	n.log.Printf("making %s ...", image)
	cmd := exec.CommandContext(ctx, "docker", "build", "--quiet", "--tag", image, "--file", "-", dir)
	cmd.Env = append(os.Environ(), "DOCKER_BUILDKIT=0")
	cmd.Stdin = strings.NewReader(dockerfile)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("docker build: %w: %s", err, output)
	}
	return nil
}

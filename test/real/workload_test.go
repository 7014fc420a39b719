//go:build real

package real_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

type kubernetesClient = kubernetes.Interface

// eventually waits until a difference is empty: what is there may come to rest a little
// after the command that brought it.
func eventually(t *testing.T, difference func() string) {
	t.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, 3*time.Minute, true, func(context.Context) (bool, error) {
		last = difference()
		return last == "", nil
	})
	if err != nil {
		t.Errorf("(-want +got):\n%s", last)
	}
}

const (
	workloadImage = "realnodes.invalid/workload:test"
	workloadName  = "workload"
)

// buildWorkload writes the image of hack/realnodes/programs/workload to a file.
func buildWorkload(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, workloadName)
	build := exec.CommandContext(ctx, "go", "build", "-C", "../../hack/realnodes/programs", "-ldflags", "-s -w", "-o", program, "./workload")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the workload: %w: %s", err, output)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	var root bytes.Buffer
	files := tar.NewWriter(&root)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: workloadName, Mode: 0o755, Size: int64(len(data))}
	if err := files.WriteHeader(header); err != nil {
		return "", err
	}
	if _, err := files.Write(data); err != nil {
		return "", err
	}
	if err := files.Close(); err != nil {
		return "", err
	}
	if _, err := docker(ctx, root.Bytes(), "import", "--change", `ENTRYPOINT ["/workload"]`, "-", workloadImage); err != nil {
		return "", err
	}
	image := filepath.Join(dir, "workload.tar")
	_, err = docker(ctx, nil, "save", "--output", image, workloadImage)
	return image, err
}

// workload notices what an upgrade does to those who use a cluster.
type workload struct {
	cluster cluster
	api     kubernetesClient
	stop    context.CancelFunc
	running sync.WaitGroup
	outside asked   // requests to the API server through the load balancer
	counter counter // in etcd
	start   time.Time
}

// failure is a request that failed.
type failure struct {
	Time  time.Time
	Error string
}

// asked is what became of the requests to one address.
type asked struct {
	Requests int
	Failures []failure
}

// longest returns the longest time without an answer. Requests are sent one after the other.
func (a asked) longest(gap time.Duration) time.Duration {
	var most time.Duration
	for i := 0; i < len(a.Failures); {
		last := i
		for last+1 < len(a.Failures) && a.Failures[last+1].Time.Sub(a.Failures[last].Time) < gap {
			last++
		}
		most = max(most, a.Failures[last].Time.Sub(a.Failures[i].Time))
		i = last + 1
	}
	return most
}

// counter is a number in a ConfigMap that one client raises.
type counter struct {
	Acknowledged int // writes that the API server confirmed
	Unknown      int // writes without an answer
	Wrong        []string
}

// startWorkload starts a service of three pods in a cluster, and asks for it from a node
// of a group that stays as it is.
func startWorkload(t *testing.T, c cluster, api kubernetesClient, stays string) *workload {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w := &workload{cluster: c, api: api, stop: stop, start: time.Now()}
	t.Cleanup(stop)
	w.running.Go(func() { w.bringImages(ctx) })
	w.apply(t)
	service, err := api.CoreV1().Services(workloadName).Get(ctx, workloadName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kubernetesService, err := api.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		d, err := api.AppsV1().Deployments(workloadName).Get(ctx, workloadName, metav1.GetOptions{})
		if err != nil || d.Status.AvailableReplicas != 3 {
			return fmt.Sprintf("the workload is not available: %v", err)
		}
		return ""
	})
	nodes, err := api.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node := nodes.Items[slices.IndexFunc(nodes.Items, func(n corev1.Node) bool { return c.partOf(n.Name) == stays })]
	asker := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "asker"},
		Spec: corev1.PodSpec{NodeName: node.Name, Containers: []corev1.Container{{Name: "asker", Image: workloadImage, Args: []string{
			"ask", "service=http://" + service.Spec.ClusterIP, "name=http://workload.workload.svc.cluster.local",
			"apiServer=https://" + kubernetesService.Spec.ClusterIP + "/version",
		}}}},
	}
	if _, err := api.CoreV1().Pods(workloadName).Create(ctx, asker, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		if _, err := w.report(ctx); err != nil {
			return err.Error()
		}
		return ""
	})
	w.running.Go(func() { w.askAPIServer(ctx) })
	w.running.Go(func() { w.count(ctx) })
	return w
}

// apply creates the service and what belongs to it.
func (w *workload) apply(t *testing.T) {
	t.Helper()
	var objects struct {
		Deployment, Budget, Service json.RawMessage
	}
	text, err := os.ReadFile("testdata/workload.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, &objects); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: workloadName}}
	if _, err := w.api.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	post := func(client interface {
		Error() error
	}) {
		if err := client.Error(); err != nil {
			t.Fatal(err)
		}
	}
	inNamespace := "/namespaces/" + workloadName
	rest := w.api.CoreV1().RESTClient()
	for path, object := range map[string]json.RawMessage{
		"/apis/apps/v1" + inNamespace + "/deployments":            objects.Deployment,
		"/apis/policy/v1" + inNamespace + "/poddisruptionbudgets": objects.Budget,
		"/api/v1" + inNamespace + "/services":                     objects.Service,
	} {
		post(rest.Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body([]byte(object)).Do(t.Context()))
	}
}

// bringImages gives each machine the image of the workload: there is no registry to pull
// it from.
func (w *workload) bringImages(ctx context.Context) {
	image, err := os.ReadFile(suite.workload)
	if err != nil {
		panic(err)
	}
	brought := map[string]bool{}
	_ = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		machines, _ := w.cluster.containers(ctx)
		for _, machine := range machines {
			if brought[machine] || machine == w.cluster.name+"-lb" {
				continue
			}
			brought[machine] = importImages(ctx, machine, image) == nil // else containerd does not run yet
		}
		return false, nil
	})
}

// importImages gives a machine the images of an archive.
func importImages(ctx context.Context, machine string, archive []byte) error {
	_, err := docker(ctx, archive, "exec", "--interactive", machine, "ctr", "--namespace", "k8s.io", "images", "import", "-")
	return err
}

// report is what the asker saw.
func (w *workload) report(ctx context.Context) (map[string]asked, error) {
	data, err := w.api.CoreV1().RESTClient().Get().Namespace(workloadName).Resource("pods").Name("asker:8080").SubResource("proxy").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	var r map[string]asked
	return r, json.Unmarshal(data, &r)
}

// askAPIServer asks the API server through the load balancer.
func (w *workload) askAPIServer(ctx context.Context) {
	_ = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		begin := time.Now()
		_, err := w.api.Discovery().ServerVersion()
		w.outside.Requests++
		if err != nil && ctx.Err() == nil {
			w.outside.Failures = append(w.outside.Failures, failure{Time: begin, Error: err.Error()})
		}
		return false, nil
	})
}

// count raises the counter, and compares what it reads with what was written before.
func (w *workload) count(ctx context.Context) {
	maps := w.api.CoreV1().ConfigMaps(workloadName)
	_ = wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		found, err := maps.Get(ctx, "counter", metav1.GetOptions{})
		if apierrors.IsNotFound(err) && w.counter.Acknowledged == 0 {
			_, _ = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "counter"}, Data: map[string]string{"n": "0"}}, metav1.CreateOptions{})
			return false, nil
		}
		if err != nil {
			return false, nil //nolint:nilerr // another request counts these
		}
		n, err := strconv.Atoi(found.Data["n"])
		if err != nil || n < w.counter.Acknowledged || n > w.counter.Acknowledged+w.counter.Unknown {
			w.counter.Wrong = append(w.counter.Wrong, fmt.Sprintf("read %q after %d confirmed writes and %d without an answer",
				found.Data["n"], w.counter.Acknowledged, w.counter.Unknown))
			return true, errors.New("the counter is wrong")
		}
		// What is there now counts.
		w.counter.Acknowledged, w.counter.Unknown = n, 0
		found.Data["n"] = strconv.Itoa(n + 1)
		switch _, err := maps.Update(ctx, found, metav1.UpdateOptions{}); {
		case err == nil:
			w.counter.Acknowledged++
		case !apierrors.IsConflict(err):
			w.counter.Unknown++
		}
		return false, nil
	})
}

// lost is what the users of a cluster lost.
type lost struct {
	inside  map[string]asked
	outside asked
	counter counter
}

// finish ends the workload and prints what was lost.
func (w *workload) finish(t *testing.T) lost {
	t.Helper()
	var l lost
	eventually(t, func() string {
		var err error
		if l.inside, err = w.report(t.Context()); err != nil {
			return err.Error()
		}
		return ""
	})
	w.stop()
	w.running.Wait()
	l.outside, l.counter = w.outside, w.counter
	l.print(t, "the API server, through the load balancer", l.outside)
	for name, a := range l.inside {
		l.print(t, name+", from a node that stays", a)
	}
	t.Logf("the counter: %d writes confirmed; wrong: %v", l.counter.Acknowledged, l.counter.Wrong)
	if len(l.counter.Wrong) > 0 {
		t.Errorf("a write was lost or invented: %s", l.counter.Wrong)
	}
	return l
}

// gap is how far apart failures of one outage are at most: a request may take that long.
const gap = 15 * time.Second

func (l lost) print(t *testing.T, what string, a asked) {
	t.Helper()
	t.Logf("%s: %d of %d requests failed; longest outage %s", what, len(a.Failures), a.Requests, a.longest(gap).Round(time.Millisecond))
	for i, f := range a.Failures {
		if i == 10 {
			t.Logf("  and %d more", len(a.Failures)-i)
			break
		}
		t.Logf("  %s %s", f.Time.Format(time.TimeOnly), f.Error)
	}
}

// assertServed fails if a request to the service failed.
func (l lost) assertServed(t *testing.T) {
	t.Helper()
	if a := l.inside["service"]; a.Requests == 0 || len(a.Failures) > 0 {
		t.Errorf("the service: %d of %d requests failed", len(a.Failures), a.Requests)
	}
}

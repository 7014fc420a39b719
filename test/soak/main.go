// Command soak upgrades clusters on an embedded management cluster while
// everything that can be in the way is: kills of the command line, restarts of
// the API server and of the controllers, a second upgrade, a person who edits.
// It fails unless every cluster ends as its file says, no version was ever where
// it must not be, and no machine was made that the plan did not have.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/test/observer"
)

func main() {
	log.SetLogger(logr.Discard())
	kills := flag.Int("kills", 20, "how often the command line is killed in each upgrade")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments of the kills")
	only := flag.String("only", "", "name of the one trial to run, of those that a complete run prints; default: all")
	flag.Parse()
	fmt.Printf("seed %d\n", *seed)
	if err := run(context.Background(), *kills, *seed, *only); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// soak has the programs, a state directory and the kubeconfig of the management
// cluster in it.
type soak struct {
	cli, kubectl, home string
	config             *rest.Config
	random             *rand.Rand
}

func run(ctx context.Context, kills int, seed uint64, only string) (err error) {
	if all := (soak{}).trials(kills); only != "" && !slices.ContainsFunc(all, func(t trial) bool { return t.name == only }) {
		return fmt.Errorf("-only: there is no trial %q", only)
	}
	bin, err := filepath.Abs("bin")
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "clusterctl-x-soak-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	s := soak{cli: filepath.Join(bin, "clusterctl-x"), kubectl: filepath.Join(bin, "kubectl"), home: home, random: rand.New(rand.NewPCG(seed, 0))}
	if r := s.exec(ctx, s.cli, "management", "start"); r.code != 0 {
		return errors.New(r.stderr)
	}
	defer func() {
		if r := s.exec(ctx, s.cli, "management", "stop", "--remove", "--abandon-clusters"); r.code != 0 {
			err = errors.Join(err, errors.New(r.stderr))
		}
	}()
	if s.config, err = clientcmd.BuildConfigFromFlags("", s.kubeconfig()); err != nil {
		return err
	}
	for _, trial := range s.trials(kills) {
		if only != "" && trial.name != only {
			continue
		}
		began := time.Now()
		if err := trial.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", trial.name, err)
		}
		fmt.Printf("%s: as planned, after %s\n", trial.name, time.Since(began).Round(time.Second))
	}
	return nil
}

// longest is how long a run may live before it is killed: so that all kills fall
// into the minute and a half that an upgrade takes.
const longest = 8 * time.Second

// killed upgrades three clusters side by side, each under kills.
func (s soak) killed(ctx context.Context, kills int) error {
	var tasks errgroup.Group
	for i, versions := range [][2]string{{"1.31", "1.33"}, {"1.33", "1.35"}, {"1.34", "1.36"}} {
		moments := make([]time.Duration, kills)
		for j := range moments {
			moments[j] = time.Duration(s.random.Int64N(int64(longest)))
		}
		tasks.Go(func() error {
			began := time.Now()
			c, err := s.create(ctx, fmt.Sprintf("killed-%d", i), versions[0])
			if err != nil {
				return err
			}
			err = s.watched(ctx, c, versions[1], 0, func(ctx context.Context) error {
				for _, moment := range moments {
					if err := s.killAfter(ctx, c, moment); err != nil {
						return err
					}
				}
				return s.finish(ctx, c)
			})
			if err != nil {
				return fmt.Errorf("upgrade from %s to %s with %d kills: %w", versions[0], versions[1], kills, err)
			}
			fmt.Printf("upgrade from %s to %s with %d kills: as planned, after %s\n", versions[0], versions[1], kills, time.Since(began).Round(time.Second))
			return nil
		})
	}
	return tasks.Wait()
}

// disturbed upgrades a cluster, and disturbs it in the middle.
func (s soak) disturbed(ctx context.Context, name string, extra int, disturb func(context.Context, *cluster) error) error {
	c, err := s.create(ctx, name, "1.32")
	if err != nil {
		return err
	}
	return s.watched(ctx, c, "1.34", extra, func(ctx context.Context) error {
		if err := disturb(ctx, c); err != nil {
			return err
		}
		return s.finish(ctx, c)
	})
}

// cluster is one that is upgraded: one control plane machine and two groups of
// two.
type cluster struct {
	name, file string
}

func (s soak) create(ctx context.Context, name, version string) (*cluster, error) {
	c := &cluster{name: name, file: filepath.Join(s.home, name+".yaml")}
	if err := c.write(version); err != nil {
		return nil, err
	}
	if r := s.exec(ctx, s.cli, "create", "cluster", "-f", c.file); r.code != 0 {
		return nil, fmt.Errorf("creating cluster %s: %s", name, r.stderr)
	}
	return c, nil
}

func (c *cluster) write(version string) error {
	text := fmt.Sprintf(`apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: %s}
spec:
  kubernetesVersion: %q
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}}
  datacenterRef: {kind: InMemoryDatacenterConfig, name: any}
  workerNodeGroupConfigurations: [{name: md-0, count: 2}, {name: md-1, count: 2}]
`, c.name, version)
	return os.WriteFile(c.file, []byte(text), 0o600)
}

// watched asks for another version, lets the work be done under an observer, and
// holds what it saw against the plan; extra machines may have been made besides.
func (s soak) watched(ctx context.Context, c *cluster, version string, extra int, work func(context.Context) error) error {
	if err := c.write(version); err != nil {
		return err
	}
	planned, err := s.plan(ctx, c)
	if err != nil {
		return err
	}
	observing, err := observer.NewClient(s.config)
	if err != nil {
		return err
	}
	o, err := observer.Start(ctx, observing, client.ObjectKey{Namespace: "default", Name: c.name})
	if err != nil {
		return err
	}
	err = work(ctx)
	seen, stopErr := o.Stop(ctx)
	if err := errors.Join(err, stopErr); err != nil {
		return err
	}
	if err := asPlanned(seen, planned, extra); err != nil {
		return err
	}
	if left, err := s.plan(ctx, c); err != nil || !left.Empty() {
		return fmt.Errorf("something is left to do: %v %w", left.Steps, err)
	}
	return nil
}

// asPlanned holds what was seen against a plan; extra machines may have been made.
func asPlanned(seen observer.Report, planned plan.Plan, extra int) error {
	created := 0
	for _, count := range seen.Created {
		created += count
	}
	sum := planned.MachinesReplaced.ControlPlane + planned.MachinesReplaced.Workers + planned.MachinesAdded.ControlPlane + planned.MachinesAdded.Workers
	if created < sum || created > sum+extra {
		return fmt.Errorf("%d machines were made (%v), and the plan had %d", created, seen.Created, sum)
	}
	if len(seen.Wrong) > 0 {
		return fmt.Errorf("the observer saw: %s", strings.Join(seen.Wrong, "; "))
	}
	return nil
}

func (s soak) plan(ctx context.Context, c *cluster) (plan.Plan, error) {
	var p plan.Plan
	r := s.exec(ctx, s.cli, "plan", "upgrade", "-f", c.file, "-o", "json")
	if r.code != 0 {
		return p, errors.New(r.stderr)
	}
	return p, json.Unmarshal([]byte(r.stdout), &p)
}

// finish runs the upgrade to its end.
func (s soak) finish(ctx context.Context, c *cluster) error {
	if r := s.exec(ctx, s.cli, "upgrade", "cluster", "-f", c.file, "--yes", "--timeout", "15m"); r.code != 0 {
		return fmt.Errorf("the last run ended with %d: %s", r.code, r.stderr)
	}
	return nil
}

// result of a program; the code is negative where it was killed.
type result struct {
	stdout, stderr string
	code           int
}

func (s soak) kubeconfig() string {
	return filepath.Join(s.home, "embedded", "default", "kubeconfig")
}

func (s soak) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "CLUSTERCTL_X_HOME="+s.home, "CLUSTERCTL_X_MANAGEMENT=embedded", "HOME="+s.home)
	return cmd
}

func (s soak) exec(ctx context.Context, program string, args ...string) result {
	var stdout, stderr bytes.Buffer
	cmd := s.command(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		return result{code: 1, stderr: err.Error()}
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

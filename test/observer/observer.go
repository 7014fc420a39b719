// Package observer watches over a cluster while it is upgraded, independently of
// clusterctl-x: it reads the machines four times a second and notes every breach
// of the version skew policy, every downgrade, and every machine that was made.
package observer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/blang/semver/v4"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"k8s.io/apimachinery/pkg/runtime"
)

// rate is how often machines are read.
const rate = 250 * time.Millisecond

// maxLag is the skew policy of Kubernetes for nodes of 1.25 and newer.
const maxLag = 3

// Observer reads the machines of one cluster.
type Observer struct {
	client client.Client
	key    client.ObjectKey
	stop   context.CancelFunc
	done   sync.WaitGroup
	report Report
	seen   map[string]bool
	before map[string]semver.Version
}

// Report is what an observer saw.
type Report struct {
	// Breaches of the skew policy and downgrades, each once.
	Breaches []string
	// Created machines by part: control-plane or the MachineDeployment's name.
	Created map[string]int
	// Reads that the API server answered.
	Reads int
}

// Start begins to observe. Machines that are there already do not count as
// created. What the API server does not answer is read again at the next turn.
func Start(ctx context.Context, config *rest.Config, key client.ObjectKey) (*Observer, error) {
	scheme := runtime.NewScheme()
	if err := clusterv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("observing cluster %s: %w", key, err)
	}
	ctx, stop := context.WithCancel(ctx)
	o := &Observer{client: c, key: key, stop: stop, report: Report{Created: map[string]int{}}, seen: map[string]bool{}, before: map[string]semver.Version{}}
	if err := o.read(ctx, true); err != nil {
		stop()
		return nil, fmt.Errorf("observing cluster %s: %w", key, err)
	}
	o.done.Go(func() { o.run(ctx) })
	return o, nil
}

// Stop ends the observation.
func (o *Observer) Stop() Report {
	o.stop()
	o.done.Wait()
	return o.report
}

func (o *Observer) run(ctx context.Context) {
	ticker := time.NewTicker(rate)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = o.read(ctx, false)
		}
	}
}

// machine is one machine as far as versions go.
type machine struct {
	name, part string
	versions   []semver.Version // of the machine, and of its node once it is known
}

func (o *Observer) read(ctx context.Context, first bool) error {
	var list clusterv1.MachineList
	if err := o.client.List(ctx, &list, client.InNamespace(o.key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: o.key.Name}); err != nil {
		return err
	}
	o.report.Reads++
	var controlPlane, workers []machine
	for _, item := range list.Items {
		m, err := read(item)
		if err != nil {
			return err
		}
		if uid := string(item.UID); !o.seen[uid] {
			o.seen[uid] = true
			if !first {
				o.report.Created[m.part]++
				o.notDown(m)
			}
		}
		if m.part == controlPlaneName {
			controlPlane = append(controlPlane, m)
		} else {
			workers = append(workers, m)
		}
		if m.versions[0].GT(o.before[m.part]) {
			o.before[m.part] = m.versions[0]
		}
	}
	o.compare(controlPlane, workers)
	return nil
}

// controlPlaneName is the part that the control plane's machines belong to.
const controlPlaneName = "control-plane"

func read(item clusterv1.Machine) (machine, error) {
	m := machine{name: item.Name, part: item.Labels[clusterv1.MachineDeploymentNameLabel]}
	if _, ok := item.Labels[clusterv1.MachineControlPlaneLabel]; ok {
		m.part = controlPlaneName
	}
	texts := []string{item.Spec.Version}
	if item.Status.NodeInfo != nil && item.Status.NodeInfo.KubeletVersion != "" {
		texts = append(texts, item.Status.NodeInfo.KubeletVersion)
	}
	for _, text := range texts {
		version, err := semver.ParseTolerant(text)
		if err != nil {
			return m, fmt.Errorf("machine %s: %w", item.Name, err)
		}
		m.versions = append(m.versions, version)
	}
	return m, nil
}

// notDown looks at a new machine: none may be older than those that its part
// has had.
func (o *Observer) notDown(m machine) {
	if m.versions[0].LT(o.before[m.part]) {
		o.breach("%s: machine %s was made at %s after one at %s", m.part, m.name, m.versions[0], o.before[m.part])
	}
}

// compare holds every worker against every machine of the control plane.
func (o *Observer) compare(controlPlane, workers []machine) {
	for _, cp := range controlPlane {
		for _, w := range workers {
			for _, version := range w.versions {
				if version.GT(cp.versions[0]) {
					o.breach("%s at %s beside control plane machine %s at %s", w.name, version, cp.name, cp.versions[0])
				}
				if cp.versions[0].Minor > version.Minor+maxLag {
					o.breach("%s at %s beside control plane machine %s at %s", w.name, version, cp.name, cp.versions[0])
				}
			}
		}
	}
}

func (o *Observer) breach(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, known := range o.report.Breaches {
		if known == text {
			return
		}
	}
	o.report.Breaches = append(o.report.Breaches, text)
}

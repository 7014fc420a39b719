// Package observer watches over a cluster while it is upgraded: it looks four
// times a second, with a client of its own that knows nothing of clusterctl-x,
// and notes what must not be.
package observer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/rest"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

const (
	// Rate is how often an observer looks.
	Rate = 250 * time.Millisecond
	// maxLag is how many minors a node may be older than the newest API server.
	maxLag = 3
	// ControlPlane is the name of the control plane among the parts of a cluster.
	ControlPlane = "control-plane"
)

// Observer looks at one cluster.
type Observer struct {
	client  client.Client
	inSight []client.ListOption
	stop    context.CancelFunc
	looking sync.WaitGroup

	known   map[string]bool            // UIDs of the machines at the beginning
	created map[string]map[string]bool // part -> UIDs that came later
	asked   map[string]*version.Version
	wrong   []string
	lag     uint
	looked  int
}

// Report is what an observer saw.
type Report struct {
	// Wrong is what must not be, each thing once.
	Wrong []string
	// Created counts the machines that came after the beginning, by part.
	Created map[string]int
	// Lag is how many minors a worker was older than the newest machine of the
	// control plane, at most.
	Lag uint
	// Looked is how often the API server answered.
	Looked int
}

// NewClient returns a client of a management cluster.
func NewClient(config *rest.Config) (client.Client, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clusterv1.AddToScheme(scheme), controlplanev1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// Start begins to look at a cluster.
func Start(ctx context.Context, c client.Client, key client.ObjectKey) (*Observer, error) {
	ctx, stop := context.WithCancel(ctx)
	o := &Observer{
		client:  c,
		inSight: []client.ListOption{client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name}},
		stop:    stop,
		created: map[string]map[string]bool{},
		asked:   map[string]*version.Version{},
	}
	if err := o.look(ctx); err != nil {
		stop()
		return nil, fmt.Errorf("observing cluster %s: %w", key, err)
	}
	o.looking.Go(func() { o.run(ctx) })
	return o, nil
}

// Stop ends the looking, after a last look, and says what was seen.
func (o *Observer) Stop(ctx context.Context) (Report, error) {
	o.stop()
	o.looking.Wait()
	if err := o.look(ctx); err != nil {
		return Report{}, fmt.Errorf("observing for the last time: %w", err)
	}
	report := Report{Wrong: o.wrong, Created: map[string]int{}, Lag: o.lag, Looked: o.looked}
	for part, uids := range o.created {
		report.Created[part] = len(uids)
	}
	return report, nil
}

func (o *Observer) run(ctx context.Context) {
	ticker := time.NewTicker(Rate)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = o.look(ctx) // where the API server is gone, nobody sees anything
		}
	}
}

// look reads everything once, and judges it.
func (o *Observer) look(ctx context.Context) error {
	var machines clusterv1.MachineList
	var deployments clusterv1.MachineDeploymentList
	var controlPlanes controlplanev1.KubeadmControlPlaneList
	for _, list := range []client.ObjectList{&machines, &deployments, &controlPlanes} {
		if err := o.client.List(ctx, list, o.inSight...); err != nil {
			return err
		}
	}
	o.looked++
	o.count(machines.Items)
	o.skew(machines.Items)
	for _, d := range deployments.Items {
		o.neverLower("MachineDeployment/"+d.Name, d.Spec.Template.Spec.Version)
	}
	for _, cp := range controlPlanes.Items {
		o.neverLower("KubeadmControlPlane/"+cp.Name, cp.Spec.Version)
	}
	return nil
}

func (o *Observer) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(o.wrong, text) {
		o.wrong = append(o.wrong, text)
	}
}

func (o *Observer) count(machines []clusterv1.Machine) {
	first := o.known == nil
	if first {
		o.known = map[string]bool{}
	}
	for _, m := range machines {
		uid, part := string(m.UID), PartOf(m)
		switch {
		case first:
			o.known[uid] = true
		case !o.known[uid]:
			if o.created[part] == nil {
				o.created[part] = map[string]bool{}
			}
			o.created[part][uid] = true
		}
	}
}

// PartOf is the part that a machine belongs to.
func PartOf(m clusterv1.Machine) string {
	if _, ok := m.Labels[clusterv1.MachineControlPlaneLabel]; ok {
		return ControlPlane
	}
	for _, label := range []string{v1alpha1.WorkerNodeGroupLabel, clusterv1.ClusterTopologyMachineDeploymentNameLabel} {
		if group := m.Labels[label]; group != "" {
			return group
		}
	}
	return strings.TrimPrefix(m.Labels[clusterv1.MachineDeploymentNameLabel], m.Spec.ClusterName+"-")
}

// skew compares every worker with every machine of the control plane, each with
// what it is to run and what it runs. A machine that is being deleted runs.
func (o *Observer) skew(machines []clusterv1.Machine) {
	var oldest, newest *version.Version
	for _, m := range machines {
		if PartOf(m) != ControlPlane {
			continue
		}
		for _, v := range versionsOf(m) {
			if oldest == nil || v.LessThan(oldest) {
				oldest = v
			}
			if newest == nil || newest.LessThan(v) {
				newest = v
			}
		}
	}
	if oldest == nil {
		o.note("there was no machine of the control plane")
		return
	}
	for _, m := range machines {
		if PartOf(m) == ControlPlane {
			continue
		}
		for _, v := range versionsOf(m) {
			if oldest.LessThan(v) {
				o.note("Machine/%s at %s was newer than the oldest machine of the control plane, at %s", m.Name, v, oldest)
			}
			if newest.Minor() > v.Minor() {
				o.lag = max(o.lag, newest.Minor()-v.Minor())
			}
			if newest.Minor() > v.Minor()+maxLag {
				o.note("Machine/%s at %s was too old for a machine of the control plane at %s", m.Name, v, newest)
			}
		}
	}
}

// versionsOf are those of a machine and its node.
func versionsOf(m clusterv1.Machine) []*version.Version {
	texts := []string{m.Spec.Version}
	if m.Status.NodeInfo != nil {
		texts = append(texts, m.Status.NodeInfo.KubeletVersion)
	}
	var versions []*version.Version
	for _, text := range texts {
		if v, err := version.ParseSemantic(text); err == nil {
			versions = append(versions, v)
		}
	}
	return versions
}

func (o *Observer) neverLower(object, text string) {
	v, err := version.ParseSemantic(text)
	if err != nil {
		o.note("%s has the version %q", object, text)
		return
	}
	if before := o.asked[object]; before != nil && v.LessThan(before) {
		o.note("%s was set from %s down to %s", object, before, v)
	}
	o.asked[object] = v
}

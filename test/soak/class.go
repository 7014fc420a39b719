package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/test/observer"
)

const (
	classClusters = 20
	// atOnce is how many clusters are created, and waited for, at the same time.
	atOnce = 5
)

// classChange gives the kubelets of the workers of twenty clusters another
// argument, by one change of their class. Each worker machine is replaced once.
func (s soak) classChange(ctx context.Context) error {
	r := s.exec(ctx, s.cli, "generate", "clusterclass", "--provider", "inmemory")
	if r.code != 0 {
		return errors.New(r.stderr)
	}
	before, after := filepath.Join(s.home, "class.yaml"), filepath.Join(s.home, "changed-class.yaml")
	changed, err := moreVerbose([]byte(r.stdout))
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(before, []byte(r.stdout), 0o600), os.WriteFile(after, changed, 0o600), s.apply(ctx, before)); err != nil {
		return err
	}
	clusters := make([]*cluster, classClusters)
	err = each(clusters, func(i int) (err error) {
		clusters[i], err = s.createManaged(ctx, fmt.Sprintf("class-%02d", i))
		return err
	})
	if err != nil {
		return err
	}
	planned, err := s.planClass(ctx, after)
	if err != nil {
		return err
	}
	if got := planned.MachinesReplaced; len(planned.Clusters) != classClusters || got != (plan.Machines{Workers: classClusters}) {
		return fmt.Errorf("the plan has %d clusters and %+v machines", len(planned.Clusters), got)
	}
	if err := s.rollClass(ctx, after, clusters, planned); err != nil {
		return err
	}
	left, err := s.planClass(ctx, after)
	if err == nil && left.MachinesReplaced != (plan.Machines{}) {
		err = fmt.Errorf("something is left to do: %+v", left.MachinesReplaced)
	}
	return err
}

// each does something for all clusters, some of them at once.
func each(clusters []*cluster, do func(i int) error) error {
	var tasks errgroup.Group
	tasks.SetLimit(atOnce)
	for i := range clusters {
		tasks.Go(func() error { return do(i) })
	}
	return tasks.Wait()
}

// moreVerbose adds a patch to the ClusterClass among documents.
func moreVerbose(text []byte) ([]byte, error) {
	var all bytes.Buffer
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var object unstructured.Unstructured
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return all.Bytes(), nil
		}
		if err == nil && object.GetKind() == "ClusterClass" {
			err = addPatch(&object)
		}
		if err != nil {
			return nil, err
		}
		data, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		all.WriteString("---\n" + string(data))
	}
}

func addPatch(class *unstructured.Unstructured) error {
	patches, _, err := unstructured.NestedSlice(class.Object, "spec", "patches")
	if err != nil {
		return err
	}
	var patch map[string]any
	err = yaml.Unmarshal([]byte(`
name: more-verbose
definitions:
- selector:
    apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
    kind: KubeadmConfigTemplate
    matchResources: {machineDeploymentClass: {names: ['*']}}
  jsonPatches:
  - {op: add, path: /spec/template/spec/joinConfiguration/nodeRegistration/kubeletExtraArgs, value: [{name: v, value: "3"}]}
`), &patch)
	if err != nil {
		return err
	}
	return unstructured.SetNestedSlice(class.Object, append(patches, patch), "spec", "patches")
}

func (s soak) apply(ctx context.Context, file string) error {
	if r := s.exec(ctx, s.kubectl, "--kubeconfig", s.kubeconfig(), "apply", "-n", "default", "-f", file); r.code != 0 {
		return errors.New(r.stderr)
	}
	return nil
}

// createManaged creates a small cluster from the class.
func (s soak) createManaged(ctx context.Context, name string) (*cluster, error) {
	c := &cluster{name: name, file: filepath.Join(s.home, name+".yaml")}
	if err := c.write("1.34"); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(c.file)
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(data), "[{name: md-0, count: 2}, {name: md-1, count: 2}]", "[{name: md-0, count: 1}]") + "  clusterClass: {name: inmemory}\n"
	if err := os.WriteFile(c.file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if r := s.exec(ctx, s.cli, "create", "cluster", "-f", c.file); r.code != 0 {
		return nil, fmt.Errorf("creating cluster %s: %s", name, r.stderr)
	}
	return c, nil
}

func (s soak) planClass(ctx context.Context, file string) (plan.ClassPlan, error) {
	var p plan.ClassPlan
	r := s.exec(ctx, s.cli, "plan", "clusterclass", "-f", file, "-o", "json")
	if r.code != 0 {
		return p, errors.New(r.stderr)
	}
	return p, json.Unmarshal([]byte(r.stdout), &p)
}

// rollClass applies the changed class under an observer of each cluster, and
// holds what they saw against the plan.
func (s soak) rollClass(ctx context.Context, file string, clusters []*cluster, planned plan.ClassPlan) error {
	observing, err := observer.NewClient(s.config)
	if err != nil {
		return err
	}
	observers := make([]*observer.Observer, len(clusters))
	for i, c := range clusters {
		if observers[i], err = observer.Start(ctx, observing, client.ObjectKey{Namespace: "default", Name: c.name}); err != nil {
			return err
		}
	}
	if err := s.apply(ctx, file); err != nil {
		return err
	}
	return each(clusters, func(i int) error {
		name := clusters[i].name
		// Cluster API comes to each cluster in its time, and what it has not come to
		// looks done.
		if r := s.exec(ctx, s.kubectl, "--kubeconfig", s.kubeconfig(), "wait", "machinedeployment", "-n", "default", "-l", "cluster.x-k8s.io/cluster-name="+name,
			"--for=jsonpath={.metadata.generation}=2", "--timeout=5m"); r.code != 0 {
			return fmt.Errorf("cluster %s: %s", name, r.stderr)
		}
		if r := s.exec(ctx, s.cli, "watch", "cluster", name, "--timeout", "15m"); r.code != 0 {
			return fmt.Errorf("cluster %s: %s", name, r.stderr)
		}
		seen, err := observers[i].Stop(ctx)
		if err == nil {
			err = asPlanned(seen, planned.Clusters[i], 0)
		}
		if err == nil {
			var left plan.Plan
			if left, err = s.plan(ctx, clusters[i]); err == nil && !left.Empty() {
				err = fmt.Errorf("something is left to do: %v", left.Steps)
			}
		}
		if err != nil {
			return fmt.Errorf("cluster %s: %w", name, err)
		}
		return nil
	})
}

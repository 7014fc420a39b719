package validations_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// aManagedSpec is a file of a cluster from a class.
const aManagedSpec = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: managed}
spec:
  kubernetesVersion: "1.34"
  clusterClass:
    name: own
    variables:
      size: 2
  controlPlaneConfiguration:
    count: 3
    variables: {size: 3}
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  workerNodeGroupConfigurations:
  - name: md-0
  - name: md-1
    count: 1
    variables:
      size: 4
`

// TestAdmission: what an API server says about a Cluster is told at the fields of
// the file that it comes from.
func TestAdmission(t *testing.T) {
	t.Parallel()
	const upgrade, other = "; 'clusterctl-x plan upgrade' says which one the cluster can have", "; change it, or the ClusterClass"
	for path, want := range map[string]string{
		"spec.topology.version":                                                    "c.yaml:5: spec.kubernetesVersion: Invalid value: \"x\": no" + upgrade,
		"spec.topology.classRef.name":                                              "c.yaml:6: spec.clusterClass: Invalid value: \"x\": no" + other,
		"spec.topology.variables[size].value.a":                                    "c.yaml:9: spec.clusterClass.variables.size.a: Invalid value: \"x\": no" + other,
		"spec.topology.controlPlane.replicas":                                      "c.yaml:11: spec.controlPlaneConfiguration.count: Invalid value: \"x\": no" + other,
		"spec.topology.controlPlane.healthCheck.checks":                            "c.yaml:10: spec.controlPlaneConfiguration.machineHealthCheck: Invalid value: \"x\": no" + other,
		"spec.topology.controlPlane.variables.overrides[size]":                     "c.yaml:12: spec.controlPlaneConfiguration.variables.size: Invalid value: \"x\": no" + other,
		"spec.topology.workers.machineDeployments":                                 "c.yaml:16: spec.workerNodeGroupConfigurations: Invalid value: \"x\": no" + other,
		"spec.topology.workers.machineDeployments[1].replicas":                     "c.yaml:19: spec.workerNodeGroupConfigurations[1].count: Invalid value: \"x\": no" + other,
		"spec.topology.workers.machineDeployments[md-1].variables.overrides[size]": "c.yaml:21: spec.workerNodeGroupConfigurations[1].variables.size: Invalid value: \"x\": no" + other,
		"spec.clusterNetwork.pods.cidrBlocks":                                      "c.yaml:14: spec.clusterNetwork.pods.cidrBlocks: Invalid value: \"x\": no" + other,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			config := devProviders().Decode("c.yaml", []byte(aManagedSpec))
			err := validations.Admission(config, []metav1.StatusCause{
				{Type: metav1.CauseTypeFieldValueInvalid, Field: path, Message: `Invalid value: "x": no`},
				{Type: metav1.CauseTypeFieldValueInvalid, Field: "<nil>", Message: "Invalid value: null: correct the existing errors"},
			})
			if refused := (validations.Refused{}); !errors.As(err, &refused) || refused.Error() != want {
				t.Errorf("error is\n%v\nwant\n%s", err, want)
			}
		})
	}
}

func TestOfCause(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]struct {
		cause metav1.CauseType
		text  string
	}{
		"Forbidden: no":  {metav1.CauseTypeForbidden, "a: Forbidden: no"},
		"no":             {"", "a: Forbidden: no"},
		"Required value": {metav1.CauseTypeFieldValueRequired, "a: Required value: Required value"},
		"Invalid value: 9:  in body should be less": {metav1.CauseTypeFieldValueInvalid, "a: Invalid value: 9: should be less"},
		"Invalid value: 9: b in body should be":     {metav1.CauseTypeFieldValueInvalid, "a: Invalid value: 9: should be"},
	} {
		if got := validations.OfCause(metav1.StatusCause{Type: want.cause, Field: "a", Message: message}).Error(); got != want.text {
			t.Errorf("%s is %q, want %q", message, got, want.text)
		}
	}
}

func TestClassVersions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		versions []string
		want     []string
	}{
		"none":                              {},
		"one":                               {versions: []string{"v1.34.1"}},
		"patches":                           {versions: []string{"v1.33.1", "v1.33.2", "v1.34.0"}},
		"pre-releases":                      {versions: []string{"v1.33.1", "v1.34.0-rc.1", "v1.34.0"}},
		"builds without order":              {versions: []string{"v1.34.1+b", "v1.34.1+a"}},
		"builds without order, once more":   {[]string{"v1.34.1+a", "v1.34.1+a"}, []string{`spec.kubernetesVersions[1]: Invalid value: "v1.34.1+a": must be newer than v1.34.1+a before it; list the versions from the oldest to the newest, each once`}},
		"builds with numbers, out of order": {[]string{"v1.34.1+2", "v1.34.1+1"}, []string{`spec.kubernetesVersions[1]: Invalid value: "v1.34.1+1": must be newer than v1.34.1+2 before it; list the versions from the oldest to the newest, each once`}},
		"minor":                             {[]string{"1.34"}, []string{`spec.kubernetesVersions[0]: Invalid value: "1.34": must be an exact version such as v1.34.2; write it out`}},
		"without v":                         {[]string{"1.34.1"}, []string{`spec.kubernetesVersions[0]: Invalid value: "1.34.1": must be an exact version such as v1.34.2; write it out`}},
		"twice":                             {[]string{"v1.34.1", "v1.34.1"}, []string{`spec.kubernetesVersions[1]: Invalid value: "v1.34.1": must be newer than v1.34.1 before it; list the versions from the oldest to the newest, each once`}},
		"order before gap":                  {[]string{"v1.31.1", "v1.33.1", "v1.32.1"}, []string{`spec.kubernetesVersions[2]: Invalid value: "v1.32.1": must be newer than v1.33.1 before it; list the versions from the oldest to the newest, each once`}},
		"gap":                               {[]string{"v1.32.1", "v1.34.1", "v1.36.1"}, []string{`spec.kubernetesVersions[1]: Invalid value: "v1.34.1": leaves out a minor after v1.32.1, and a control plane moves one minor at a time; add a version of each minor between`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, err := range validations.ClassVersions(test.versions) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func withMachines(class validations.UsedClass, kind string) validations.UsedClass {
	class.Spec.Workers.MachineDeployments[0].Infrastructure.TemplateRef.Kind = kind
	return class
}

// TestOtherClass: the kinds of what a class makes must stay, those of workers as
// far as both classes have them; without a provider nothing is known of it.
func TestOtherClass(t *testing.T) {
	t.Parallel()
	class := func(provider, machine string, workers ...string) validations.UsedClass {
		reference := func(kind string) clusterv1.ClusterClassTemplateReference {
			return clusterv1.ClusterClassTemplateReference{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: kind, Name: "any"}
		}
		c := &clusterv1.ClusterClass{}
		c.Name = "class"
		c.Spec.Infrastructure.TemplateRef = reference("DevClusterTemplate")
		if machine != "" {
			c.Spec.ControlPlane.MachineInfrastructure.TemplateRef = reference(machine)
		}
		for _, name := range workers {
			deployment := clusterv1.MachineDeploymentClass{Class: name}
			deployment.Infrastructure.TemplateRef = reference(name + "Template")
			deployment.Bootstrap.TemplateRef = reference(provider + "BootstrapTemplate") // any other may take its place
			c.Spec.Workers.MachineDeployments = append(c.Spec.Workers.MachineDeployments, deployment)
		}
		return validations.UsedClass{ClusterClass: c, Provider: provider}
	}
	const begins = `c.yaml:7: spec.clusterClass.name: Invalid value: "class": cluster managed is made from ClusterClass class: `
	const ends = ", and Cluster API cannot replace one kind with another; use a class with the same kinds, or create a new cluster"
	config := devProviders().Decode("c.yaml", []byte(aManagedSpec))
	for name, test := range map[string]struct {
		before, after validations.UsedClass
		want          string
	}{
		"same":                     {class("a", "M", "w"), class("a", "M", "w"), ""},
		"other workers":            {class("", "M", "w"), class("", "M", "x"), ""},
		"other machine of workers": {withMachines(class("", "M", "w"), "NTemplate"), class("", "M", "w"), "its worker machine of class w is a N and would become a w"},
		"other bootstrap":          {class("a", "M", "w"), class("", "M", "w"), ""},
		"unknown":                  {class("a", "M"), class("", "M"), ""},
		"other provider":           {class("a", "M"), class("b", "M"), "its machines are of provider a and would become those of b"},
		"other machine":            {class("a", "MTemplate"), class("b", "NTemplate"), "its control plane machine is a M and would become a N"},
		"without machine":          {class("", "M"), class("", ""), "its control plane machine is a M and would become nothing"},
	} {
		want := ""
		if test.want != "" {
			want = begins + test.want + ends
		}
		got := ""
		if err := validations.OtherClass(config, test.before, test.after); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: error is\n%s\nwant\n%s", name, got, want)
		}
	}
}

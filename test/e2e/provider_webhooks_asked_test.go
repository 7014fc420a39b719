package e2e_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// The smallest objects that the providers accept.
const (
	awsCluster = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSCluster
metadata: {name: small}
spec:
  region: eu-central-1
`
	awsTemplate = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: small}
spec:
  template:
    spec:
      instanceType: m7i.large
`
	gcpCluster = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: GCPCluster
metadata: {name: small}
spec:
  project: ours
  region: europe-west3
  network: {}
`
	gcpTemplate = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: GCPMachineTemplate
metadata: {name: small}
spec:
  template:
    spec:
      instanceType: n2-standard-2
`
)

// assertCanCreate sends the sample and the golden files of a provider to its webhooks.
func assertCanCreate(t *testing.T, instance, provider string) {
	sample := filepath.Join(t.TempDir(), "sample.yaml")
	writeSpec(t, sample, cli(t, 0, "generate", "clusterconfig", "sample", "--provider", provider).stdout)
	goldens, err := filepath.Glob("../../pkg/manifests/testdata/" + provider + "-*/cluster.yaml")
	if err != nil || len(goldens) < 2 {
		t.Fatalf("golden files of %s: %v, %v", provider, goldens, err)
	}
	created := regexp.MustCompile(`^cluster (default|fleet)/(sample|prod): [0-9]+ objects would be created \(server dry run\)\n$`)
	for _, file := range append(goldens, sample) {
		if said := cli(t, 0, "create", "cluster", "-f", file, "--name", instance, "--dry-run=server").stdout; !created.MatchString(said) {
			t.Errorf("%s: %q", file, said)
		}
	}
}

// TestProviderWebhooks asks the webhooks of AWS and GCP, and the schemas of their kinds.
func TestProviderWebhooks(t *testing.T) {
	t.Parallel()
	const instance = "provider-webhooks"
	startProviderWebhooks(t, instance)
	namespace := newNamespace(t, instance, "asked")
	r, err := everyone.readers.of(instance)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("installed", func(t *testing.T) { assertInstalled(t, instance) })
	newNamespace(t, instance, "fleet") // that of golden files
	for _, provider := range []string{"aws", "gcp"} {
		t.Run("created/"+provider, func(t *testing.T) { assertCanCreate(t, instance, provider) })
		t.Run("random/"+provider, func(t *testing.T) { assertRandomSpecsAccepted(t, instance, namespace, provider) })
	}
	for kind, c := range acceptedByProviders() {
		t.Run("accepted/"+kind, func(t *testing.T) {
			object, err := r.wouldStore(t.Context(), namespace, c.manifest)
			if err != nil {
				t.Fatal(err)
			}
			got, err := yaml.Marshal(object.Object["spec"])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.spec, string(got)); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			// Those that are changed below.
			kubectl(t, instance, []byte(c.manifest), "create", "-n", namespace, "-f", "-")
		})
	}
	for name, c := range answersOfProviders() {
		t.Run("answered/"+name, func(t *testing.T) {
			got := ""
			if err := c.write(t.Context(), r, namespace); err != nil {
				got = objectValue.ReplaceAllString(err.Error(), "Invalid value: OBJECT: ")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// assertInstalled compares the kinds that are installed, the versions that Cluster API finds
// them by, and which of their webhooks are asked.
func assertInstalled(t *testing.T, instance string) {
	const group = ".infrastructure.cluster.x-k8s.io"
	got := map[string]string{}
	for _, crd := range list[metav1.PartialObjectMetadata](t, instance, "", "customresourcedefinitions") {
		if name, ours := strings.CutSuffix(crd.Name, group); ours && !strings.HasPrefix(name, "dev") && !strings.HasPrefix(name, "docker") {
			got[name] = crd.Labels["cluster.x-k8s.io/v1beta1"] + crd.Labels["cluster.x-k8s.io/v1beta2"]
		}
	}
	for _, c := range list[admissionregistrationv1.MutatingWebhookConfiguration](t, instance, "", "mutatingwebhookconfigurations") {
		for _, w := range c.Webhooks {
			note(got, w.Rules, "mutating")
		}
	}
	for _, c := range list[admissionregistrationv1.ValidatingWebhookConfiguration](t, instance, "", "validatingwebhookconfigurations") {
		for _, w := range c.Webhooks {
			note(got, w.Rules, "validating")
		}
	}
	const aws, gcp = "v1beta1_v1beta2", "v1beta1"
	want := map[string]string{
		"awsclusters":                    aws + " mutating validating",
		"awsclustertemplates":            aws + " mutating validating",
		"awsmachines":                    aws + " mutating validating",
		"awsmachinetemplates":            aws + " validating",
		"awsclustercontrolleridentities": aws + " mutating validating",
		"awsclusterroleidentities":       aws + " mutating validating",
		"awsclusterstaticidentities":     aws + " mutating validating",
		"gcpclusters":                    gcp + " mutating validating",
		"gcpclustertemplates":            gcp + " mutating validating",
		"gcpmachines":                    gcp + " mutating validating",
		"gcpmachinetemplates":            gcp + " mutating validating",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

// note adds to the kinds which webhooks they have.
func note(kinds map[string]string, rules []admissionregistrationv1.RuleWithOperations, webhook string) {
	if resource := rules[0].Resources[0]; kinds[resource] != "" {
		kinds[resource] += " " + webhook
	}
}

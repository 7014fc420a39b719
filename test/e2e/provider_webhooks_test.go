package e2e_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// startProviderWebhooks starts an embedded management cluster that has the kinds of AWS and
// GCP, and asks the providers' own webhooks about their objects until the test ends. No
// controller of theirs runs.
func startProviderWebhooks(t *testing.T, instance string) {
	t.Helper()
	cli(t, 0, "management", "start", "--name", instance)
	program := filepath.Join(filepath.Dir(everyone.cli), "providerwebhooks")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%v: run 'make providerwebhooks' first", err)
	}
	home := filepath.Join(everyone.home, "embedded", instance)
	cmd := exec.CommandContext(t.Context(), program, "--kubeconfig", filepath.Join(home, "kubeconfig"), "--cert-dir", filepath.Join(home, "pki"))
	var stderr buffer
	cmd.Env, cmd.Stderr = everyone.environment(), &stderr
	// The program ends with its input: with this process, however that ends.
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // it was killed when the context of the test ended
	if said, err := bufio.NewReader(stdout).ReadString('\n'); said != "ready\n" {
		t.Fatalf("%s said %q: %v: %s", program, said, err, stderr.String())
	}
	awaitProviderWebhooks(t, instance)
}

// awaitProviderWebhooks: the API server sees configurations of webhooks a moment after they
// were written, those of AWS last.
func awaitProviderWebhooks(t *testing.T, instance string) {
	t.Helper()
	r, err := everyone.readers.of(instance)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the API server asks validating webhooks", func(ctx context.Context) bool {
		_, err := r.wouldStore(ctx, "default", awsTemplate+"      providerID: any\n")
		if err != nil && !strings.Contains(err.Error(), "denied the request") {
			t.Fatal(err)
		}
		return err != nil
	})
	until(t, "the API server asks mutating webhooks", func(ctx context.Context) bool {
		object, err := r.wouldStore(ctx, "default", awsCluster)
		if err != nil {
			t.Fatal(err)
		}
		_, defaulted, _ := unstructured.NestedMap(object.Object, "spec", "identityRef")
		return defaulted
	})
}

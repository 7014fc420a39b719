package components

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// TestCalled: which creation reaches the Service of a webhook.
func TestCalled(t *testing.T) {
	t.Parallel()
	rule := func(operation admissionv1.OperationType, resources ...string) admissionv1.RuleWithOperations {
		return admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{operation},
			Rule:       admissionv1.Rule{APIGroups: []string{"cluster.x-k8s.io"}, APIVersions: []string{"v1beta2"}, Resources: resources},
		}
	}
	service := admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "capi-system", Name: "webhooks"}}
	for name, test := range map[string]struct {
		webhook admissionv1.MutatingWebhook
		want    string
	}{
		"a rule about creation":  {admissionv1.MutatingWebhook{ClientConfig: service, Rules: []admissionv1.RuleWithOperations{rule(admissionv1.Update, "machines"), rule(admissionv1.Create, "clusters")}}, "capi-system/webhooks cluster.x-k8s.io/v1beta2, Resource=clusters true"},
		"no rule about creation": {admissionv1.MutatingWebhook{ClientConfig: service, Rules: []admissionv1.RuleWithOperations{rule(admissionv1.Update, "machines")}}, " /, Resource= false"},
		"no resources":           {admissionv1.MutatingWebhook{ClientConfig: service, Rules: []admissionv1.RuleWithOperations{rule(admissionv1.Create)}}, " /, Resource= false"},
		"no Service":             {admissionv1.MutatingWebhook{Rules: []admissionv1.RuleWithOperations{rule(admissionv1.Create, "clusters")}}, " /, Resource= false"},
	} {
		service, resource, ok := called(test.webhook)
		if diff := cmp.Diff(test.want, fmt.Sprint(service, " ", resource, " ", ok)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

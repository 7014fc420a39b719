package components

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// unanswered names the first webhook of a component that does not answer, with the reason; empty
// where all do. The pods of a component are available some seconds before the API server
// reaches their Service. A dry run of an empty object calls each of them.
func unanswered(ctx context.Context, live client.Client) (string, error) {
	var configurations admissionv1.MutatingWebhookConfigurationList
	if err := live.List(ctx, &configurations, client.HasLabels{clusterctlv1.ClusterctlLabel}); err != nil {
		return "", fmt.Errorf("listing the webhooks of the components: %w", err)
	}
	asked := map[string]bool{}
	for _, configuration := range configurations.Items {
		for _, webhook := range configuration.Webhooks {
			service, resource, ok := called(webhook)
			if !ok || asked[service] {
				continue
			}
			asked[service] = true
			err := dryRun(ctx, live, resource)
			if apierrors.IsInternalError(err) { // the API server's answer where a webhook gives none
				return fmt.Sprintf("webhook %s: %v", webhook.Name, err), nil
			}
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
		}
	}
	return "", nil
}

// called returns the Service of a webhook, and a resource that is sent to it when it is created.
func called(webhook admissionv1.MutatingWebhook) (service string, resource schema.GroupVersionResource, ok bool) {
	if webhook.ClientConfig.Service == nil {
		return "", resource, false
	}
	service = webhook.ClientConfig.Service.Namespace + "/" + webhook.ClientConfig.Service.Name
	for _, rule := range webhook.Rules {
		if slices.Contains(rule.Operations, admissionv1.Create) && len(rule.APIGroups) > 0 && len(rule.APIVersions) > 0 && len(rule.Resources) > 0 {
			return service, schema.GroupVersionResource{Group: rule.APIGroups[0], Version: rule.APIVersions[0], Resource: rule.Resources[0]}, true
		}
	}
	return "", resource, false
}

// dryRun has the API server create an object without content, in a dry run.
func dryRun(ctx context.Context, live client.Client, resource schema.GroupVersionResource) error {
	kind, err := live.RESTMapper().KindFor(resource)
	if err != nil {
		return err
	}
	mapping, err := live.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetName("clusterctl-x-asks")
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	return live.Create(ctx, object, client.DryRunAll)
}

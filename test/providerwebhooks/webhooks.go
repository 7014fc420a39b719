package main

import (
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	awsv1 "sigs.k8s.io/cluster-api-provider-aws/v2/api/v1beta2"
	aws "sigs.k8s.io/cluster-api-provider-aws/v2/webhooks"
	gcpv1 "sigs.k8s.io/cluster-api-provider-gcp/api/v1beta1"
	gcp "sigs.k8s.io/cluster-api-provider-gcp/webhooks"
)

// newWebhooks has the webhooks of both providers at their paths: those of clusters and
// machines, and not those of EKS, ROSA, GKE and machine pools, which are in other packages.
//
// They register with a manager, which is never started: none of them reads objects.
func newWebhooks(config *rest.Config) (*http.ServeMux, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(awsv1.AddToScheme(scheme), gcpv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("registering the types of the providers: %w", err)
	}
	mux := http.NewServeMux()
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:        scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{WebhookMux: mux}),
	})
	if err != nil {
		return nil, fmt.Errorf("making the manager that webhooks register with: %w", err)
	}
	for _, each := range []interface{ SetupWebhookWithManager(ctrl.Manager) error }{
		&aws.AWSCluster{}, &aws.AWSClusterTemplate{}, &aws.AWSMachine{}, &aws.AWSMachineTemplate{},
		&aws.AWSClusterControllerIdentity{}, &aws.AWSClusterRoleIdentity{}, &aws.AWSClusterStaticIdentity{},
		&gcp.GCPCluster{}, &gcp.GCPClusterTemplate{}, &gcp.GCPMachine{}, &gcp.GCPMachineTemplate{},
	} {
		if err := each.SetupWebhookWithManager(manager); err != nil {
			return nil, fmt.Errorf("registering the webhooks of %T: %w", each, err)
		}
	}
	return mux, nil
}

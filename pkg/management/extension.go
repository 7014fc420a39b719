package management

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Extension is a runtime extension to register with Cluster API.
type Extension struct {
	// Name of its ExtensionConfig.
	Name string
	// URL that it answers at, and the PEM of the authority that signed its certificate.
	URL       string
	Authority []byte
	Settings  map[string]string
}

// RegisterExtension registers a runtime extension with Cluster API, and waits until
// Cluster API has found its handlers, whose names it returns, sorted. It leaves the
// namespaceSelector of the ExtensionConfig as it is; by default that selects all
// namespaces.
func (c *Client) RegisterExtension(ctx context.Context, e Extension) ([]string, error) {
	config := &runtimev1.ExtensionConfig{
		TypeMeta:   metav1.TypeMeta{APIVersion: runtimev1.GroupVersion.String(), Kind: "ExtensionConfig"},
		ObjectMeta: metav1.ObjectMeta{Name: e.Name},
		Spec: runtimev1.ExtensionConfigSpec{
			ClientConfig: runtimev1.ClientConfig{URL: e.URL, CABundle: e.Authority},
			Settings:     e.Settings,
		},
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(config)
	if err != nil {
		return nil, err
	}
	unstructured.RemoveNestedField(object, "status")
	applied := &unstructured.Unstructured{Object: object}
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), FieldOwner, client.ForceOwnership); err != nil {
		return nil, c.explain(ctx, fmt.Errorf("registering ExtensionConfig %s: %w", e.Name, err))
	}
	var found runtimev1.ExtensionConfig
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, maxDiscovery, true, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKey{Name: e.Name}, &found); err != nil {
			return false, err
		}
		condition := meta.FindStatusCondition(found.Status.Conditions, runtimev1.ExtensionConfigDiscoveredCondition)
		// The condition is written before the handlers.
		return condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == found.Generation && len(found.Status.Handlers) > 0, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil, fmt.Errorf("ExtensionConfig %s is registered, and Cluster API has not found its handlers within %s: %s; check that its address %s can be reached from there, and that the feature gate RuntimeSDK is on",
			e.Name, maxDiscovery, observe.Reason(found.Status.Conditions, runtimev1.ExtensionConfigDiscoveredCondition), e.URL)
	}
	if err != nil {
		return nil, c.explain(ctx, fmt.Errorf("waiting for the handlers of ExtensionConfig %s: %w", e.Name, err))
	}
	var names []string
	for _, handler := range found.Status.Handlers {
		names = append(names, handler.Name)
	}
	slices.Sort(names)
	return names, nil
}

// maxDiscovery is how long Cluster API has time to ask an extension for its handlers.
const maxDiscovery = 30 * time.Second

// KeepsHolds reports whether Cluster API asks a runtime extension of clusterctl-x before
// it passes a place with a cluster from a ClusterClass in a namespace.
func (c *Client) KeepsHolds(ctx context.Context, namespace string, point state.HoldPoint) (bool, error) {
	if point == state.BeforeUpgrade {
		return true, nil // Cluster API itself looks at the annotation
	}
	var configs runtimev1.ExtensionConfigList
	if err := c.List(ctx, &configs); err != nil {
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return false, nil
		}
		return false, c.explain(ctx, fmt.Errorf("looking for runtime extensions: %w", err))
	}
	for _, config := range configs.Items {
		for _, handler := range config.Status.Handlers {
			if handler.RequestHook.Hook != point.Hook() || handler.Name != point.Handler()+"."+config.Name {
				continue
			}
			if about, err := c.isAbout(ctx, config, namespace); about || err != nil {
				return about, err
			}
		}
	}
	return false, nil
}

// isAbout reports whether Cluster API asks an extension about the clusters of a namespace.
func (c *Client) isAbout(ctx context.Context, config runtimev1.ExtensionConfig, name string) (bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(config.Spec.NamespaceSelector)
	if err != nil || selector.Empty() {
		return err == nil, err
	}
	var namespace corev1.Namespace
	if err := c.Get(ctx, client.ObjectKey{Name: name}, &namespace); err != nil {
		return false, c.explain(ctx, fmt.Errorf("reading namespace %s, which ExtensionConfig %s selects by its labels: %w", name, config.Name, err))
	}
	return selector.Matches(labels.Set(namespace.Labels)), nil
}

// Planner asks runtime extensions for upgrade plans as Cluster API does, each question
// once. The zero value knows no answer yet.
type Planner struct {
	// Certificates are shown to extensions that demand one of their clients.
	Certificates []tls.Certificate
	answers      map[string]answered
}

type answered struct{ controlPlane, workers []string }

// Asking asks a runtime extension by the name that a ClusterClass has for it about the
// plan for a cluster.
func (p *Planner) Asking(c *Client, cluster client.ObjectKey, extension string) func(ctx context.Context, target, controlPlane, workers string) ([]string, []string, error) {
	return func(ctx context.Context, target, controlPlane, workers string) ([]string, []string, error) {
		question := strings.Join([]string{extension, target, controlPlane, workers}, " ")
		if known, ok := p.answers[question]; ok {
			return known.controlPlane, known.workers, nil
		}
		live, err := c.LiveCluster(ctx, cluster)
		if err != nil {
			return nil, nil, err
		}
		live.ManagedFields, live.Status = nil, clusterv1.ClusterStatus{} // as Cluster API sends it
		request := &runtimehooksv1.GenerateUpgradePlanRequest{
			Cluster: *live, FromControlPlaneKubernetesVersion: controlPlane, FromWorkersKubernetesVersion: workers, ToKubernetesVersion: target,
		}
		response, err := p.ask(ctx, c, extension, request)
		if err != nil {
			return nil, nil, &ExtensionError{Extension: extension, Err: err}
		}
		if response.Status != runtimehooksv1.ResponseStatusSuccess {
			return nil, nil, fmt.Errorf("the runtime extension %s has no plan: %s", extension, observe.OneLine(response.Message, observe.MaxFailure))
		}
		var a answered
		for _, step := range response.ControlPlaneUpgrades {
			a.controlPlane = append(a.controlPlane, step.Version)
		}
		for _, step := range response.WorkersUpgrades {
			a.workers = append(a.workers, step.Version)
		}
		if p.answers == nil {
			p.answers = map[string]answered{}
		}
		p.answers[question] = a
		return a.controlPlane, a.workers, nil
	}
}

// ExtensionError reports that a runtime extension could not be called.
type ExtensionError struct {
	Extension string // as a ClusterClass names it
	Err       error
}

func (e *ExtensionError) Error() string {
	_, config, _ := strings.Cut(e.Extension, ".")
	return fmt.Sprintf("the runtime extension %s, which makes the upgrade plans of the ClusterClass, could not be called: %v; check that it is running and can be reached at the address in ExtensionConfig %s", e.Extension, e.Err, config)
}

func (e *ExtensionError) Unwrap() error { return e.Err }

// ask sends a request to a runtime extension.
func (p *Planner) ask(ctx context.Context, c *Client, extension string, request *runtimehooksv1.GenerateUpgradePlanRequest) (*runtimehooksv1.GenerateUpgradePlanResponse, error) {
	handler, name, _ := strings.Cut(extension, ".")
	var config runtimev1.ExtensionConfig
	if err := c.Get(ctx, client.ObjectKey{Name: name}, &config); err != nil {
		return nil, c.explain(ctx, fmt.Errorf("reading ExtensionConfig %s: %w", name, err))
	}
	catalog := runtimecatalog.New()
	if err := runtimehooksv1.AddToCatalog(catalog); err != nil {
		return nil, err
	}
	hook, err := catalog.GroupVersionHook(runtimehooksv1.GenerateUpgradePlan)
	if err != nil {
		return nil, err
	}
	request.SetGroupVersionKind(runtimehooksv1.GroupVersion.WithKind("GenerateUpgradePlanRequest"))
	request.Settings = maps.Clone(config.Spec.Settings)
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	base, caller, err := c.callerOf(config.Spec.ClientConfig, p.Certificates)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, base+runtimecatalog.GVHToPath(hook, handler), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Content-Type", "application/json")
	answer, err := caller.Do(post)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s: %s", answer.Status, observe.OneLine(string(text), observe.MaxReason))
	}
	var response runtimehooksv1.GenerateUpgradePlanResponse
	if err := json.Unmarshal(text, &response); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return &response, nil
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 1 << 20

// callerOf is how a runtime extension is reached: at its own URL, or through the API
// server where it is a Service. The API server has no certificate of a client to show.
func (c *Client) callerOf(at runtimev1.ClientConfig, certificates []tls.Certificate) (string, *http.Client, error) {
	if at.URL == "" {
		port := int32(443) // Cluster API's default
		if at.Service.Port != nil {
			port = *at.Service.Port
		}
		caller, err := rest.HTTPClientFor(c.config)
		base := fmt.Sprintf("%s/api/v1/namespaces/%s/services/https:%s:%d/proxy%s", strings.TrimSuffix(c.config.Host, "/"), at.Service.Namespace, at.Service.Name, port, strings.TrimSuffix(at.Service.Path, "/"))
		return base, caller, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(at.CABundle) {
		return "", nil, errors.New("the ExtensionConfig has no caBundle")
	}
	caller := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certificates, MinVersion: tls.VersionTLS12}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return strings.TrimSuffix(at.URL, "/"), caller, nil
}

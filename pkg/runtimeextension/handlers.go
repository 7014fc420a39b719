package runtimeextension

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/cluster-api/exp/runtime/server"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradeplan"
)

// PlanHandler is the name of the handler that answers GenerateUpgradePlan.
const PlanHandler = "generate-upgrade-plan"

// retryAfter is how many seconds later Cluster API asks again whether a hold was
// lifted; it does not ask before.
const retryAfter = 5

// handlers are all that the server answers.
func handlers(releases ReleasesFunc) []server.ExtensionHandler {
	handlers := []server.ExtensionHandler{{Hook: runtimehooksv1.GenerateUpgradePlan, Name: PlanHandler, HandlerFunc: planner(releases)}}
	for _, point := range state.HoldPoints() {
		hook, handle := holder(point)
		handlers = append(handlers, server.ExtensionHandler{Hook: hook, Name: point.Handler(), HandlerFunc: handle})
	}
	return handlers
}

// planner answers with the plan that the policy in the request's settings asks for.
func planner(releases ReleasesFunc) runtimecatalog.Hook {
	return func(_ context.Context, request *runtimehooksv1.GenerateUpgradePlanRequest, response *runtimehooksv1.GenerateUpgradePlanResponse) {
		plan, err := planOf(request, releases)
		if err != nil {
			response.SetStatus(runtimehooksv1.ResponseStatusFailure)
			response.SetMessage(err.Error())
			return
		}
		response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
		response.ControlPlaneUpgrades = steps(plan.ControlPlane)
		response.WorkersUpgrades = steps(plan.Workers)
	}
}

func planOf(request *runtimehooksv1.GenerateUpgradePlanRequest, releases ReleasesFunc) (upgradeplan.Plan, error) {
	policy, err := upgradeplan.ParsePolicy(request.Settings)
	if err != nil {
		return upgradeplan.Plan{}, err
	}
	asked, err := upgradeplan.ParseRequest(request.FromControlPlaneKubernetesVersion, request.FromWorkersKubernetesVersion, request.ToKubernetesVersion)
	if err != nil {
		return upgradeplan.Plan{}, err
	}
	there, err := releases(policy.Provider)
	if err != nil {
		return upgradeplan.Plan{}, fmt.Errorf("setting %s: %w", upgradeplan.ProviderSetting, err)
	}
	return upgradeplan.Generate(asked, there, policy)
}

func steps(versions []v1alpha1.Version) []runtimehooksv1.UpgradeStep {
	var steps []runtimehooksv1.UpgradeStep
	for _, version := range versions {
		steps = append(steps, runtimehooksv1.UpgradeStep{Version: version.String()})
	}
	return steps
}

// holder returns a hook of Cluster API with the handler that enforces the holds at a
// hold point.
func holder(point state.HoldPoint) (hook, handle runtimecatalog.Hook) {
	switch point {
	case state.BeforeUpgrade:
		return runtimehooksv1.BeforeClusterUpgrade, func(_ context.Context, request *runtimehooksv1.BeforeClusterUpgradeRequest, response *runtimehooksv1.BeforeClusterUpgradeResponse) {
			answer(point, &request.Cluster, response)
		}
	case state.BeforeControlPlane:
		return runtimehooksv1.BeforeControlPlaneUpgrade, func(_ context.Context, request *runtimehooksv1.BeforeControlPlaneUpgradeRequest, response *runtimehooksv1.BeforeControlPlaneUpgradeResponse) {
			answer(point, &request.Cluster, response)
		}
	case state.AfterControlPlane:
		return runtimehooksv1.AfterControlPlaneUpgrade, func(_ context.Context, request *runtimehooksv1.AfterControlPlaneUpgradeRequest, response *runtimehooksv1.AfterControlPlaneUpgradeResponse) {
			answer(point, &request.Cluster, response)
		}
	case state.BeforeWorkers:
		return runtimehooksv1.BeforeWorkersUpgrade, func(_ context.Context, request *runtimehooksv1.BeforeWorkersUpgradeRequest, response *runtimehooksv1.BeforeWorkersUpgradeResponse) {
			answer(point, &request.Cluster, response)
		}
	case state.AfterWorkers:
		return runtimehooksv1.AfterWorkersUpgrade, func(_ context.Context, request *runtimehooksv1.AfterWorkersUpgradeRequest, response *runtimehooksv1.AfterWorkersUpgradeResponse) {
			answer(point, &request.Cluster, response)
		}
	default:
		return runtimehooksv1.AfterClusterUpgrade, func(_ context.Context, request *runtimehooksv1.AfterClusterUpgradeRequest, response *runtimehooksv1.AfterClusterUpgradeResponse) {
			answer(point, &request.Cluster, response)
		}
	}
}

// answer blocks while the cluster is held at the place.
func answer(point state.HoldPoint, cluster *clusterv1.Cluster, response runtimehooksv1.RetryResponseObject) {
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
	for _, hold := range state.HoldsOf(types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}, cluster.Annotations) {
		if hold.Point == point {
			response.SetMessage(hold.String())
			response.SetRetryAfterSeconds(retryAfter)
			return
		}
	}
}

# make help lists the targets. What they need is in the Go module proxy; Go,
# make and git are enough.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# The embedded management cluster's programs come from the modules that the
# go.mod of cmd/clusterctl-x-embedded pins.
EMBEDDED  := cmd/clusterctl-x-embedded
BIN       := bin
MANIFESTS := $(EMBEDDED)/internal/manifests/manifests.json
APISERVER := k8s.io/kubernetes/cmd/kube-apiserver
CORE      := sigs.k8s.io/cluster-api/core
CLI       := github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x
KUBE      := $(shell sed -n 's/^\tk8s.io\/kubernetes \(v[0-9.]*\).*/\1/p' $(EMBEDDED)/go.mod)
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
BASE      := k8s.io/component-base/version
# Cluster API looks at the API server's version, which a build from the module
# proxy does not know by itself.
KUBE_LDFLAGS := -s -w -X $(BASE).gitVersion=$(KUBE) -X $(BASE).gitMajor=1 -X $(BASE).gitMinor=$(word 2,$(subst ., ,$(KUBE)))

# Debug information costs a fifth of the time of the compiler. It is for debuggers:
# stack traces do without it. A 'go build' by hand has it. As in a release, nothing is
# taken from the C library.
COMPACT := -gcflags=all=-dwarf=false
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(filter-out $(COMPACT),$(shell go env GOFLAGS)) $(COMPACT))

export CLUSTERCTL_X_EMBEDDED := $(CURDIR)/bin/embedded/clusterctl-x-embedded

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

.PHONY: quickstart
quickstart: build ## build, create the sample cluster on an embedded management cluster, show its machines
	bin/clusterctl-x create cluster -f config/samples/quickstart.yaml --management embedded
	bin/clusterctl-x describe cluster quickstart --management embedded
	bin/clusterctl-x get kubeconfig quickstart --management embedded --to bin/quickstart.kubeconfig
	@echo "its nodes: kubectl --kubeconfig bin/quickstart.kubeconfig get nodes"

.PHONY: build
build: packages ## build the CLI and the embedded management cluster into bin/
	@$(MAKE) --no-print-directory --jobs=2 cli embedded

# What the programs have in common is compiled first, in one go: each package once, and
# no core idle. Where a package is missing the build of its program says so.
.PHONY: packages
packages:
	@hack/part dependencies hack/packages $(EMBEDDED) . $(APISERVER) $(CORE) ./internal/manifests/generate $(CLI)

.PHONY: cli
cli:
	@hack/part clusterctl-x go build -v -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN)/ ./cmd/clusterctl-x

.PHONY: embedded kube-apiserver cluster-api-core clusterctl-x-embedded
embedded: kube-apiserver cluster-api-core clusterctl-x-embedded
kube-apiserver:
	@hack/part $@ go build -C $(EMBEDDED) -v -ldflags '$(KUBE_LDFLAGS)' -o $(abspath $(BIN))/embedded/ $(APISERVER)
cluster-api-core:
	@hack/part $@ go build -C $(EMBEDDED) -v -ldflags '-s -w' -o $(abspath $(BIN))/embedded/cluster-api-core $(CORE)
clusterctl-x-embedded: generate-embedded
	@hack/part $@ go build -C $(EMBEDDED) -v -ldflags '-s -w' -o $(abspath $(BIN))/embedded/ .

.PHONY: generate-embedded
generate-embedded: $(MANIFESTS)

$(MANIFESTS): $(EMBEDDED)/go.mod $(wildcard $(EMBEDDED)/internal/manifests/generate/*.go)
	@hack/part manifests go generate -C $(EMBEDDED) ./internal/manifests

.PHONY: kubectl
kubectl: # tests and measurements use it, clusterctl-x does not
	@hack/part kubectl go build -C $(EMBEDDED) -v -ldflags '$(KUBE_LDFLAGS)' -o ../../bin/ k8s.io/kubernetes/cmd/kubectl

.PHONY: infrastructure-simulator
infrastructure-simulator: # tests use it, clusterctl-x does not
	@hack/part $@ go build -C $(EMBEDDED) -v -ldflags '-s -w' -o $(abspath $(BIN))/ ./infrastructure-simulator

# It contains the CRDs and webhook configurations that the modules of the providers have.
WEBHOOKS := test/providerwebhooks
WEBHOOKS_MANIFESTS := $(WEBHOOKS)/aws.yaml $(WEBHOOKS)/gcp.yaml
.PHONY: providerwebhooks
providerwebhooks: $(WEBHOOKS_MANIFESTS) # tests use it, clusterctl-x does not
	@hack/part $@ go build -C $(WEBHOOKS) -v -ldflags '-s -w' -o $(abspath $(BIN))/ .

$(WEBHOOKS)/aws.yaml: MODULE := sigs.k8s.io/cluster-api-provider-aws/v2
$(WEBHOOKS)/gcp.yaml: MODULE := sigs.k8s.io/cluster-api-provider-gcp
$(WEBHOOKS_MANIFESTS): $(WEBHOOKS)/go.mod
	@cd $(WEBHOOKS) && go mod download $(MODULE) && config=$$(go list -m -f '{{.Dir}}' $(MODULE))/config && \
		cat $$config/crd/kustomization.yaml $$config/crd/bases/*.yaml $$config/webhook/manifests.yaml >$(@F)

GOLANGCI_LINT := $(CURDIR)/$(BIN)/golangci-lint

# The tiers are described in docs/testing.md. E2E_PARALLEL is how many end-to-end
# tests run side by side: most of the time they wait for controllers.
E2E_PARALLEL := 8
E2E := go test ./test/e2e -timeout 60m -parallel $(E2E_PARALLEL)

.PHONY: test
test: build kubectl vet $(GOLANGCI_LINT) ## run golangci-lint, the unit tests and the core of the end-to-end tests
	$(MAKE) --jobs=4 --output-sync=target lint test-unit test-embedded test-core

# They go behind the end-to-end tests beside them, some of which watch the clock.
.PHONY: test-unit
test-unit: ## run the tests that need no management cluster
	nice go test -shuffle=on $$(go list ./... | grep -v /test/e2e)
	cd hack/dist && go test ./...

.PHONY: test-embedded
test-embedded: generate-embedded ## run the tests of the embedded management cluster's programs
	cd $(EMBEDDED) && go test -timeout 60m -shuffle=on -parallel 4 ./...

.PHONY: test-core
test-core: ## run the core of the end-to-end tests (on what 'make build kubectl' built)
	$(E2E) -tier core

.PHONY: e2e
e2e: build kubectl providerwebhooks infrastructure-simulator ## run all other end-to-end tests
	$(E2E) -tier full

# Tests on real machines. The engine is started with the first command and ends with it.
# REAL_IMAGES=registry takes the node images that kind publishes; -run of REAL_FLAGS chooses tests.
REAL_IMAGES := built
REAL_FLAGS  :=
REAL_PROGRAMS := hack/realnodes/programs hack/realnodes/certmanager
REAL_ENGINE := hack/realnodes/engine $(BIN)/real/engine
.PHONY: e2e-real
e2e-real: ## run the tests on real machines, as root; it builds their images (docs/real-machines.md)
	$(REAL_ENGINE) true
	$(MAKE) --no-print-directory build kubectl
	$(REAL_ENGINE) $(MAKE) --no-print-directory real-tests

.PHONY: real-tests
real-tests:
	nice go run ./hack/realnodes -dir $(BIN)/real -nodes=$(if $(filter registry,$(REAL_IMAGES)),false,true)
	REAL_IMAGES=$(REAL_IMAGES) go test -tags real ./test/real -count=1 -timeout 3h -parallel 1 -v $(REAL_FLAGS)

.PHONY: vet
vet: generate-embedded $(WEBHOOKS_MANIFESTS)
	@unformatted=$$(gofmt -l cmd config hack pkg test) && if [ -n "$$unformatted" ]; then printf 'not formatted: %s\n' $$unformatted >&2; exit 1; fi
	go vet -tags real ./...
	cd $(EMBEDDED) && go vet ./...
	cd hack/dist && go vet ./...
	cd $(WEBHOOKS) && go vet ./...
	for module in $(REAL_PROGRAMS); do (cd $$module && go vet ./...); done

# As the unit tests, it leaves the machine to the end-to-end tests beside it.
.PHONY: lint
lint: generate-embedded $(WEBHOOKS_MANIFESTS) $(GOLANGCI_LINT) ## look for what golangci-lint finds (.golangci.yml)
	nice $(GOLANGCI_LINT) run ./...
	cd $(EMBEDDED) && nice $(GOLANGCI_LINT) run ./...
	cd hack/dist && nice $(GOLANGCI_LINT) run ./...
	cd $(WEBHOOKS) && nice $(GOLANGCI_LINT) run ./...
	for module in $(REAL_PROGRAMS); do (cd $$module && nice $(GOLANGCI_LINT) run ./...); done

$(GOLANGCI_LINT): hack/tools/go.mod
	@hack/part golangci-lint go build -C hack/tools -v -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: golden
golden: ## write the golden files of the tests anew
	go test ./pkg/manifests ./pkg/plan ./pkg/management ./pkg/cmd -update

.PHONY: bundles
bundles: ## make the versions bundles anew from the Kubernetes modules (downloads them)
	go run ./hack/bundles -out config/bundles/bundles.yaml

.PHONY: addons
addons: ## make the add-on manifests anew from the modules they come from (downloads them)
	go run ./hack/addons -out config/addons

.PHONY: schema
schema: ## make the JSON Schema of cluster specs anew from their Go types
	go run ./hack/schema -out config/schema/clusterctl-x.io_v1alpha1.json -bundles config/schema/bundles.json

HOOKS := sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1
.PHONY: hooks
hooks: ## make the OpenAPI of Cluster API's hooks anew, which tests hold requests and responses against
	go tool openapi-gen --go-header-file /dev/null --output-dir pkg/runtimeextension --output-pkg github.com/clusterctl-x/clusterctl-x/pkg/runtimeextension \
		--output-file zz_openapi_test.go --report-filename /dev/null $(HOOKS)

FUZZTIME := 2m
.PHONY: fuzz
fuzz: ## fuzz decoder, renderer and quoting, FUZZTIME each
	go test ./pkg/api/v1alpha1 -run '^$$' -fuzz FuzzDecode -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	go test ./pkg/manifests -run '^$$' -fuzz FuzzRender -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	go test ./pkg/templater -run '^$$' -fuzz FuzzQuote -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	go test ./pkg/templater -run '^$$' -fuzz FuzzToYAML -fuzztime $(FUZZTIME) -fuzzminimizetime 10x

# A mutant of pkg/plan that survives takes as long as the random tests.
MUTANTS := 60
.PHONY: mutation
mutation: ## change the skew policy, MUTANTS places of the engine and of the planner, and see whether their tests notice
	nice go run ./hack/mutate pkg/skew
	nice go run ./hack/mutate -sample $(MUTANTS) pkg/engine
	nice go run ./hack/mutate -sample $(MUTANTS) -slow 'TestRandom|TestClusterAPI' pkg/plan

.PHONY: verify
verify: ## check that everything generated is what its source gives (downloads the Kubernetes modules)
	go run ./hack/bundles -check config/bundles/bundles.yaml
	$(MAKE) schemas addons
	go mod tidy -diff
	cd $(EMBEDDED) && go mod tidy -diff
	cd hack/dist && go mod tidy -diff
	cd $(WEBHOOKS) && go mod tidy -diff
	cd $(REAL_PROGRAMS) && go mod tidy -diff
	git diff --exit-code -- config/schemas config/addons

.PHONY: schemas
schemas: generate-embedded
	cd $(EMBEDDED) && go run ./internal/manifests/schemas ../../config/schemas

PLATFORMS   := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
COMMIT_TIME := $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
# What a build depends on beside the sources and the version of Go is fixed.
DIST_ENV    := CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT= GOWORK=off GOFLAGS='-trimpath -buildvcs=false -mod=readonly'
.PHONY: dist
dist: generate-embedded ## build the archives of a release into dist/
	rm -rf dist
	@for platform in $(PLATFORMS); do $(MAKE) --no-print-directory $$platform || exit; done
	cd hack/dist && go run . -version $(VERSION) -time $(COMMIT_TIME) -stage ../../dist/stage -out ../../dist \
		../../LICENSE ../../README.md ../../CHANGELOG.md ../../docs=docs ../../config/samples/quickstart.yaml=quickstart.yaml
	cat dist/SHA256SUMS

# The embedded management cluster does not run on Windows.
.PHONY: $(PLATFORMS)
$(PLATFORMS): generate-embedded
	@echo "for $@:"
	@GOOS=$(@D) GOARCH=$(@F) $(DIST_ENV) $(MAKE) --no-print-directory $(if $(filter windows,$(@D)),cli,build) BIN=dist/stage/$(@D)-$(@F)

.PHONY: dist-check
dist-check: ## build the archives of the last 'make dist' again, elsewhere and with an empty build cache, and compare
	hack/dist/check $(VERSION) $(COMMIT_TIME) '$(PLATFORMS)'

.PHONY: dist-try
dist-try: ## unpack the archive for this system that 'make dist' built and create the sample cluster, without Go
	hack/dist/try dist/clusterctl-x_$(VERSION)_$$(go env GOOS)_$$(go env GOARCH).tar.gz

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist $(MANIFESTS) $(WEBHOOKS_MANIFESTS)

.PHONY: bench
bench: build kubectl peers ## measure the promised figures, beside their peers
	go run ./test/bench

.PHONY: soak
soak: build kubectl ## run the long tests: upgrades under kills, restarts and hand edits, many random specs
	go run ./test/soak
	$(E2E) -tier soak

.PHONY: peers
peers:
	cd test/bench/peers && go build -ldflags '-s -w' -o ../../../bin/peers/ tool
	cd $(EMBEDDED) && go build -ldflags '-s -w' -o ../../bin/peers/ sigs.k8s.io/cluster-api/cmd/clusterctl

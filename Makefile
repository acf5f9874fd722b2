# The lifecycle manager. `make` alone lists what it can do; `make run` shows it at work.
# Needs Go, git, make and (for the race detector) a C compiler. Everything else is built from Go modules.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GO ?= go
BIN := $(CURDIR)/bin
DIST := $(CURDIR)/dist

# The image that is deployed, built and pushed.
IMG ?= lifecycle-manager:dev
# Where `make run` runs: empty means a playground on this machine, "current" the cluster of the current kubeconfig.
CLUSTER ?=
# Further arguments for `make run`, such as RUN_ARGS=--help.
RUN_ARGS ?=
# Which kustomization `make deploy` applies: default (a hub), dashboard (the same with the dashboard), monitoring (the same with alerts and
# dashboards of Grafana), policies (the same with policies to edit), or local (one cluster that is hub and runtime).
DEPLOY ?= default
# Where the manager of `make deploy` finds the components of modules, such as REGISTRY=registry.example.com; `make release` has it, too.
REGISTRY ?=
# Further arguments for go test, such as TESTARGS='-run Kyma'; for the integration tests those of ginkgo, such as TESTARGS='--focus Kyma'.
TESTARGS ?=
UNIT_TIMEOUT ?= 15m
# How many packages are tested at once: most of the time they wait for API servers.
UNIT_PROCS ?= 5
INTEGRATION_TIMEOUT ?= 60m
# How many processes share the integration tests. Each has a hub, runtimes and a registry of its own, since most of the time they wait.
INTEGRATION_PROCS ?= 3
HOSTILE_TIMEOUT ?= 30m
E2E_TIMEOUT ?= 30m
E2E_PROCS ?= 3
# How long each fuzz target runs, and which: a pattern of names.
FUZZTIME ?= 10s
FUZZ ?=
# A copy of the Go vulnerability database for make vuln: a folder or an address. Empty is the public one.
VULNDB ?=
NODE_TIMEOUT ?= 30m
BENCH_TIMEOUT ?= 60m
# What make bench runs and how large, all of it and as the program has it when empty; bin/bench -help lists them and what BENCHARGS may say.
BENCH ?=
K ?=
M ?=
R ?=
IDLE ?=
RUNS ?=
BENCHARGS ?=

# Packages that take no context, client, clock or randomness, and the share of their lines that unit tests must reach.
PURE := ./pkg/generated ./pkg/hooks ./pkg/moduleversion ./pkg/requirements ./pkg/permissions ./pkg/inventory ./pkg/health ./pkg/conditions ./pkg/crdsafety ./internal/module ./internal/module/revision ./internal/module/rollout ./internal/manager/sharding/assignment ./internal/client/modulestatus ./internal/client/modulestatus/rootcause ./internal/client/resourcetree ./internal/client/rollouts
PURE_COVERAGE := 95
# Packages with tests that start no goroutine, so that the race detector can find nothing in them; tests/arch fails when that is not true any more.
RACELESS := ./api/v1alpha1 ./hack/chart ./hack/image/programimage ./hack/release ./hack/release/archive ./hack/release/provenance ./hack/release/sbom ./hack/release/signing ./internal/cli/clustercmd ./internal/manager/controller/modulereleasemeta ./internal/signcoverage ./internal/egress \
	./pkg/hooks ./pkg/moduleversion ./pkg/requirements ./internal/kubeconfig ./internal/module ./internal/module/revision ./internal/module/rollout ./internal/manager/sharding/assignment ./internal/client/modulestatus ./internal/client/modulestatus/rootcause ./internal/client/resourcetree ./internal/client/rollouts ./internal/dashboard/server/assets ./pkg/conditions ./pkg/diagnostics \
	./pkg/moduleconfig ./pkg/modulelint ./internal/takeover ./samples/greeter
# Packages with test files that race builds leave out (//go:build !race), as ten times too slow there: all their tests run without it too.
RACE_APART := ./pkg/component ./pkg/content ./pkg/render/helm
# Packages that take longest are begun first, so that no processor waits for them at the end.
LONGEST := ./internal/manager/clustercache ./internal/client/directinstall ./pkg/content ./internal/dashboard/operations ./internal/cli/editcmd ./internal/dashboard/server ./pkg/declarative ./pkg/apply \
	./internal/devenv/localcluster ./tests/shards ./pkg/installer ./pkg/component ./internal/manager/sharding ./pkg/render/helm
# Paths that generators write.
GENERATED := api config/crd/bases config/components/webhook/bases config/rbac/role.yaml docs/reference charts/lifecycle-manager/files charts/lifecycle-manager/README.md

# One set of flags for every build: what one stage compiled serves the others, and -trimpath lets checkouts in other folders share it. Only
# what is built for the race detector needs a C compiler. Its programs are linked by Go alone, which takes a third of the time, unless they can
# load plugins: kustomize can, and none of ours does.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)
export CGO_ENABLED := 0
with-race := CGO_ENABLED=1 GOFLAGS="$(GOFLAGS) -tags=kustomize_disable_go_plugin_support"

# Makes targets one after the other and prints what each took, and the slowest tests; target=5m is a budget. See hack/stages.
stages = $(GO) run ./hack/stages -make=$(MAKE)
# Where tests leave JUnit files for that table.
REPORTS = $(or $(STAGES_DIR),$(DIST)/stages)
# go test, with a JUnit file. make lint has what vet would say. Results that go test remembers do not count: with -trimpath it would take those of
# other checkouts, and it cannot know what API servers do.
gotest = $(BIN)/gotestsum --format=pkgname-and-test-fails --format-hide-empty-pkg --junitfile=$(REPORTS)/$@.xml -- -vet=off -count=1
ginkgo = $(BIN)/ginkgo run -r --vet=off --ldflags='-s -w' --timeout=$1 --poll-progress-after=2m --output-dir=$(REPORTS) --junit-report=$@.xml

# Puts the control planes where tests and scripts look for them, and builds them where they are missing.
# A busy machine may take longer than the 20 s that envtest gives a control plane to start and to stop.
with-assets = KUBEBUILDER_ASSETS=$$(hack/controlplane/build.sh); export KUBEBUILDER_ASSETS; \
	export KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=3m KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT=2m;
kubectl = "$$KUBEBUILDER_ASSETS/kubectl"

.PHONY: help
help: ## Show what there is to make.
	@awk 'BEGIN {FS = ":.*##"} \
		/^##@/ {printf "\n\033[1m%s\033[0m\n", substr($$0, 5)} \
		/^[a-zA-Z0-9_-]+:.*##/ {printf "  \033[36m%-18s\033[0m%s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Development

.PHONY: generate
generate: $(BIN)/controller-gen ## Write DeepCopy methods.
	$(BIN)/controller-gen object:headerFile=hack/boilerplate.go.txt paths=./api/v1beta2/... paths=./api/v1alpha1/...

.PHONY: manifests
manifests: $(BIN)/controller-gen ## Write CRDs and RBAC from the markers in the code.
	$(BIN)/controller-gen crd paths=./api/v1beta1/... paths=./api/v1beta2/... output:crd:dir=config/crd/bases
	$(BIN)/controller-gen crd paths=./api/... output:crd:dir=config/components/webhook/bases
	rm -f config/components/webhook/bases/*_module*.yaml config/components/webhook/bases/*_kymareleases.yaml # not in v1alpha1
	$(BIN)/controller-gen rbac:roleName=klm-manager paths=./internal/... output:rbac:dir=config/rbac

.PHONY: chart
chart: manifests ## Write what the Helm chart has from config/, and the table of its values.
	$(GO) run ./hack/chart

.PHONY: reference-docs
reference-docs: $(BIN)/crd-ref-docs ## Write docs/reference/api.md from the API types.
	@mkdir -p docs/reference
	$(BIN)/crd-ref-docs --log-level=ERROR --config=hack/crd-ref-docs.yaml --source-path=api/v1beta2 \
		--renderer=markdown --output-path=docs/reference/api.md

.PHONY: cli-docs
cli-docs: ## Write docs/reference/cli from the commands of kyma.
	$(GO) run ./hack/clidocs -markdown docs/reference/cli

.PHONY: man
man: ## Write man pages of kyma into dist/man.
	$(GO) run ./hack/clidocs -man $(DIST)/man

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## Format the code and sort imports.
	$(BIN)/golangci-lint fmt

.PHONY: lint
lint: $(BIN)/golangci-lint ## Run golangci-lint; .golangci.yml says why each linter that is off is off.
	$(BIN)/golangci-lint run

##@ Checks and tests

.PHONY: verify
verify: ## Check that generated files are up to date and the tree is tidy, and lint chart and workflows.
	@$(stages) verify-generated verify-modules verify-format lint+verify-web verify-arch verify-config verify-chart verify-workflows

.PHONY: verify-generated
verify-generated: generate manifests chart reference-docs cli-docs
	@changed=$$(git status --porcelain -- $(GENERATED)); \
	if [ -n "$$changed" ]; then \
		git --no-pager diff --stat -- $(GENERATED); \
		printf 'generated files differ from what is committed; run make generate manifests chart reference-docs cli-docs and commit:\n%s\n' "$$changed"; \
		exit 1; \
	fi

.PHONY: verify-modules
verify-modules:
	@for module in . hack/tools hack/controlplane hack/node/programs; do \
		(cd "$$module" && $(GO) mod tidy -diff) || { echo "$$module/go.mod is not tidy: run go mod tidy in $$module"; exit 1; }; \
	done

.PHONY: verify-format
verify-format:
	@unformatted=$$(find . -name '*.go' -not -path './.*' -not -path './web/*' -exec gofmt -l {} +); \
	[ -z "$$unformatted" ] || { printf 'not formatted, run make fmt:\n%s\n' "$$unformatted"; exit 1; }

.PHONY: verify-arch
verify-arch:
	$(GO) test -count=1 ./tests/arch

.PHONY: verify-config
verify-config:
	@$(with-assets) hack/kustomize-builds.sh $(kubectl)

# With default values, and with every value otherwise.
.PHONY: verify-chart
verify-chart: $(BIN)/helm
	$(BIN)/helm lint --strict --quiet --namespace kcp-system charts/lifecycle-manager
	$(BIN)/helm lint --strict --quiet --namespace kcp-system --values hack/chart/testdata/everything.yaml charts/lifecycle-manager

# The front end of the dashboard. What it builds is committed, so that a machine with only Go builds everything.
web = cd web && npm ci --no-audit --no-fund --silent && npm run --silent

.PHONY: web
web: ## Build the dashboard's front end into internal/dashboard/server/assets/dist; needs Node.js 20.19 or newer.
	$(web) build

.PHONY: verify-web
verify-web: ## Check and test the front end, and that what is committed is what it builds.
	@hack/node-version.sh
	$(web) check
	cd web && npm run --silent build
	@changed=$$(git status --porcelain -- internal/dashboard/server/assets/dist web/src/apischema.d.ts); \
	[ -z "$$changed" ] || { printf 'the built front end or its types of the API differ from what is committed; run make web and commit:\n%s\n' "$$changed"; exit 1; }

.PHONY: test
test: ## Run the unit and end-to-end tests, on real API servers, and print how long each stage took.
	@$(stages) test-unit=25m test-e2e=20m

.PHONY: test-all
test-all: ## Run these, the integration tests, attacks, a sample of faults, a small benchmark, a browser and real pods; needs root, chromium and containerd.
	@$(stages) test test-integration test-hostile test-faults bench-smoke test-browser e2e-node

.PHONY: prepare
prepare: ## Build what verify and test need, so that these only check and test.
	@$(MAKE) -j2 build-tools controlplane
	@! hack/node/check.sh >/dev/null || hack/node/build.sh # for real pods, where they can run

.PHONY: build-tools
# GOGC: the compiler spends less time on its own memory.
build-tools: $(BIN)/controller-gen $(BIN)/golangci-lint $(BIN)/crd-ref-docs $(BIN)/gotestsum $(BIN)/ginkgo $(BIN)/helm $(BIN)/actionlint
	GOGC=400 $(GO) list -deps -test -export ./... >/dev/null
	GOGC=400 $(with-race) $(GO) list -deps -test -export -race ./... >/dev/null

.PHONY: test-unit
test-unit: $(BIN)/gotestsum ## Run unit tests, those of the engine on a real API server; pure packages must reach their coverage.
	@$(stages) unit-race unit-plain unit-coverage

# Packages of unit tests: all but the suites that have a stage of their own, those without goroutines, and tests/arch, which make verify runs.
.PHONY: unit-race
unit-race: $(BIN)/gotestsum
	$(with-assets) packages=$$($(GO) list ./... | grep -vE '/tests/(arch|integration|e2e|terminal|node|faults|hostile|bench)(/|$$)' | \
		grep -vxF "$$($(GO) list $(RACELESS))"); \
	$(with-race) $(gotest) -race -p=$(UNIT_PROCS) -timeout=$(UNIT_TIMEOUT) $(TESTARGS) $(LONGEST) $$packages

# Those of them that are pure are tested by unit-coverage.
.PHONY: unit-plain
unit-plain: $(BIN)/gotestsum
	$(with-assets) $(gotest) -p=$(UNIT_PROCS) -timeout=$(UNIT_TIMEOUT) $(TESTARGS) $(filter-out $(PURE),$(RACELESS)) $(RACE_APART)

.PHONY: unit-coverage
unit-coverage:
	hack/coverage.sh $(PURE_COVERAGE) $(PURE)

.PHONY: test-integration
test-integration: $(BIN)/ginkgo $(BIN)/helm ## Run integration tests against real API servers.
	$(with-assets) $(with-race) $(call ginkgo,$(INTEGRATION_TIMEOUT)) --race --procs=$(INTEGRATION_PROCS) $(TESTARGS) ./tests/integration

.PHONY: test-hostile
test-hostile: $(BIN)/ginkgo ## Attack the manager by hostile runtimes and registries.
	$(with-assets) $(with-race) $(call ginkgo,$(HOSTILE_TIMEOUT)) --race $(TESTARGS) ./tests/hostile

.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZTIME each; FUZZ=Kubeconfig chooses by name.
	hack/fuzz.sh $(FUZZTIME) $(FUZZ)

.PHONY: vuln
vuln: ## Look for known vulnerabilities of what is linked; VULNDB=/a/folder is a copy of the Go vulnerability database.
	hack/vulncheck.sh $(VULNDB)

.PHONY: test-browser
test-browser: ## Use the dashboard of a playground in a real browser (needs chromium and Node.js); dist/browser keeps what it saw.
	@hack/browser/check.sh
	$(MAKE) build-playground cli
	$(GO) build -o $(BIN)/hubserver ./tests/bench/hubserver
	[ -d web/node_modules/@playwright ] || (cd web && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund)
	$(with-assets) cd web && npm run --silent browser -- $(TESTARGS)

.PHONY: test-e2e
test-e2e: build-playground cli ## Run the playground and drive it by kubectl, and kyma in a terminal (needs tmux).
	@$(stages) e2e-playground+e2e-terminal

.PHONY: e2e-playground
e2e-playground: build-playground cli $(BIN)/ginkgo
	$(with-assets) E2E_PROGRAMS=$(BIN) $(call ginkgo,$(E2E_TIMEOUT)) --procs=$(E2E_PROCS) $(TESTARGS) ./tests/e2e

.PHONY: e2e-terminal
e2e-terminal: cli $(BIN)/gotestsum
	$(with-assets) KYMA_PROGRAM=$(BIN)/kyma $(gotest) -timeout=$(E2E_TIMEOUT) $(TESTARGS) ./tests/terminal

.PHONY: e2e-node
e2e-node: $(BIN)/ginkgo ## Run the operator in real pods on real nodes; needs root, containerd and runc.
	@hack/node/check.sh
	$(with-assets) NODE_TESTS=1 $(call ginkgo,$(NODE_TIMEOUT)) $(TESTARGS) ./tests/node

.PHONY: e2e-node-short
e2e-node-short: ## Run what of it takes a minute or two: one node, install, upgrade, failover, uninstall.
	@$(MAKE) e2e-node TESTARGS="--label-filter='!long' $(TESTARGS)"

.PHONY: bench
bench: build-bench ## Measure the manager with fleets of runtimes; BENCH=B2,B3 K=100,1000 M=5 R=20 IDLE=30m choose. Writes docs/benchmarks.md.
	$(with-assets) $(BIN)/bench -manager=$(BIN)/manager -results=docs/benchmarks -publish $(strip \
		$(if $(BENCH),-bench=$(BENCH)) $(if $(K),-k=$(K)) $(if $(M),-m=$(M)) $(if $(R),-r=$(R)) \
		$(if $(IDLE),-idle=$(IDLE)) $(if $(RUNS),-runs=$(RUNS)) $(BENCHARGS))

.PHONY: bench-smoke
bench-smoke: build-bench $(BIN)/gotestsum ## The same with a small fleet, as a test of what can be counted, after the tests of what it measures with.
	$(with-assets) $(gotest) $(TESTARGS) ./tests/bench/...
	$(with-assets) $(BIN)/bench -manager=$(BIN)/manager -smoke

.PHONY: bench-go
bench-go: ## Run the benchmarks of single parts, which go test runs.
	$(with-assets) $(GO) test -run='^$$' -bench=. -benchmem -timeout=$(BENCH_TIMEOUT) $(TESTARGS) ./...

include hack/faults.mk

##@ Run

.PHONY: run
ifeq ($(CLUSTER),)
run: ## Start a playground; CLUSTER=current: only the manager, on the current kubeconfig.
	@$(MAKE) -j2 build-playground controlplane >&2 # at the same time: one links or downloads while the other compiles
	$(with-assets) exec $(BIN)/playground $(RUN_ARGS)
else ifeq ($(CLUSTER),current)
run: build-manager
	$(BIN)/manager $(RUN_ARGS)
else
run:
	@echo "CLUSTER=$(CLUSTER) is not known: leave it out for a playground, or say CLUSTER=current"; exit 2
endif

.PHONY: clean-playground
clean-playground: ## Remove what ended playgrounds left in .playground.
	@for lock in .playground/*/lock; do \
		[ ! -e "$$lock" ] || flock --nonblock "$$lock" true || \
			{ echo "$${lock%/lock} is in use by process $$(cat "$$lock"): end that playground by Ctrl-C first"; exit 1; }; \
	done
	rm -rf .playground

.PHONY: controlplane
controlplane: ## Build etcd, the control plane programs, kubectl and kwok, once.
	@hack/controlplane/build.sh

##@ Build

.PHONY: build
build: build-manager ## Build every program into bin/.
	$(GO) build -o $(BIN)/ $(patsubst %/,./%,$(wildcard cmd/*/))

.PHONY: build-manager
build-manager:
	$(GO) build -o $(BIN)/manager ./cmd

.PHONY: cli
cli: ## Build kyma into bin/, also as a plugin of kubectl (put bin/ into PATH: kubectl kyma).
	$(GO) build -o $(BIN)/kyma ./cmd/kyma
	ln -sf kyma $(BIN)/kubectl-kyma
	printf '#!/bin/sh\nexec kubectl-kyma __complete "$$@"\n' >$(BIN)/kubectl_complete-kyma
	chmod +x $(BIN)/kubectl_complete-kyma

.PHONY: build-bench
build-bench:
	$(GO) build -o $(BIN)/manager ./cmd
	$(GO) build -o $(BIN)/bench ./tests/bench/run

.PHONY: build-playground
build-playground: # the playground and the programs that it runs
	$(GO) build -o $(BIN)/manager ./cmd
	$(GO) build -o $(BIN)/ ./cmd/kyma ./cmd/playground ./samples/beacon ./samples/greeter

.PHONY: image
image: ## Build the image without Docker, as dist/lifecycle-manager.tar.
	@mkdir -p $(DIST)
	GOOS=linux $(GO) build -ldflags='-s -w' -o $(DIST)/manager ./cmd
	$(GO) run ./hack/image -arch="$$($(GO) env GOARCH)" -binary=$(DIST)/manager -tag=$(IMG) -output=$(DIST)/lifecycle-manager.tar

.PHONY: dashboard-image
dashboard-image: ## Build the image kyma-cli:dev that config/components/dashboard runs, as dist/kyma-cli.tar.
	@mkdir -p $(DIST)
	GOOS=linux $(GO) build -ldflags='-s -w' -o $(DIST)/kyma ./cmd/kyma
	$(GO) run ./hack/image -arch="$$($(GO) env GOARCH)" -binary=$(DIST)/kyma -tag=kyma-cli:dev -output=$(DIST)/kyma-cli.tar

.PHONY: docker-build
docker-build: ## Build the image IMG by the Dockerfile.
	docker build -t $(IMG) .

.PHONY: docker-push
docker-push: ## Push the image IMG.
	docker push $(IMG)

##@ Deployment to the cluster of the current kubeconfig

deploy-registry = $(if $(REGISTRY),; s|^\( *\)- --leader-elect$$|&\n\1- --oci-registry-host=$(REGISTRY)|)

.PHONY: install
install: ## Install the CRDs.
	$(with-assets) $(kubectl) apply --server-side -k config/crd

.PHONY: uninstall
uninstall: ## Delete the CRDs and with them every Kyma; the manager must still run, to clean up.
	$(with-assets) $(kubectl) delete --ignore-not-found -k config/crd

.PHONY: deploy
deploy: ## Deploy the manager with the image IMG and the registry REGISTRY; DEPLOY=local for a single cluster, DEPLOY=policies with more to edit.
	$(with-assets) $(kubectl) kustomize config/$(DEPLOY) | sed 's|image: lifecycle-manager:dev|image: $(IMG)|$(deploy-registry)' | $(kubectl) apply --server-side -f -

.PHONY: undeploy
undeploy: ## Remove the manager, and the dashboard with its records; CRDs, namespace kcp-system and what is in it stay.
	$(with-assets) { $(kubectl) kustomize config/local; echo ---; $(kubectl) kustomize config/dashboard; } | $(kubectl) delete --ignore-not-found -l app.kubernetes.io/name=lifecycle-manager -f -

include hack/release/release.mk
include hack/tools/tools.mk

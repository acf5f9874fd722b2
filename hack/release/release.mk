# Releases: a part of the Makefile.

# What make release builds: see docs/releasing.md. VERSION is that of the release, OUT its folder, KEY a private key to sign with, IMAGES the prefix
# of the images' names, REGISTRY (which make deploy has, too) the registry of the modules that install.yaml and the chart name, DOWNLOAD the address
# of the files, CERTIFICATES the CA certificates in images, and BUILDER what runs the build.
VERSION ?=
OUT ?= $(DIST)/release
KEY ?=
IMAGES ?=
DOWNLOAD ?=
CERTIFICATES ?=
BUILDER ?=
# The platforms that kyma is released for; images are for those of linux.
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: verify-workflows
verify-workflows: $(BIN)/actionlint
	$(BIN)/actionlint .github/workflows/*.yaml

##@ Release

comma := ,
empty :=

.PHONY: release
release: ## Build a release into OUT, offline: VERSION=1.2.3 and, as needed, KEY, IMAGES, REGISTRY, DOWNLOAD, CERTIFICATES, BUILDER.
	@$(GO) run ./hack/release -version='$(VERSION)' -platforms='$(subst $(empty) $(empty),$(comma),$(PLATFORMS))' -out='$(OUT)' -key='$(KEY)' \
		-images='$(IMAGES)' -registry='$(REGISTRY)' -download='$(DOWNLOAD)' -certificates='$(CERTIFICATES)' -builder='$(BUILDER)'

.PHONY: e2e-release
e2e-release: $(BIN)/ginkgo $(BIN)/helm ## Install, upgrade and remove releases from their folders alone, with real pods: the one before (BEFORE) and this commit's.
	@$(MAKE) e2e-node $$(hack/release/pair.sh) TESTARGS="--label-filter=release $(TESTARGS)"

.PHONY: build-platforms
build-platforms: ## Compile kyma for every platform of a release, and keep nothing.
	@for platform in $(PLATFORMS); do \
		echo "kyma for $$platform"; \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -o /dev/null ./cmd/kyma; \
	done

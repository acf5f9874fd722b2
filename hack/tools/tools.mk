# Tools, built once at the versions in hack/tools/go.mod.
tool-controller-gen := sigs.k8s.io/controller-tools/cmd/controller-gen
tool-golangci-lint := github.com/golangci/golangci-lint/v2/cmd/golangci-lint
tool-crd-ref-docs := github.com/elastic/crd-ref-docs
tool-gotestsum := gotest.tools/gotestsum
tool-helm := helm.sh/helm/v4/cmd/helm
tool-actionlint := github.com/rhysd/actionlint/cmd/actionlint

$(BIN)/controller-gen $(BIN)/golangci-lint $(BIN)/crd-ref-docs $(BIN)/gotestsum $(BIN)/helm $(BIN)/actionlint: hack/tools/go.mod hack/tools/go.sum
	cd hack/tools && $(GO) build -o $@ $(tool-$(notdir $@))
	@touch $@

$(BIN)/ginkgo: go.mod go.sum
	$(GO) build -o $@ github.com/onsi/ginkgo/v2/ginkgo
	@touch $@

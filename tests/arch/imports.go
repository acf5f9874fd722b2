package arch

import (
	"fmt"
	"path"
	"strings"
)

// A layer is a group of packages and what of this module it may import besides itself. A "*" stands for one folder, and each
// such folder is a layer of its own.
type layer struct {
	name string
	may  []string
}

// common are the packages that manager and clients have in common: decisions, files of policies, kubeconfigs.
var common = []string{
	"api", "pkg", "internal/module", "internal/policy", "internal/kubeconfig", "internal/egress", "internal/signcoverage", "internal/takeover",
	"internal/installable",
}

// inManager is what most of the manager may import: never each other, setup joins them.
var inManager = []string{
	"api", "pkg", "internal/module", "internal/kubeconfig", "internal/egress", "internal/signcoverage", "internal/installable",
	"internal/manager/sharding", "internal/manager/workerslot", "internal/manager/priority", "internal/manager/hubwatch",
	"internal/manager/predicates", "internal/manager/progress", "internal/manager/phases", "internal/manager/runtimes",
	"internal/manager/tracing",
}

// ofModules is what those clients may import that work on what a cluster says of modules.
var ofModules = append([]string{"internal/client/modulestatus", "internal/client/statusreader"}, common...)

// layers holds the direction of imports. The first one that matches counts.
var layers = []layer{
	{"api", nil},
	{"pkg", nil},
	{"samples/beacon", []string{"pkg"}}, // an operator that embeds the libraries, as one of another user does
	{"samples", nil},
	{"config/crd", nil}, // generated definitions, embedded
	{"config", nil},     // what installs the operator, embedded

	{"internal/egress", nil},
	{"internal/module", []string{"api", "pkg"}},
	{"internal/signcoverage", []string{"api", "pkg"}},
	{"internal/installable", []string{"api", "pkg", "internal/module"}},
	{"internal/kubeconfig", []string{"api", "internal/egress"}},
	{"internal/policy", []string{"api", "pkg", "internal/module"}},
	{"internal/takeover", []string{"api", "pkg", "internal/module", "internal/kubeconfig"}},

	{"internal/manager/sharding", nil},
	{"internal/manager/workerslot", nil},
	{"internal/manager/priority", nil},
	{"internal/manager/hubwatch", nil},
	{"internal/manager/predicates", []string{"api"}},
	{"internal/manager/progress", []string{"api", "internal/module"}},
	{"internal/manager/phases", []string{"api"}},
	{"internal/manager/tracing", []string{"api"}},
	{"internal/manager/runtimes", []string{"api", "pkg"}},
	{"internal/manager/remotesync", []string{"api", "pkg", "config/crd"}},
	{"internal/manager/controller/*", append([]string{"internal/manager/remotesync"}, inManager...)},
	{"internal/manager/setup", append([]string{"internal/manager"}, common...)},
	{"internal/manager/*", inManager},

	{"internal/client/userfile", nil},
	{"internal/client/modulestatus", []string{"api", "pkg", "internal/module"}},
	{"internal/client/statusreader", append([]string{"internal/client/modulestatus"}, common...)},
	{"internal/client/packaging", append([]string{"internal/client/userfile"}, common...)},
	{"internal/client/registryauth", append([]string{"internal/client/userfile"}, common...)},
	{"internal/client/managerinstall", append([]string{"config"}, common...)},
	{"internal/client/rollouts", []string{"api", "pkg", "internal/module", "internal/client/modulestatus"}},
	{"internal/client/rolloutedit", append([]string{"internal/client/rollouts", "internal/client/kymaedit"}, ofModules...)},
	{"internal/client/versioncontent", append([]string{"internal/client/directinstall"}, ofModules...)},
	{"internal/client/hubsettings", append([]string{"internal/client/versioncontent"}, common...)},
	{"internal/client/runtimedryrun", common},
	{"internal/client/releaseoutlook", append([]string{
		"internal/client/hubsettings", "internal/client/versioncontent", "internal/client/releasepreview", "internal/client/runtimedryrun",
		"internal/client/runtimeaccess",
	}, ofModules...)},
	{"internal/client/releasepreview", []string{"api", "pkg", "internal/module", "internal/client/modulestatus"}},
	{"internal/client/causereader", append([]string{"internal/client/ownedobjects"}, ofModules...)},
	{"internal/client/treereader", append([]string{"internal/client/ownedobjects"}, ofModules...)},
	{"internal/client/resourcetree", []string{"api", "pkg", "internal/client/modulestatus"}},
	{"internal/client/podlogs", nil},
	{"internal/client/airgap", append([]string{"internal/client/managerinstall"}, common...)},
	{"internal/client/*", ofModules},

	{"internal/devenv/localcluster", []string{"api", "pkg"}},
	{"internal/devenv/playground", []string{"api", "pkg", "internal/devenv/localcluster", "samples"}},
	{"internal/devenv/*", []string{"api", "pkg", "internal/devenv", "samples"}},

	{"internal/dashboard/operations", append([]string{"internal/client"}, common...)},
	{"internal/dashboard/*", append([]string{"internal/client", "internal/dashboard/operations"}, common...)},
	{"internal/cli", append([]string{"internal/client", "internal/dashboard", "internal/devenv", "samples"}, common...)},

	{"cmd", []string{"api", "pkg", "internal"}},
	{"hack/release", []string{"internal/client/managerinstall", "hack/image"}},
	{"hack/*", []string{"api", "pkg", "internal"}},
	{"tests", []string{"api", "pkg", "internal"}},
}

// forTests may be imported by every test file: they start real API servers.
var forTests = []string{"tests/testkit", "internal/devenv/localcluster"}

// ImportDirection finds imports of this module that go the wrong way, and packages that have no place in the layers.
func ImportDirection(tree *Tree) []string {
	var found []string
	for _, p := range tree.Packages {
		from, ok := layerOf(p.Dir)
		if !ok {
			found = append(found, p.Dir+": has no place in the layers: give it one in tests/arch/imports.go and in docs/architecture.md")
			continue
		}
		for _, file := range p.Files {
			for _, i := range tree.Imports(file) {
				if i.Own == "" || allowed(from, i.Own) || file.Test && below(i.Own, forTests) {
					continue
				}
				found = append(found, fmt.Sprintf("%s: %s must not import %s, but itself%s: "+
					"declare a small interface where it is needed and let internal/manager/setup join the two", i.At, p.Dir, i.Own, list(from.may)))
			}
		}
	}
	return found
}

func allowed(from layer, target string) bool {
	return below(target, []string{from.name}) || below(target, from.may)
}

// layerOf finds the layer of a folder, with the folder's own name in place of "*".
func layerOf(dir string) (layer, bool) {
	for _, l := range layers {
		depth := strings.Count(l.name, "/") + 1
		elements := strings.Split(dir, "/")
		if len(elements) < depth {
			continue
		}
		head := path.Join(elements[:depth]...)
		if match, err := path.Match(l.name, head); err == nil && match {
			return layer{name: head, may: l.may}, true
		}
	}
	return layer{}, false
}

func below(dir string, roots []string) bool {
	for _, root := range roots {
		if dir == root || strings.HasPrefix(dir, root+"/") {
			return true
		}
	}
	return false
}

func list(names []string) string {
	if len(names) == 0 {
		return " alone"
	}
	return " and " + strings.Join(names, ", ")
}

// restricted are dependencies from outside that only some packages may have.
var restricted = []struct {
	prefix, why string
	packages    func(dir string, test bool) bool
}{
	{
		prefix:   "github.com/stretchr/testify",
		why:      "use plain testing with go-cmp, or ginkgo with gomega in tests/integration and tests/e2e",
		packages: func(string, bool) bool { return false },
	},
	{
		prefix: ocmLibrary,
		why:    "only pkg/component links the OCM library; the manager reads component versions by pkg/component/descriptor",
		packages: func(dir string, test bool) bool {
			return dir == "pkg/component" || test && below(dir, []string{"pkg/component"}) || below(dir, []string{"tests"})
		},
	},
}

// ocmLibrary is the module of the OCM library: 1,888 packages and 97 MiB at start.
const ocmLibrary = "github.com/open-component-model/"

// RestrictedImports finds dependencies where they do not belong.
func RestrictedImports(tree *Tree) []string {
	return eachImport(tree, func(p *Package, file *File, i Import) string {
		for _, r := range restricted {
			if strings.HasPrefix(i.Path, r.prefix) && !r.packages(p.Dir, file.Test) {
				return fmt.Sprintf("must not import %s: %s", i.Path, r.why)
			}
		}
		return ""
	})
}

// APIImports finds imports of the API packages beyond the standard library and apimachinery, which everyone who uses the
// types would inherit.
func APIImports(tree *Tree) []string {
	return eachImport(tree, func(p *Package, file *File, i Import) string {
		standard := !strings.Contains(strings.Split(i.Path, "/")[0], ".")
		if !below(p.Dir, []string{"api"}) || file.Test || standard || i.Own != "" || strings.HasPrefix(i.Path, "k8s.io/apimachinery/") {
			return ""
		}
		return fmt.Sprintf("must not import %s: API types are made of apimachinery only", i.Path)
	})
}

// forbiddenLink is the beginning of packages that a program or a library must not link, and what needs them.
type forbiddenLink struct{ prefix, needed string }

// forbiddenLinks are these by package.
var forbiddenLinks = map[string][]forbiddenLink{
	"./cmd": notInManager, "./pkg/installer": optional, "./pkg/declarative": optional,
	"./samples/beacon": {optionalKustomize, optionalGit}, "./pkg/component": lateOCM, "./cmd/kyma": append(noTraces, lateOCM...),
}

// noTraces are what the manager sends traces with. The API of OpenTelemetry comes with libraries, and does nothing without them.
var noTraces = []forbiddenLink{
	{"go.opentelemetry.io/otel/sdk", "internal/manager/tracing/otlp"},
	{"go.opentelemetry.io/otel/exporters", "internal/manager/tracing/otlp"},
	{"go.opentelemetry.io/proto", "internal/manager/tracing/otlp"},
}

// lateOCM are the parts of the OCM library that made up a fifth of the start of every command of kyma, as Go prepares a package that is
// linked whether or not it is used: oci and ocm/grammar compile regular expressions for a dozen milliseconds, and the others bring them
// along. pkg/component needs descriptors (ocm/compdesc) and writes the accesses in them itself.
var lateOCM = []forbiddenLink{
	{ocmLibrary + "ocm/pkg/contexts/oci", "tests"},
	{ocmLibrary + "ocm/pkg/contexts/ocm/grammar", "tests"},
	{ocmLibrary + "ocm/pkg/contexts/ocm/cpi", "tests"},
	{ocmLibrary + "ocm/pkg/contexts/ocm/accessmethods", "tests"},
}

var (
	optionalHelm      = forbiddenLink{"helm.sh/", "pkg/render/helm"}
	optionalKustomize = forbiddenLink{"sigs.k8s.io/kustomize/", "pkg/render/kustomize"}
	optionalGit       = forbiddenLink{"github.com/go-git/", "pkg/content/git"}
	// optional are the libraries of formats and origins that a program imports only when it uses them.
	optional = []forbiddenLink{optionalHelm, optionalKustomize, optionalGit}
)

var notInManager = []forbiddenLink{
	{ocmLibrary, "pkg/component"},
	{ownModule + "/internal/client", "kyma"},
	{ownModule + "/internal/dashboard", "kyma"},
	{ownModule + "/internal/devenv", "kyma"},
	{"sigs.k8s.io/controller-runtime/pkg/envtest", "internal/devenv/localcluster"},
	{"github.com/onsi/", "tests"},
	// Helm's releases would be a second record of what is installed, and its clients bring a WASM runtime.
	{"helm.sh/helm/v4/pkg/action", "tests"},
	{"helm.sh/helm/v4/pkg/storage", "no program"},
	{"helm.sh/helm/v4/pkg/kube", "no program"},
	{"github.com/tetratelabs/wazero", "no program"},
}

// ownModule is this module's.
const ownModule = "github.com/kyma-project/lifecycle-manager"

// Links finds what a package must not link among its dependencies (go list -deps).
func Links(linking string, dependencies []string) []string {
	var found []string
	for _, name := range dependencies {
		for _, forbidden := range forbiddenLinks[linking] {
			if strings.HasPrefix(name, forbidden.prefix) {
				found = append(found, fmt.Sprintf("%s: it links %s: find what it imports on the way to %s", linking, name, forbidden.needed))
			}
		}
	}
	return found
}

func eachImport(tree *Tree, judge func(*Package, *File, Import) string) []string {
	var found []string
	for _, p := range tree.Packages {
		for _, file := range p.Files {
			for _, i := range tree.Imports(file) {
				if message := judge(p, file, i); message != "" {
					found = append(found, i.At+": "+message)
				}
			}
		}
	}
	return found
}

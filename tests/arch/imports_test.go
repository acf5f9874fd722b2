package arch

import (
	"strings"
	"testing"
)

// importing returns a file that imports the given paths of the fixture's module.
func importing(paths ...string) string {
	return "package p\n\nimport (\n\t_ \"" + strings.Join(paths, "\"\n\t_ \"") + "\"\n)\n"
}

const own = "example.com/m/"

func TestImportDirection(t *testing.T) {
	for name, tc := range map[string]struct {
		file, imports, want string
	}{
		"a library may use a library":                      {"pkg/a/a.go", "pkg/b", ""},
		"a library must not use the API":                   {"pkg/a/a.go", "api/v1", "pkg/a/a.go:4: pkg/a must not import api/v1"},
		"a library must not use internals":                 {"pkg/a/a.go", "internal/module", "pkg/a/a.go:4"},
		"the test of a library may start an API server":    {"pkg/a/a_test.go", "tests/testkit", ""},
		"the test of a library must not use internals":     {"pkg/a/a_test.go", "internal/module", "pkg/a/a_test.go:4"},
		"only tests may use the test suites":               {"internal/manager/clustercache/a.go", "tests/testkit", "internal/manager/clustercache/a.go:4"},
		"the decisions may use the API":                    {"internal/module/a.go", "api/v1", ""},
		"the decisions must not know the controllers":      {"internal/module/a.go", "internal/manager/controller/kyma", "internal/module/a.go:4"},
		"a controller may use the decisions":               {"internal/manager/controller/kyma/a.go", "internal/module", ""},
		"a controller may use its own parts":               {"internal/manager/controller/kyma/a.go", "internal/manager/controller/kyma/part", ""},
		"a controller must not use the connections":        {"internal/manager/controller/a/a.go", "internal/manager/clustercache", "internal/manager/controller/a/a.go:4"},
		"the connections must not use a controller":        {"internal/manager/clustercache/a.go", "internal/manager/controller/kyma", "internal/manager/clustercache/a.go:4"},
		"a controller must not use the next":               {"internal/manager/controller/a/a.go", "internal/manager/controller/b", "internal/manager/controller/a"},
		"a controller must not use setup":                  {"internal/manager/controller/a/a.go", "internal/manager/setup", "internal/manager/controller/a/a.go:4"},
		"setup joins controllers and connections":          {"internal/manager/setup/a.go", "internal/manager/controller/kyma", ""},
		"a program uses setup":                             {"cmd/a.go", "internal/manager/setup", ""},
		"a program must not use the test suites":           {"cmd/a.go", "tests/testkit", "cmd/a.go:4"},
		"a name that only begins alike is another package": {"internal/manager/clustercache/a.go", "internal/module2", "internal/manager/clustercache/a.go:4"},
		"another folder at the top has no place":           {"lib/other/a.go", "api/v1", "lib/other: has no place in the layers"},
		"what stands beside them must not use them":        {"internal/manager/modulecontent/a.go", "internal/manager/clustercache", "internal/manager/modulecontent/a.go:4"},
		"the manager must not use what acts as a user":     {"internal/manager/setup/a.go", "internal/client/modulestatus", "internal/manager/setup/a.go:4"},
		"what acts as a user must not use the manager":     {"internal/client/waitfor/a.go", "internal/manager/sharding", "internal/client/waitfor/a.go:4"},
		"the dashboard must not use the command line":      {"internal/dashboard/server/a.go", "internal/cli", "internal/dashboard/server/a.go:4"},
		"the command line may use the status tree":         {"internal/cli/a.go", "internal/client/modulestatus", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ImportDirection(fixture(t, map[string]string{tc.file: importing(own + tc.imports)}))
			expect(t, got, wanted(tc.want)...)
		})
	}
	expect(t, ImportDirection(fixture(t, map[string]string{"pkg/a/a.go": importing("example.com/other/internal/module")})))
}

func wanted(place string) []string {
	if place == "" {
		return nil
	}
	return []string{place}
}

func TestRestrictedImports(t *testing.T) {
	const (
		ocm     = "github.com/open-component-model/ocm/pkg/contexts/ocm"
		testify = "github.com/stretchr/testify/assert"
	)
	for name, tc := range map[string]struct {
		file, imports, want string
	}{
		"testify is refused":                              {"pkg/a/a.go", testify, "pkg/a/a.go:4: must not import " + testify},
		"testify is refused in tests":                     {"pkg/a/a_test.go", testify, "pkg/a/a_test.go:4"},
		"the OCM library belongs to pkg/component":        {"pkg/component/a.go", ocm, ""},
		"reading descriptors does without it":             {"pkg/component/descriptor/a.go", ocm, "pkg/component/descriptor/a.go:4"},
		"the reader's tests compare with it":              {"pkg/component/descriptor/a_test.go", ocm, ""},
		"test suites may use it":                          {"tests/integration/a.go", ocm, ""},
		"no one else may":                                 {"internal/manager/clustercache/a.go", ocm, "internal/manager/clustercache/a.go:4"},
		"nor the tests of anyone else":                    {"internal/manager/clustercache/a_test.go", ocm, "internal/manager/clustercache/a_test.go:4"},
		"a module whose name begins alike is another one": {"internal/manager/clustercache/a.go", "github.com/open-component-modelling/x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := RestrictedImports(fixture(t, map[string]string{tc.file: importing(tc.imports)}))
			expect(t, got, wanted(tc.want)...)
		})
	}
}

func TestAPIImports(t *testing.T) {
	tree := fixture(t, map[string]string{
		"api/v1/a.go":      importing("fmt", "net/url", "k8s.io/apimachinery/pkg/runtime", own+"api/v2", "sigs.k8s.io/yaml"),
		"api/v1/a_test.go": importing("sigs.k8s.io/yaml"),
		"pkg/a/a.go":       importing("sigs.k8s.io/yaml"),
	})
	expect(t, APIImports(tree), "api/v1/a.go:8: must not import sigs.k8s.io/yaml")
}

func TestLinks(t *testing.T) {
	expect(t, Links("./cmd", []string{"fmt", "oras.land/oras-go/v2"}))
	expect(t, Links("./cmd", []string{"fmt", ocmLibrary + "ocm/pkg/common"}), "./cmd: it links "+ocmLibrary)
	expect(t, Links("./cmd", []string{"sigs.k8s.io/controller-runtime/pkg/envtest"}), "./cmd: it links sigs")
	expect(t, Links("./cmd", []string{"helm.sh/helm/v4/pkg/engine", "helm.sh/helm/v4/pkg/storage/driver"}), "./cmd: it links helm.sh/helm/v4/pkg/storage")
	expect(t, Links("./pkg/installer", []string{"helm.sh/helm/v4/pkg/engine"}), "./pkg/installer: it links helm.sh")
	grammar := ocmLibrary + "ocm/pkg/contexts/oci/grammar"
	expect(t, Links("./cmd/kyma", []string{ocmLibrary + "ocm/pkg/contexts/ocm/compdesc", grammar}), "./cmd/kyma: it links "+grammar)
	expect(t, Links("./samples/beacon", []string{"helm.sh/helm/v4/pkg/engine"}))
}

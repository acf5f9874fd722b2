package hostile

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// charted makes the module a chart that uses discovery of the runtime, and makes the runtime send that answer at one of the two paths.
func charted(place string, answer func(*trap, http.ResponseWriter, *http.Request)) func(target) *trap {
	return func(v target) *trap {
		chart := testkit.Chart(v.module, "1.0.0", testkit.Files{
			"templates/map.yaml": `{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + v.module + `-0}, data: {` +
				`apps: {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" | quote }}, all: {{ len .Capabilities.APIVersions | quote }}}}`,
		})
		env.Publish(testkit.ComponentName(v.module), "1.0.0",
			component.Resource{Name: "chart", Type: "helmChart", MediaType: component.MediaTypeTar, Data: chart.Tar()})
		return setTrap(on(at(place), answer))
	}
}

// row writes that many items of a JSON array. It keeps nothing in memory: memory of the tests would hide that of the manager.
func row(w io.Writer, count int, item func(i int)) {
	_, _ = io.WriteString(w, "[")
	for i := range count {
		if i > 0 {
			_, _ = io.WriteString(w, ",")
		}
		item(i)
	}
	_, _ = io.WriteString(w, "]")
}

// aggregated returns an aggregated discovery document with that many groups, versions in each, and kinds in each of them.
func aggregated(groups, versions, kinds, length int) func(*trap, http.ResponseWriter, *http.Request) {
	return func(_ *trap, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		name := strings.Repeat("a", length)
		_, _ = io.WriteString(w, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":`)
		row(w, groups, func(i int) {
			_, _ = fmt.Fprintf(w, `{"metadata":{"name":"g%d.hostile.test"},"versions":`, i)
			row(w, versions, func(i int) {
				_, _ = fmt.Fprintf(w, `{"version":"v%d","freshness":"Current","resources":`, i+1)
				row(w, kinds, func(i int) {
					_, _ = fmt.Fprintf(w, `{"resource":"k%[1]d","responseKind":{"group":"","version":"","kind":"K%[1]d%[2]s"},`+
						`"scope":"Namespaced","verbs":["list","delete"]}`, i, name)
				})
				_, _ = io.WriteString(w, "}")
			})
			_, _ = io.WriteString(w, "}")
		})
		_, _ = io.WriteString(w, "}")
	}
}

// listed returns the older document, with that many groups.
func listed(groups int) func(*trap, http.ResponseWriter, *http.Request) {
	return func(_ *trap, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":`)
		row(w, groups, func(i int) {
			_, _ = fmt.Fprintf(w, `{"name":"g%[1]d.hostile.test","versions":[{"groupVersion":"g%[1]d.hostile.test/v1","version":"v1"}]}`, i)
		})
		_, _ = io.WriteString(w, "}")
	}
}

var _ = DescribeTable("A runtime that tells all that it serves at once, and serves", strike,
	Entry("as much as is read at most", attack{set: charted("/apis", aggregated(300, 2, 40, 0)), either: true, lasts: long}),
	Entry("a hundred thousand groups", attack{set: charted("/apis", aggregated(100_000, 1, 0, 0)), either: true, lasts: long}),
	Entry("a hundred thousand versions of a group", attack{set: charted("/apis", aggregated(1, 100_000, 0, 0)), either: true, lasts: long}),
	Entry("a hundred thousand kinds of a group", attack{set: charted("/apis", aggregated(1, 1, 100_000, 0)), lasts: long}),
	Entry("kinds with names of a megabyte", attack{set: charted("/apis", aggregated(1, 1, 6, 1<<20)), either: true, lasts: long}),
	Entry("endless groups", attack{lasts: long, set: charted("/apis", stream(`{"kind":"APIGroupDiscoveryList","items":[`, `{"metadata":{"name":"g"}},`))}),
	Entry("endless empty items", attack{lasts: long, set: charted("/api", stream(`{"kind":"APIGroupDiscoveryList","items":[`, "{},"))}),
	Entry("a very deep document", attack{lasts: long, set: charted("/apis", stream(`{"kind":"APIGroupDiscoveryList","items":`, "["))}),
	Entry("more groups than can be requested one by one", attack{set: charted("/apis", listed(100_000))}),
	Entry("an invalid document", attack{set: charted("/apis", func(_ *trap, w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, `{"kind":"`+strings.Repeat("Thing", 100_000)+`","groups":7}`)
	})}),
	Entry("a version that never ends", attack{set: charted("/version", stream(`{"gitVersion":"`, "a")), lasts: long}),
)

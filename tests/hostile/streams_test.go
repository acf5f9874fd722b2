package hostile

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// workload returns a module with a Deployment that is read in full.
func workload(module string) testkit.Content { return testkit.Deployment(module, "1.0.0") }

// operator returns a module with a definition, a Deployment and a custom resource.
func operator(module string) testkit.Content { return testkit.Operator(module, "1.0.0") }

// page returns an endless sequence of list pages, each with as many objects as are requested.
func page(item string) func(*trap, http.ResponseWriter, *http.Request) {
	return func(t *trap, w http.ResponseWriter, _ *http.Request) {
		n := t.met.Load()
		var items []string
		for i := range 200 {
			items = append(items, fmt.Sprintf(item, n, i))
		}
		answerJSON(w, http.StatusOK, fmt.Sprintf(`{"metadata":{"resourceVersion":"1","continue":"page-%d"},"items":[%s]}`, n, strings.Join(items, ",")))
	}
}

// events answers a watch with endless events of the same type.
func events(event string) func(*trap, http.ResponseWriter, *http.Request) {
	return func(t *trap, w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for n := int64(1000); t.open(req); {
			var block strings.Builder
			for block.Len() < 32<<10 {
				_, _ = fmt.Fprintf(&block, event+"\n", n)
				n++
			}
			if _, err := io.WriteString(w, block.String()); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// lapse ends every watch at once, as if it had expired.
func lapse(_ *trap, w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, http.StatusOK, `{"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"Expired","code":410,"message":"too old"}}`+"\n")
}

// over ends every watch at once, without an error.
func over(_ *trap, w http.ResponseWriter, _ *http.Request) { answerJSON(w, http.StatusOK, "") }

const (
	someMap = `{"metadata":{"namespace":"a","name":"m-%d-%d","uid":"u","resourceVersion":"1"}}`
	someCRD = `{"metadata":{"name":"c%d-%d.hostile.test","uid":"u","resourceVersion":"1"}}`
	aMarkOf = `{"metadata":{"namespace":"default","name":"m-%d-%d","uid":"u","resourceVersion":"1","annotations":{` + ownedBy + `}}}`
	ownedBy = `"` + v1beta2.AnnotationOwnedBy + `":"kcp-system/OWNER"`
	newMap  = `{"type":"ADDED","object":{"metadata":{"namespace":"a","name":"map-%[1]d","uid":"u","resourceVersion":"%[1]d"}}}`
	changed = `{"type":"MODIFIED","object":{"metadata":{"namespace":"default","name":"MODULE-0","uid":"u-%[1]d","resourceVersion":"%[1]d",` +
		`"labels":{"` + v1beta2.LabelManagedBy + `":"kyma"},"annotations":{` + ownedBy + `}}}}`
	stolen = `{"type":"MODIFIED","object":{"metadata":{"namespace":"default","name":"map-0","uid":"u-%[1]d","resourceVersion":"%[1]d",` +
		`"annotations":{` + ownedBy + `}}}}`
	unheard  = `{"type":"SHRUGGED","object":{"metadata":{"name":"map-%d"}}}`
	bookmark = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"%d"}}}`
	failed   = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"default","name":"NAME","uid":"u","generation":1,"resourceVersion":"5",` +
		`"labels":{"operator.kyma-project.io/managed-by":"kyma"}},"spec":{"replicas":1},"status":{"observedGeneration":1,"conditions":[{"type":"Progressing",` +
		`"status":"False","reason":"ProgressDeadlineExceeded","message":"LONG"},{"type":"ReplicaFailure","status":"True","message":"LONG"}]}}`
)

// churning changes one object of the module repeatedly, each time with new data.
func churning(v target) *trap {
	return setTrap(on(watches("configmaps"), events(strings.NewReplacer("MODULE", v.module, "OWNER", v.manifest()).Replace(changed))))
}

// lent changes that object too, but marks it as owned by the neighbour's Manifest.
func lent(v target) *trap {
	return setTrap(on(watches("configmaps"), events(strings.NewReplacer("MODULE", v.module, "OWNER", neighbour.manifest()).Replace(changed))))
}

// marked sets a trap whose responses name the neighbour's Manifest as the owner of objects that it does not have.
func marked(match func(*http.Request) bool, answer func(string) func(*trap, http.ResponseWriter, *http.Request), object string) func(target) *trap {
	return func(target) *trap {
		return setTrap(on(match, answer(strings.ReplaceAll(object, "OWNER", neighbour.manifest()))))
	}
}

// lamenting makes the module's Deployment fail with a very long explanation.
func lamenting(v target) *trap {
	text := strings.NewReplacer("NAME", v.module, "LONG", strings.Repeat("woe ", 1<<18)).Replace(failed)
	text = `{"metadata":{"resourceVersion":"5"},"items":[` + text + `]}`
	return setTrap(on(lists("deployments"), func(_ *trap, w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, text)
	}))
}

// hoarding sends most of an event on every stream, and then nothing more.
func hoarding() bait {
	return on(func(req *http.Request) bool { return req.URL.Query().Get("watch") != "" },
		func(_ *trap, w http.ResponseWriter, req *http.Request) {
			answerJSON(w, http.StatusOK, `{"type":"ADDED","object":{"a":"`)
			for range 5 << 20 / len(junk) {
				_, _ = w.Write(junk)
			}
			_ = http.NewResponseController(w).Flush()
			<-req.Context().Done()
		})
}

var _ = DescribeTable("A runtime that lists", strike,
	Entry("endless objects in one page", attack{
		set:   setting(on(lists("configmaps"), counted(`{"metadata":{"resourceVersion":"1"},"items":[`, `{"metadata":{"name":"m%d"}},`))),
		tells: "cannot be watched",
	}),
	Entry("one endless object", attack{
		set: setting(on(lists("deployments"), stream(`{"metadata":{"resourceVersion":"1"},"items":[{"spec":{"a":[`, "[],"))), content: workload,
		lasts: long,
	}),
	Entry("endless pages", attack{set: setting(on(lists("configmaps"), page(someMap))), tells: "cannot be watched"}),
	Entry("definitions by the hundred thousand", attack{
		set: setting(on(lists("customresourcedefinitions"), page(someCRD))), content: operator, lasts: long,
	}),
	Entry("objects with the marks of other owners", attack{
		set: marked(lists("configmaps"), page, aMarkOf), tells: "cannot be watched", wakes: 20,
	}),
	Entry("a failure with a message of megabytes", attack{set: lamenting, content: workload}),
	Entry("numbers for names", attack{set: setting(on(lists("configmaps"), func(_ *trap, w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, `{"metadata":[],"items":[{"metadata":{"name":7,"annotations":[]}}]}`)
	})), harmless: true, atMost: 20}),
)

var _ = DescribeTable("A runtime that streams", strike,
	Entry("endless new objects", attack{set: setting(on(watches("configmaps"), events(newMap))), lasts: long, harmless: true}),
	Entry("endless changes of one object", attack{set: churning, lasts: long, either: true}),
	Entry("objects with the marks of other owners", attack{set: marked(watches("configmaps"), events, stolen), lasts: long, harmless: true, wakes: 20}),
	Entry("endless changes of one object that is marked as a neighbour's", attack{set: lent, lasts: long, either: true, wakes: 20}),
	Entry("endless bookmarks", attack{set: setting(on(watches("configmaps"), events(bookmark))), lasts: long, harmless: true}),
	Entry("events that do not exist", attack{set: setting(on(watches("configmaps"), events(unheard))), harmless: true, dwell: 2 * time.Second, atMost: 20}),
	Entry("one endless event", attack{
		set: setting(on(watches("configmaps"), stream(`{"type":"ADDED","object":{"a":"`, "a"))), lasts: long, harmless: true,
	}),
	Entry("an event that is deeper than a stack", attack{
		set: setting(on(watches("deployments"), stream(`{"type":"ADDED","object":{"status":`, "["))), content: workload, lasts: long,
	}),
	Entry("most of an event on every stream", attack{set: setting(hoarding()), content: operator, lasts: long}),
	Entry("that every stream has expired", attack{set: setting(on(watches("configmaps"), lapse)), harmless: true, dwell: 2 * time.Second, atMost: 15}),
	Entry("nothing, and ends at once", attack{set: setting(on(watches("configmaps"), over)), harmless: true, dwell: 2 * time.Second, atMost: 15}),
)

// discovered matches requests for discovery.
func discovered(req *http.Request) bool {
	return req.Method == http.MethodGet && (req.URL.Path == "/apis" || req.URL.Path == "/api" || req.URL.Path == "/apis/testkit.kyma-project.io/v1")
}

// stranger returns a module with an object of an unknown kind.
func stranger(module string) testkit.Content {
	object := testkit.ParseYAML(`{apiVersion: testkit.kyma-project.io/v1, kind: Stranger, metadata: {name: ` + module + `, namespace: default}}`)
	content := testkit.ConfigMaps(module, "1.0.0", 1)
	content.Objects = append(content.Objects, object)
	return content
}

var _ = DescribeTable("A runtime that serves", strike,
	Entry("a hundred thousand kinds", attack{content: stranger, lasts: long, set: setting(on(discovered,
		func(_ *trap, w http.ResponseWriter, _ *http.Request) {
			var kinds strings.Builder
			for i := range 100_000 {
				_, _ = fmt.Fprintf(&kinds, `,{"name":"kinds%d","kind":"Kind%d"}`, i, i)
			}
			answerJSON(w, http.StatusOK, `{"kind":"APIResourceList","groupVersion":"testkit.kyma-project.io/v1","resources":[`+kinds.String()[1:]+`]}`)
		}))}),
	Entry("endless kinds, all of them empty", attack{content: stranger, lasts: long,
		set: setting(on(discovered, stream(`{"kind":"APIResourceList","resources":[`, "{},")))}),
	Entry("everything as growing YAML", attack{lasts: long, set: setting(on(writes, func(_ *trap, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = io.WriteString(w, laughs)
	}))}),
)

// laughs is a small YAML document that is large when expanded.
var laughs = func() string {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na0: &a0 [lol,lol,lol,lol,lol,lol,lol,lol,lol]\n")
	for n := range 9 {
		_, _ = fmt.Fprintf(&text, "a%d: &a%d [%s]\n", n+1, n+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", n), 9), ","))
	}
	return text.String()
}()

// A runtime's own Kyma is what its users write: see internal/module/runtimespec.go for the accepted parts. The response to a write is the
// same Kyma: the API server's own, which is an honest one, would otherwise end the attack with the first write. Only lists are the attack.
var asksFor = func(spec string) func(target) *trap {
	kyma := `{"apiVersion":"operator.kyma-project.io/v1beta2","kind":"Kyma","metadata":` +
		`{"namespace":"kyma-system","name":"default","uid":"u","resourceVersion":"1"},"spec":` + spec + `}`
	list := `{"apiVersion":"operator.kyma-project.io/v1beta2","kind":"KymaList","metadata":{"resourceVersion":"1"},"items":[` + kyma + `]}`
	return setting(func(t *trap, next http.Handler) http.Handler {
		lying := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			switch {
			case watches("kymas")(req):
				<-req.Context().Done()
			case strings.Contains(req.URL.Path+"/", "/namespaces/kyma-system/kymas/") && !lists("kymas")(req):
				answerJSON(w, http.StatusOK, kyma)
			default:
				next.ServeHTTP(w, req)
			}
		})
		return on(lists("kymas"), func(_ *trap, w http.ResponseWriter, _ *http.Request) { answerJSON(w, http.StatusOK, list) })(t, lying)
	})
}

var _ = DescribeTable("A runtime whose Kyma requests", strike,
	Entry("ten thousand modules", attack{synced: true, set: asksFor(`{"channel":"regular","modules":[` +
		strings.TrimSuffix(strings.Repeat(`{"name":"a"},`, 10_000), ",") + `]}`), tells: v1beta2.ReasonRuntimeSpecRefused}),
	Entry("a name of megabytes", attack{synced: true, set: asksFor(`{"channel":"regular","modules":[{"name":"` + strings.Repeat("a", 4<<20) + `"}]}`),
		tells: v1beta2.ReasonRuntimeSpecRefused}),
	Entry("names that are paths and commands", attack{synced: true,
		set: asksFor(`{"channel":"../../etc","modules":[{"name":"$(reboot)\u0000\u202e<script>"}]}`), tells: v1beta2.ReasonRuntimeSpecRefused}),
	Entry("strings instead of lists", attack{synced: true, set: asksFor(`{"channel":7,"modules":"all"}`)}),
	Entry("invalid nesting at a depth of a hundred thousand", attack{synced: true,
		set: asksFor(strings.Repeat(`{"modules":`, 100_000) + "1" + strings.Repeat("}", 100_000)), lasts: long}),
)

package operations

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// recorded counts the recorded operations.
func (b *bench) recorded() int {
	b.Helper()
	var maps corev1.ConfigMapList
	if err := b.List(b.Context(), &maps, client.InNamespace(b.namespace), client.HasLabels{LabelTask}); err != nil {
		b.Fatal(err)
	}
	return len(maps.Items)
}

// TestGuards_WhoMayOnlyReadStartsNothing: nothing is left that a user with more permissions could resume.
func TestGuards_WhoMayOnlyReadStartsNothing(t *testing.T) {
	b := newBench(t)
	kyma, reader := b.kyma("demo"), b.user("reader-"+b.namespace)
	b.may(reader, rule(v1beta2.GroupVersion.Group, "kymas moduletemplates modulereleasemetas", "get list watch"))
	b.refused(reader, Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes}}}, WhyForbidden, reader.Name)
	b.refused(reader, Request{Kind: Channel, Kyma: kyma, Channel: "fast"}, WhyForbidden, reader.Name)
	if n := b.recorded(); n != 0 {
		t.Errorf("%d operations are recorded", n)
	}
}

// TestGuards_AnAddWritesOnlyTheKindOfTheModule: other objects would be written with the permissions of the user who resumes it.
func TestGuards_AnAddWritesOnlyTheKindOfTheModule(t *testing.T) {
	b := newBench(t)
	b.manages()
	group := b.papers()
	kyma, admin := b.kyma("demo"), b.admin()
	binding := object("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: " + b.namespace + "}}")
	add := func(kyma string, wanted Wanted) Request {
		return Request{Kind: Add, Kyma: kyma, Modules: []Wanted{wanted}}
	}
	b.refused(admin, add(kyma, Wanted{Name: b.notes, Resource: binding}), WhyInvalid, "ClusterRoleBinding", "Paper."+group)
	b.refused(admin, add(kyma, Wanted{Name: b.notes, Version: "1.2.0", Resource: b.paper(group, "own")}), WhyInvalid, "no custom resource")
	direct := addCommunity(b.widget(), "0.1.0")
	direct.Modules[0].Resource = binding
	b.refused(admin, direct, WhyInvalid, "ClusterRoleBinding", "Sample."+direct.Modules[0].Name)
	if n := b.recorded(); n != 0 || b.entries(kyma) != "" {
		t.Errorf("%d operations are recorded, and the Kyma has %q", n, b.entries(kyma))
	}
	b.succeeds(admin, add(kyma, Wanted{Name: b.notes, Resource: b.paper(group, "own")}))
	if b.find(group+"/v1", "Paper", b.namespace, "own") == nil {
		t.Error("the custom resource is not there")
	}
}

// TestCustomResourcesAreNotRecorded: their content may be secret, and a server without it reports that.
func TestCustomResourcesAreNotRecorded(t *testing.T) {
	b := newBench(t)
	group := b.papers()
	kyma, admin := b.kyma("demo"), b.admin()
	doomed, end := b.mortal()
	own := b.paper(group, "own")
	own.Object["spec"] = map[string]any{"password": "open-sesame"}
	op, err := doomed.Start(t.Context(), admin, Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes, Resource: own}}})
	if err != nil || op.Deed.Modules[0].Resource.Object["spec"] == nil {
		t.Fatalf("%+v %v", op, err)
	}
	written := &corev1.ConfigMap{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: recordPrefix + op.ID}, written); err != nil {
		t.Fatal(err)
	}
	text := written.Data[recordKey]
	if strings.Contains(text, "sesame") || strings.Contains(text, "password") || !strings.Contains(text, `"own"`) {
		t.Errorf("it is recorded: %s", text)
	}
	end()
	seen, err := b.waits(b.engine, admin, op.ID, func(op Operation) bool { return op.State == Interrupted })
	if err != nil {
		t.Fatal(err)
	}
	if seen.Access.Resume || !strings.Contains(seen.Message, "start it again with the configuration") {
		t.Errorf("it is said that it can be resumed: %+v %s", seen.Access, seen.Message)
	}
	if _, err := b.engine.Resume(t.Context(), admin, op.ID); ReasonOf(err) != WhyRefused ||
		!strings.Contains(err.Error(), "start it again with the configuration") {
		t.Errorf("got %v", err)
	}
}

// TestGuards_ABrokenStepIsLogged: its stack is logged, and is in no record.
func TestGuards_ABrokenStepIsLogged(t *testing.T) {
	var logged strings.Builder
	log := funcr.New(func(_, args string) { logged.WriteString(args) }, funcr.Options{})
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &plan{steps: []step{{title: "Break", do: func(context.Context, *reporter) error { panic("broken content") }}}}
	err = e.newLive(Actor{Name: "alice"}, Request{Kind: Manage, Module: "notes"}, p).carry(t.Context(), p, log)
	if err == nil || !strings.Contains(err.Error(), "broken content") || strings.Contains(err.Error(), "goroutine") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(logged.String(), "goroutine") {
		t.Errorf("logged: %s", logged.String())
	}
}

// TestGuards_AnOutlineNamesNoObjects: it names none of a runtime, in any sentence.
func TestGuards_AnOutlineNamesNoObjects(t *testing.T) {
	op := Operation{
		Message: "Sample a/secret is in the way", Deed: Request{Kind: Add, Confirmation: "secret", Modules: []Wanted{{Name: "notes"}}},
		Steps: []Step{{Title: "Create Sample secret", State: StepFailed, Message: "secret is refused"}},
	}
	got, err := json.Marshal(op.outlined())
	if err != nil || strings.Contains(string(got), "secret") || !strings.Contains(string(got), `"title":"Create"`) {
		t.Errorf("%s %v", got, err)
	}
	if op.Steps[0].Message == "" || op.Steps[0].Title != "Create Sample secret" {
		t.Error("the operation itself has changed")
	}
}

// TestRightsOfAMixedUpgrade: each module without a Kyma requires permission for the records of direct installations.
func TestRightsOfAMixedUpgrade(t *testing.T) {
	for name, c := range map[string]struct {
		items []Item
		want  []string
	}{
		"of a Kyma":           {[]Item{{Kyma: "a/demo", Module: "notes"}}, []string{"kymas"}},
		"directly":            {[]Item{{Module: "notes"}}, []string{"secrets"}},
		"one and the other":   {[]Item{{Kyma: "a/demo", Module: "notes"}, {Module: "beacon"}}, []string{"kymas", "secrets"}},
		"the other way round": {[]Item{{Module: "beacon"}, {Kyma: "a/demo", Module: "notes"}}, []string{"kymas", "secrets"}},
	} {
		deed, got := Request{Kind: Upgrade, Items: c.items}, []string(nil)
		for _, right := range deed.rights("patch") {
			got = append(got, right.Resource)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAccessIsAskedOfTheNamespaceFirst: names are reviewed only for users who may not access the whole namespace.
func TestAccessIsAskedOfTheNamespaceFirst(t *testing.T) {
	for name, c := range map[string]struct {
		may  string
		want []string
	}{
		"everything of a namespace": {"", []string{""}},
		"one object by its name":    {"demo", []string{"", "demo"}},
	} {
		var asked []string
		as := Actor{Name: "alice", May: func(_ context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
			asked = append(asked, what.Name)
			return what.Name == c.may, nil
		}}
		deed := Request{Kind: Channel, Kyma: "a/demo", Channel: "fast"}
		if allowed, err := as.all(t.Context(), deed.rights("get")); err != nil || !allowed {
			t.Errorf("%s: %v %v", name, allowed, err)
		}
		if diff := cmp.Diff(c.want, asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestGuards_ARecordIsDecodedOnce as long as it does not change.
func TestGuards_ARecordIsDecodedOnce(t *testing.T) {
	r, err := newRecords(&rest.Config{Host: "127.0.0.1:1"}, "here", func() {})
	if err != nil {
		t.Fatal(err)
	}
	put := func(version string) *record {
		written := record{Operation: Operation{ID: "abc", Deed: Request{Kind: Delete, Module: "notes"}}}
		made, err := written.encode("here")
		if err != nil {
			t.Fatal(err)
		}
		made.ResourceVersion = version
		if err := r.store.GetStore().Add(made); err != nil {
			t.Fatal(err)
		}
		return r.all()[0]
	}
	first := put("1")
	if again := r.all(); len(again) != 1 || again[0] != first || put("1") != first {
		t.Error("it was decoded again")
	}
	if put("2") == first || r.all()[0].version != "2" {
		t.Error("what a user wrote is not seen")
	}
}

// TestGuards_WhoseWordCounts checks the choice between the record and the memory of this server: the last writer is right.
func TestGuards_WhoseWordCounts(t *testing.T) {
	for name, c := range map[string]struct {
		holder string
		own    string // the version that this server wrote last
		want   State
	}{
		"a record of this server is behind its memory":                {"me", "5", Succeeded},
		"another one took the operation over afterwards":              {"another", "5", Interrupted},
		"this server resumed it, and the cache is not up to date yet": {"another", "15", Succeeded},
	} {
		r, err := newRecords(&rest.Config{Host: "127.0.0.1:1"}, "here", func() {})
		if err != nil {
			t.Fatal(err)
		}
		written := record{Operation: Operation{ID: "abc", State: Interrupted, Deed: Request{Kind: Delete, Module: "notes"}}, Holder: c.holder}
		made, err := written.encode("here")
		if err != nil {
			t.Fatal(err)
		}
		made.ResourceVersion = "10"
		if err := r.store.GetStore().Add(made); err != nil {
			t.Fatal(err)
		}
		own := &activeOperation{version: c.own, op: Operation{ID: "abc", State: Succeeded}}
		e := &Engine{holder: "me", now: time.Now, lapse: lapse, records: r, own: map[string]*activeOperation{"abc": own}}
		if known := e.known(); len(known) != 1 || known[0].State != c.want {
			t.Errorf("%s: got %+v, want %s", name, known, c.want)
		}
	}
}

// TestGuards_WhatIsLost checks what may be resumed at all, and that the reason of a failure is kept.
func TestGuards_WhatIsLost(t *testing.T) {
	own := &unstructured.Unstructured{Object: map[string]any{"kind": "Paper"}}
	may := Actor{Name: "alice", May: func(context.Context, authorizationv1.ResourceAttributes) (bool, error) { return true, nil }}
	configure, plain := Request{Kind: Configure, Module: "notes", Object: own}, Request{Kind: Delete, Module: "notes"}
	for name, c := range map[string]struct {
		deed   Request
		bare   bool
		state  State
		resume bool
		words  string
	}{
		"this server has the configuration":                {configure, false, Failed, true, "no answer"},
		"the record has no configuration":                  {configure, true, Interrupted, false, "start it again"},
		"why it failed is not lost":                        {configure, true, Failed, false, "(it failed: no answer)"},
		"a request without one is resumed from its record": {plain, true, Failed, true, "no answer"},
		"an operation that succeeded does not mention it":  {configure, true, Succeeded, false, "no answer"},
	} {
		op := Operation{User: "alice", Title: c.deed.Title(), Deed: c.deed, State: c.state, Message: "no answer"}
		got := (&Engine{}).redactedFor(t.Context(), may, entry{Operation: op, bare: c.bare})
		if got.Access.Resume != c.resume || !strings.Contains(got.Message, c.words) {
			t.Errorf("%s: %+v %q", name, got.Access, got.Message)
		}
	}
}

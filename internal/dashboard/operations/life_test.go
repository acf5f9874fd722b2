package operations

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
)

func sourceOf(name, url string) communitycatalog.Source {
	return communitycatalog.Source{Name: name, URL: url}
}

// TestLife_TheServerIsKilledAndAnotherPersonResumes an installation, with the same result as without the interruption.
func TestLife_TheServerIsKilledAndAnotherPersonResumes(t *testing.T) {
	b := newBench(t)
	widget, alice := b.widget(), b.admin()
	doomed, kill := b.mortal()
	gate := make(chan struct{})
	slow := alice
	slow.Config = held(alice.Config, "customresourcedefinitions", gate)
	op, err := doomed.Start(t.Context(), slow, addCommunity(widget, "0.1.0"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.waits(doomed, alice, op.ID, func(op Operation) bool { return op.Steps[0].State == StepRunning }); err != nil {
		t.Fatal(err)
	}
	b.lapse(op.ID, kill)
	close(gate)
	bob, stranger := b.user("bob-"+b.namespace, "system:masters"), b.user("stranger-"+b.namespace)
	seen, err := b.waits(b.engine, bob, op.ID, func(op Operation) bool { return op.State == Interrupted })
	if err != nil || !seen.Access.Resume || seen.User != alice.Name {
		t.Fatalf("%+v %v", seen, err)
	}
	if _, err := b.engine.Resume(t.Context(), stranger, op.ID); ReasonOf(err) != WhyNotFound {
		t.Errorf("a stranger resumes: %v", err)
	}
	resumed, err := b.engine.Resume(t.Context(), bob, op.ID)
	if err != nil || resumed.User != bob.Name || resumed.ID != op.ID {
		t.Fatalf("%+v %v", resumed, err)
	}
	if _, err := b.server().Resume(t.Context(), alice, op.ID); err == nil {
		t.Error("two servers carry it out")
	}
	b.ends(b.engine, bob, op.ID, Succeeded)
	whole := b.widget()
	b.succeeds(alice, addCommunity(whole, "0.1.0"))
	want, got := b.record(whole), b.record(widget)
	if got == nil || !got.Complete || len(got.Inventory) != len(want.Inventory) || b.color(widget, "default") != b.color(whole, "default") {
		t.Errorf("resumed: %+v\nat once: %+v", got, want)
	}
}

// held returns a connection that writes no object of a resource before the gate opens.
func held(config *rest.Config, resource string, gate <-chan struct{}) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next roundTripper) roundTripper { return &holding{next, resource, gate} })
	return config
}

// lapse ends a server as if it had crashed: its last update is undone, and its record is older than the lapse.
func (b *bench) lapse(id string, kill func()) {
	b.Helper()
	key := client.ObjectKey{Namespace: b.namespace, Name: recordPrefix + id}
	last := &corev1.ConfigMap{}
	if err := b.Get(b.Context(), key, last); err != nil {
		b.Fatal(err)
	}
	running, err := decode(last)
	if err != nil {
		b.Fatal(err)
	}
	kill()
	if err := b.Get(b.Context(), key, last); err != nil {
		b.Fatal(err)
	}
	running.Renewed = time.Now().Add(-2 * lapse)
	text, err := json.Marshal(running)
	if err != nil {
		b.Fatal(err)
	}
	last.Data[recordKey] = string(text)
	if err := b.Update(b.Context(), last); err != nil {
		b.Fatal(err)
	}
}

// TestLife_AServerThatEndsSaysSo: its operations are interrupted at once.
func TestLife_AServerThatEndsSaysSo(t *testing.T) {
	b := newBench(t)
	kyma, alice := b.kyma("demo"), b.admin()
	doomed, end := b.mortal()
	op, err := doomed.Start(t.Context(), alice, Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes}}})
	if err != nil {
		t.Fatal(err)
	}
	end()
	if seen, err := b.waits(b.engine, alice, op.ID, func(op Operation) bool { return op.State == Interrupted }); err != nil || seen.Message == "" {
		t.Fatalf("%+v %v", seen, err)
	}
	b.manages()
	if _, err := b.engine.Resume(t.Context(), alice, op.ID); err != nil {
		t.Fatal(err)
	}
	b.ends(b.engine, alice, op.ID, Succeeded)
}

// TestCancelAndResume: an operation that waits is cancelled, resumed, and removed from the list when it has ended.
func TestCancelAndResume(t *testing.T) {
	b := newBench(t)
	kyma, alice := b.kyma("demo"), b.admin()
	op := b.starts(alice, Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes}}})
	if !op.Access.Cancel || op.Access.Resume || len(op.Steps) != 2 {
		t.Errorf("%+v", op)
	}
	if _, err := b.engine.Resume(t.Context(), alice, op.ID); ReasonOf(err) != WhyBusy {
		t.Errorf("resumed while it runs: %v", err)
	}
	reader := b.user("reader-" + b.namespace)
	b.may(reader, rule(v1beta2.GroupVersion.Group, "kymas moduletemplates modulereleasemetas", "get list watch"))
	if _, err := b.engine.Cancel(t.Context(), reader, op.ID); ReasonOf(err) != WhyForbidden {
		t.Errorf("a reader cancels: %v", err)
	}
	if err := b.engine.Forget(t.Context(), alice, op.ID); ReasonOf(err) != WhyBusy {
		t.Errorf("taken off the list while it runs: %v", err)
	}
	if _, err := b.engine.Cancel(t.Context(), alice, op.ID); err != nil {
		t.Fatal(err)
	}
	ended := b.ends(b.engine, alice, op.ID, Cancelled)
	if !ended.Access.Resume || ended.Access.Cancel || ended.Finished == nil {
		t.Errorf("%+v", ended)
	}
	if _, err := b.engine.Resume(t.Context(), reader, op.ID); ReasonOf(err) != WhyForbidden {
		t.Errorf("a reader resumes: %v", err)
	}
	b.manages()
	if _, err := b.engine.Resume(t.Context(), alice, op.ID); err != nil {
		t.Fatal(err)
	}
	b.ends(b.engine, alice, op.ID, Succeeded)
	if err := b.engine.Forget(t.Context(), reader, op.ID); ReasonOf(err) != WhyForbidden {
		t.Errorf("a reader takes it off the list: %v", err)
	}
	if err := b.engine.Forget(t.Context(), alice, op.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.engine.Get(t.Context(), alice, op.ID); ReasonOf(err) != WhyNotFound && !b.vanishes(alice, op.ID) {
		t.Errorf("it is still on the list: %v", err)
	}
}

// vanishes waits until an operation is off the list.
func (b *bench) vanishes(as Actor, id string) bool {
	late := time.After(patience)
	for {
		if _, err := b.engine.Get(b.Context(), as, id); ReasonOf(err) == WhyNotFound {
			return true
		}
		select {
		case <-b.engine.Changed():
		case <-late:
			return false
		}
	}
}

// serviceAccount returns a user with a token, who may do everything.
func (b *bench) serviceAccount() (as Actor, token string) {
	b.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "somebody"}}
	b.create(account)
	request := &authenticationv1.TokenRequest{}
	if err := b.SubResource("token").Create(b.Context(), account, request); err != nil {
		b.Fatal(err)
	}
	config := rest.AnonymousClientConfig(b.config)
	config.BearerToken = request.Status.Token
	as = Actor{Name: fmt.Sprintf("system:serviceaccount:%s:somebody", b.namespace), Config: config}
	b.may(as, rule("*", "*", "*"))
	return as, config.BearerToken
}

// TestLife_NoTokenIsKept in any ConfigMap.
func TestLife_NoTokenIsKept(t *testing.T) {
	b := newBench(t)
	as, token := b.serviceAccount()
	kyma := b.kyma("demo")
	op := b.starts(as, Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes}}})
	if _, err := b.waits(b.engine, as, op.ID, func(op Operation) bool { return op.Steps[1].State == StepRunning }); err != nil {
		t.Fatal(err)
	}
	var maps corev1.ConfigMapList
	if err := b.List(t.Context(), &maps); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, one := range maps.Items {
		text, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		found = found || one.Name == recordPrefix+op.ID
		for part := range strings.SplitSeq(token, ".") {
			if strings.Contains(string(text), part) {
				t.Errorf("ConfigMap %s/%s holds a part of the token", one.Namespace, one.Name)
			}
		}
	}
	if !found {
		t.Error("the operation is not recorded")
	}
	if _, err := b.engine.Cancel(t.Context(), as, op.ID); err != nil {
		t.Fatal(err)
	}
	b.ends(b.engine, as, op.ID, Cancelled)
}

// TestLife_AnExpiredLoginInterrupts: a user with the same permissions can continue.
func TestLife_AnExpiredLoginInterrupts(t *testing.T) {
	b := newBench(t)
	as, _ := b.serviceAccount()
	widget := b.widget()
	gate := make(chan struct{})
	as.Config = held(as.Config, "customresourcedefinitions", gate)
	op := b.starts(as, addCommunity(widget, "0.1.0"))
	if err := b.Delete(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "somebody"}}); err != nil {
		t.Fatal(err)
	}
	admin := b.admin()
	b.refusedLogin(as.Config)
	close(gate)
	b.ends(b.engine, admin, op.ID, Interrupted)
	if _, err := b.engine.Resume(t.Context(), admin, op.ID); err != nil {
		t.Fatal(err)
	}
	b.ends(b.engine, admin, op.ID, Succeeded)
}

// TestLife_WhatEndedLongAgoIsForgotten: operations under way are not.
func TestLife_WhatEndedLongAgoIsForgotten(t *testing.T) {
	b := newBench(t)
	for i := range kept + 5 {
		state, renewed := Succeeded, time.Now()
		if i == 0 {
			state, renewed = Running, time.Now().Add(time.Hour) // it stays running, however long this takes
		}
		old := record{
			Operation: Operation{
				ID: fmt.Sprintf("old-%03d", i), State: state, Created: time.Now().Add(time.Duration(i-1000) * time.Hour),
				Deed: Request{Kind: Manage, Kyma: b.namespace + "/demo", Module: fmt.Sprintf("m%d", i)},
			},
			Holder: "another", Renewed: renewed,
		}
		made, err := old.encode(b.namespace)
		if err != nil {
			t.Fatal(err)
		}
		b.create(made)
	}
	b.manages()
	kyma := b.kyma("demo")
	b.succeeds(b.admin(), Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes}}})
	late := time.After(patience)
	for {
		var left corev1.ConfigMapList
		if err := b.List(t.Context(), &left, client.InNamespace(b.namespace), client.HasLabels{LabelTask}); err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, one := range left.Items {
			names[one.Name] = true
		}
		if len(names) == kept+1 && names["kyma-task-old-000"] && !names["kyma-task-old-001"] && names["kyma-task-old-104"] {
			return
		}
		select {
		case <-b.engine.Changed():
		case <-late:
			t.Fatalf("%d records are left, the oldest: %v", len(names), names["kyma-task-old-001"])
		}
	}
}

// TestLife_AnotherServerHasIt: a server that was away for too long stops, and writes nothing more.
func TestLife_AnotherServerHasIt(t *testing.T) {
	b := newBench(t)
	kyma, alice := b.kyma("demo"), b.admin()
	op := b.starts(alice, Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes}}})
	key := client.ObjectKey{Namespace: b.namespace, Name: recordPrefix + op.ID}
	stolen := &corev1.ConfigMap{}
	for {
		if err := b.Get(t.Context(), key, stolen); err != nil {
			t.Fatal(err)
		}
		r, err := decode(stolen)
		if err != nil {
			t.Fatal(err)
		}
		r.Holder, r.User, r.Renewed = "another", "carol", time.Now()
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		stolen.Data[recordKey] = string(text)
		if b.Update(t.Context(), stolen) == nil {
			break
		}
	}
	seen, err := b.waits(b.engine, alice, op.ID, func(op Operation) bool { return op.User == "carol" && b.engine.mine(op.ID) == nil })
	if err != nil || seen.State != Running {
		t.Fatalf("%+v %v", seen, err)
	}
	if _, err := b.engine.Cancel(t.Context(), alice, op.ID); ReasonOf(err) != WhyBusy || !strings.Contains(err.Error(), "another dashboard") {
		t.Errorf("got %v", err)
	}
}

// TestLife_WithoutAClusterItIsInMemory: the operation reports that.
func TestLife_WithoutAClusterItIsInMemory(t *testing.T) {
	b := newBench(t)
	b.manages()
	kyma := b.kyma("demo")
	engine, err := New(Options{Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = engine.Run(ctx) }()
	op, err := engine.Start(t.Context(), b.admin(), Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes}}})
	if err != nil || !strings.Contains(op.Message, "not recorded") {
		t.Fatalf("%+v %v", op, err)
	}
	b.ends(engine, b.admin(), op.ID, Succeeded)
	var maps corev1.ConfigMapList
	if err := b.List(t.Context(), &maps, client.InNamespace(b.namespace), client.HasLabels{LabelTask}); err != nil || len(maps.Items) != 0 {
		t.Errorf("%d records, %v", len(maps.Items), err)
	}
}

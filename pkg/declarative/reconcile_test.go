package declarative

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

func TestLife(t *testing.T) {
	b := newBench(t, nil)
	w := b.create("life", map[string]string{"one": "1", "two": "2"})
	b.becomes(w, StateReady, installer.ReasonInstalled)
	if !controllerutil.ContainsFinalizer(w, DefaultFinalizer) || len(w.Status.Contents) != 1 {
		t.Errorf("finalizers %v, contents %v", w.Finalizers, w.Status.Contents)
	}
	if broken := conditions.Check(w.Generation, w.Status.Conditions); broken != nil {
		t.Error(broken)
	}
	one := &corev1.ConfigMap{}
	must(t, b.client.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "one"}, one))
	owner := b.namespace + "/" + b.operator.Name + ".life"
	if one.Labels[LabelManagedBy] != b.operator.Name || one.Annotations[installer.DefaultOwnerKey] != owner {
		t.Errorf("what is installed has the labels %v and the annotations %v", one.Labels, one.Annotations)
	}

	b.change(w, func() { w.Spec.Texts = map[string]string{"two": "zwei", "three": "3"} })
	b.becomes(w, StateReady, "")
	if b.text("one") != "" || b.text("two") != "zwei" || b.text("three") != "3" {
		t.Errorf("after the change: %q, %q, %q", b.text("one"), b.text("two"), b.text("three"))
	}

	must(t, b.client.Delete(t.Context(), w))
	b.gone(w)
	if b.text("two")+b.text("three") != "" {
		t.Error("something is left after the deletion")
	}
	secrets := &corev1.SecretList{}
	must(t, b.client.List(t.Context(), secrets, client.InNamespace(b.namespace)))
	if len(secrets.Items) > 0 {
		t.Errorf("%d Secrets are left after the deletion", len(secrets.Items))
	}
	b.eventually(func() string {
		b.operator.targets.mu.Lock()
		defer b.operator.targets.mu.Unlock()
		if len(b.operator.targets.opened)+len(b.operator.targets.owners) > 0 {
			return "the connection is kept for no one"
		}
		return ""
	})
	b.rests()
}

func TestHealsWhatEventsTellAndRests(t *testing.T) {
	b := newBench(t, nil)
	w := b.create("heals", map[string]string{"one": "1", "two": "2"})
	b.becomes(w, StateReady, "")
	b.rests()
	version := w.ResourceVersion
	key := metav1.ObjectMeta{Namespace: b.namespace, Name: "one"}

	must(t, b.client.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: key}))
	b.eventually(func() string { return want(b.text("one"), "1") })

	must(t, b.client.Update(t.Context(), &corev1.ConfigMap{ObjectMeta: key, Data: map[string]string{"text": "mine"}})) // without label and mark
	b.eventually(func() string { return want(b.text("one"), "1") })

	b.rests()
	must(t, b.client.Get(t.Context(), client.ObjectKeyFromObject(w), w))
	if w.ResourceVersion != version {
		t.Error("the status was written, although it did not change")
	}
	if n := b.calls.count("PATCH", "/widgets/heals/status"); n != 1 {
		t.Errorf("the status was written %d times, want once", n)
	}
}

func TestReconcile_AnotherProcessGoesOn(t *testing.T) {
	b := newBench(t, nil)
	w := b.create("again", map[string]string{"one": "1", "two": "2"})
	b.becomes(w, StateReady, "")
	b.stop()
	must(t, b.client.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "one"}}))
	b.calls = &calls{}
	b.operator = &Reconciler[*widget]{Prototype: &widget{}, Installation: texts, Name: b.operator.Name, Builder: func(c *ctrl.Builder) {
		c.WithOptions(controller.Options{SkipNameValidation: new(true)}) // the first one was of this process, too
	}}
	b.start()
	b.eventually(func() string { return want(b.text("one"), "1") })
	b.rests()
	if n := b.calls.writes("/configmaps"); n != 1 {
		t.Errorf("%d ConfigMaps were written, want the one that was missing: %v", n, b.calls.since(0))
	}
	if n := b.calls.writes("/widgets"); n != 0 {
		t.Errorf("the object was written %d times, although there was nothing to tell", n)
	}
	b.stop()
	must(t, b.client.Delete(t.Context(), w))
	b.operator = &Reconciler[*widget]{Prototype: &widget{}, Installation: texts, Name: b.operator.Name, Builder: b.operator.Builder}
	b.start()
	b.gone(w)
	if b.text("one")+b.text("two") != "" {
		t.Error("something is left after the deletion")
	}
}

func want(got, want string) string {
	if got == want {
		return ""
	}
	return "got " + got + ", want " + want
}

func TestReadyWaitsForWorkloadsWithoutPolling(t *testing.T) {
	const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}`
	b := newBench(t, func(b *bench) {
		b.operator.Installation = func(context.Context, *widget) (installer.Installation, error) {
			return installer.Installation{Sources: []installer.Source{
				installer.YAML("first", deployment), installer.Objects("second", configMap("after", "it")),
			}}, nil
		}
	})
	w := b.create("waits", nil)
	b.becomes(w, StateProcessing, installer.ReasonWaitingForInstall)
	b.rests()

	web := &appsv1.Deployment{}
	must(t, b.client.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "web"}, web))
	web.Status = appsv1.DeploymentStatus{
		ObservedGeneration: web.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
		},
	}
	must(t, b.client.Status().Update(t.Context(), web))
	b.becomes(w, StateReady, "")
	if b.text("after") != "it" {
		t.Error("the second source is not installed")
	}
	must(t, b.client.Delete(t.Context(), w))
	b.gone(w)
}

func TestDefinitionsAndTheirObjects(t *testing.T) {
	const content = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cogs.tests.kyma-project.io}
spec:
  group: tests.kyma-project.io
  names: {kind: Cog, listKind: CogList, plural: cogs, singular: cog}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: tests.kyma-project.io/v1
kind: Cog
metadata: {name: small}
spec: {teeth: 12}`
	b := newBench(t, func(b *bench) {
		b.operator.Installation = func(context.Context, *widget) (installer.Installation, error) {
			return installer.Installation{Sources: []installer.Source{installer.YAML("cogs", content)}}, nil
		}
	})
	w := b.create("defines", nil)
	b.becomes(w, StateReady, "")
	cog := configMap("small", "")
	cog.SetGroupVersionKind(tests.WithKind("Cog"))
	cog.SetNamespace(b.namespace)
	must(t, b.client.Delete(t.Context(), cog.DeepCopy()))
	b.eventually(func() string {
		if err := b.client.Get(t.Context(), client.ObjectKeyFromObject(cog), cog); err != nil {
			return err.Error()
		}
		return ""
	})
	foreign := cog.DeepCopy()
	foreign.Object = map[string]any{"apiVersion": cog.GetAPIVersion(), "kind": "Cog"}
	foreign.SetName("foreign")
	foreign.SetNamespace(b.namespace)
	must(t, b.client.Create(t.Context(), foreign))
	must(t, b.client.Delete(t.Context(), w))
	b.becomes(w, StateWarning, installer.ReasonDeletionBlocked)
	must(t, b.client.Delete(t.Context(), foreign))
	b.gone(w)
	b.rests()
}

func TestFightsAreSlowedDown(t *testing.T) {
	b := newBench(t, nil)
	w := b.create("fights", map[string]string{"one": "1"})
	b.becomes(w, StateReady, "")
	found := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "one"}}
	edits, begun := 0, time.Now()
	for late := time.After(time.Minute); ; {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-late:
			t.Fatal("no one puts it back")
		}
		if took := time.Since(begun); took > 4*time.Second && edits >= 2 {
			if most := 1 + int(took/time.Second); edits > most {
				t.Errorf("within %s it was put back %d times, want %d at most", took, edits, most)
			}
			return
		}
		if must(t, b.client.Get(t.Context(), client.ObjectKeyFromObject(found), found)); found.Data["text"] == "1" {
			found.Data["text"] = "mine"
			if b.client.Update(t.Context(), found) == nil {
				edits++
			}
		}
	}
}

func TestSkipLabel(t *testing.T) {
	b := newBench(t, nil)
	w := b.create("skips", map[string]string{"one": "1"})
	b.becomes(w, StateReady, "")
	b.change(w, func() { w.Labels = map[string]string{LabelSkip: "true"} })
	b.change(w, func() { w.Spec.Texts["one"] = "eins" })
	must(t, b.client.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "one"}}))
	must(t, b.client.Delete(t.Context(), w))
	b.rests()
	if must(t, b.client.Get(t.Context(), client.ObjectKeyFromObject(w), w)); b.text("one") != "" || w.Status.State != StateReady {
		t.Errorf("something was done in spite of the label: %q, %+v", b.text("one"), w.Status)
	}
	b.change(w, func() { delete(w.Labels, LabelSkip) })
	b.gone(w)
}

func TestFunctionsOfTheOperator(t *testing.T) {
	var refuse, warn, block atomic.Bool
	b := newBench(t, func(b *bench) {
		b.operator.Installation = func(ctx context.Context, w *widget) (installer.Installation, error) {
			if refuse.Load() {
				return installer.Installation{}, errors.New("there is no such text")
			}
			return texts(ctx, w)
		}
		b.operator.AfterApply = func(_ context.Context, w *widget, report installer.Report) error {
			if warn.Load() {
				return Warning("give it a licence")
			}
			w.Status.Note = report.Objects[0].Name
			return nil
		}
		b.operator.BeforeDelete = func(context.Context, *widget) error {
			if block.Load() {
				return errors.New("the backup fails")
			}
			return nil
		}
	})
	w := b.create("hooks", map[string]string{"one": "1"})
	b.becomes(w, StateReady, "")
	if w.Status.Note != "one" {
		t.Errorf("what AfterApply changed in the status is not written: %+v", w.Status)
	}
	touch := func(what string) {
		b.change(w, func() { w.Annotations = map[string]string{"touched-for": what} })
	}
	refuse.Store(true)
	touch("an error")
	b.becomes(w, StateError, ReasonInstallationFailed)
	if message := w.Status.Conditions[0].Message; message != "there is no such text" || b.text("one") != "1" {
		t.Errorf("%q; what runs: %q", message, b.text("one"))
	}
	refuse.Store(false)
	warn.Store(true)
	touch("a warning")
	b.becomes(w, StateWarning, ReasonWarning)
	warn.Store(false)
	touch("an end of it")
	b.becomes(w, StateReady, "")
	block.Store(true)
	must(t, b.client.Delete(t.Context(), w))
	b.becomes(w, StateError, ReasonHookFailed)
	if b.text("one") != "1" {
		t.Error("something was taken down before BeforeDelete agreed")
	}
	block.Store(false)
	b.gone(w)
}

func TestTarget(t *testing.T) {
	var lost atomic.Bool
	there := &calls{}
	b := newBench(t, func(b *bench) {
		b.operator.Namespace = b.namespace
		b.operator.Target = func(context.Context, *widget) (*rest.Config, error) {
			if lost.Load() {
				return nil, ErrTargetGone
			}
			config := rest.CopyConfig(b.config)
			config.Wrap(there.wrap) // a function that is recreated each time is not another cluster
			return config, nil
		}
	})
	w := b.create("remote", map[string]string{"one": "1"})
	b.becomes(w, StateReady, "")
	if b.calls.count("/configmaps") > 0 || there.count("/configmaps/one") == 0 || there.count("/widgets") > 0 {
		t.Error("the two clusters are mixed up")
	}
	must(t, b.client.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "one"}}))
	b.eventually(func() string { return want(b.text("one"), "1") })
	if n := there.count("watch=true", "/configmaps"); n != 1 {
		t.Errorf("%d watches of ConfigMaps were begun, want one", n)
	}
	lost.Store(true)
	must(t, b.client.Delete(t.Context(), w))
	b.gone(w)
	if b.text("one") != "1" {
		t.Error("something was done to a cluster that is gone")
	}
}

func TestContentsArePinned(t *testing.T) {
	source := &moving{Source: installer.Objects("", configMap("one", "1")).Content}
	b := newBench(t, func(b *bench) {
		b.operator.Installation = func(context.Context, *widget) (installer.Installation, error) {
			return installer.Installation{Sources: []installer.Source{{Name: "moving", Content: source}}}, nil
		}
	})
	w := b.create("pinned", nil)
	b.becomes(w, StateReady, "")
	must(t, b.client.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "one"}}))
	b.eventually(func() string { return want(b.text("one"), "1") })
	b.rests()
	if n := source.asked.Load(); n > 2 { // the first pass, and the one after its streams have begun, before the status is written
		t.Errorf("the source was resolved %d times", n)
	}
}

func TestReconcile_WhatCannotBeWatchedIsTold(t *testing.T) {
	b := newBench(t, func(b *bench) {
		b.operator.Target = func(context.Context, *widget) (*rest.Config, error) {
			config := rest.CopyConfig(b.config)
			config.Wrap(refuseWatches)
			return config, nil
		}
	})
	w := b.create("unseen", map[string]string{"one": "1"})
	b.becomes(w, StateError, ReasonNotWatched)
	if message := w.Status.Conditions[0].Message; !strings.Contains(message, "ConfigMap cannot be watched") || !strings.Contains(message, "not today") {
		t.Error(message)
	}
	must(t, b.client.Delete(t.Context(), w))
	b.gone(w)
}

package server

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
)

func TestWanted_WhatCannotBeKnownIsToldWithTheReason(t *testing.T) {
	s := open(t, ModeLocal, unreached)
	s.waiting("unwanted")
	s.enter()
	over := func(d objectDetail) bool { return d.Wanted != nil && d.Wanted.State != reviewReading }
	d := until(s, ofLantern("unwanted", "apiVersion=apps/v1&kind=Deployment&namespace=unwanted&name=lantern&wanted=true"), over)
	if w := d.Wanted; w.State != reviewUnreadable || w.Problem == nil || w.Problem.Message == "" || w.Object != nil || w.Difference != nil {
		t.Errorf("%+v %+v", w, w.Problem)
	}
	if d.Live == nil {
		t.Error("the object is not shown because its version cannot be read")
	}
	d = until(s, ofLantern("unwanted", "kind=Pod&namespace=unwanted&name=lantern-1-x&wanted=true"), over)
	if w := d.Wanted; w.State != reviewNone || w.Note == "" {
		t.Errorf("what the version does not install: %+v", w)
	}
}

// TestWanted_TheDefaultResource compares a custom resource with the default of the version, which no registry is needed for.
func TestWanted_TheDefaultResource(t *testing.T) {
	s := open(t, ModeLocal)
	s.waiting("defaulted")
	template := s.template("defaulted", "lantern", "1.0.0").(*v1beta2.ModuleTemplate)
	template.Spec.Data = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "lantern", "namespace": "defaulted"},
		"data": map[string]any{"size": "small", "color": "red"},
	}}
	s.make(template, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "defaulted", Name: "lantern"}, Data: map[string]string{"size": "large", "color": "red", "own": "x"},
	})
	kyma := &v1beta2.Kyma{}
	if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: "defaulted", Name: "local"}, kyma); err != nil {
		t.Fatal(err)
	}
	kyma.Status.Modules[0].Template = &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{Namespace: "defaulted", Name: "lantern-1.0.0"}}
	if err := s.admin.Status().Update(s.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	s.enter()
	d := until(s, ofLantern("defaulted", "kind=ConfigMap&namespace=defaulted&name=lantern&wanted=true"), func(d objectDetail) bool {
		return d.Wanted != nil && d.Wanted.State == reviewDone
	})
	if w := d.Wanted; len(w.Difference) != 1 || w.Difference[0].Path != "data.size" || w.Difference[0].Wanted != "small" || w.Difference[0].Live != "large" {
		t.Errorf("%+v", w)
	}
}

func TestRenderedIn_FindsTheObjectOfAVersion(t *testing.T) {
	object := func(namespace, name string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}}
		o.SetNamespace(namespace)
		o.SetName(name)
		return o
	}
	side := &releasepreview.Side{
		Version: "1.0.0", Objects: []*unstructured.Unstructured{object("other", "web"), object("ns", "web"), object("", "lost")},
		Caveats: []string{"without values"},
	}
	ref := modulestatus.Ref{APIVersion: "apps/v1beta1", Kind: "Deployment", Namespace: "ns", Name: "web"}
	got, err := renderedIn(side, ref)
	if err != nil || got.object.GetNamespace() != "ns" || got.note != "it is rendered without values" {
		t.Errorf("%+v, %v", got, err)
	}
	ref.Name = "lost"
	if got, err = renderedIn(side, ref); err != nil || got.object.GetName() != "lost" {
		t.Errorf("an object whose content names no namespace: %v", err)
	}
	ref.Name = "gone"
	var why *unreadable
	if _, err = renderedIn(side, ref); !errors.As(err, &why) || why.Reason != WhyNotFound {
		t.Errorf("%v", err)
	}
}

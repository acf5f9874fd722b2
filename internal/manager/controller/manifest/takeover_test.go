package manifest

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// exists makes the ConfigMap of the chart, with annotations and labels of another installer.
func (c *charted) exists(annotations, labels map[string]string) {
	c.Helper()
	plain := object("v1", "ConfigMap", "plain")
	plain.SetNamespace("default")
	plain.SetAnnotations(annotations)
	plain.SetLabels(labels)
	if _, err := c.c.dynamic.Resource(mapsResource).Namespace("default").Create(c.Context(), plain, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

// adopts makes the Manifest take over what has no owner.
func (c *charted) adopts() {
	c.Helper()
	manifest := stored(c.T, c.r, c.manifest)
	manifest.Spec.Ownership = v1beta2.OwnershipAdoptIfUnowned
	if err := c.r.Client.Update(c.Context(), manifest); err != nil {
		c.Fatal(err)
	}
}

func TestTakeOver_HooksRunAsOfAnUpgrade(t *testing.T) {
	mine := map[string]string{v1beta2.AnnotationOwnedBy: "kcp-system/sample"}
	for name, test := range map[string]struct {
		annotations, labels map[string]string
		prevents            bool
		reason, text        string
		hooks               []string
	}{
		"what has no owner": {reason: v1beta2.ReasonWaitingForHook, text: "hook pre-upgrade of raw-manifest", hooks: []string{"plain", "before"}},
		"what a Manifest of this name let go of": {
			annotations: mine, reason: v1beta2.ReasonWaitingForHook, text: "hook pre-upgrade of raw-manifest", hooks: []string{"plain", "before"},
		},
		"what an interrupted first pass made is no takeover": {
			annotations: mine, labels: map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma},
			reason: v1beta2.ReasonWaitingForHook, text: "hook pre-install of raw-manifest", hooks: []string{"plain", "before"},
		},
		"what is installed directly is refused before a hook runs": {
			annotations: map[string]string{installer.DefaultOwnerKey: installable.DirectOwner("sample")},
			reason:      v1beta2.ReasonOwnershipConflict, text: `module "sample", which was installed directly`, hooks: []string{"plain"},
		},
		"what may not be taken over is refused before a hook runs": {
			prevents: true, reason: v1beta2.ReasonOwnershipConflict, text: "carries no owner mark", hooks: []string{"plain"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCharted(t, chartPart())
			c.exists(test.annotations, test.labels)
			if !test.prevents {
				c.adopts()
			}
			c.install(test.reason, test.text)
			c.expect(test.hooks...)
		})
	}
}

func TestTakeOver_GeneratesNoValuesForWhatHasOthers(t *testing.T) {
	c := newGeneratingChart(t)
	c.adopts()
	c.exists(nil, nil)
	c.install(v1beta2.ReasonGeneratedValuesLost, "has values that are not known")
	if c.value() != " " {
		t.Errorf("the object was written: %q", c.value())
	}
	c.createSecret(generated.Store{}, "kcp-system/sample")
	c.install(v1beta2.ReasonReady, "")
	if c.value() == " " {
		t.Error("a Secret without data asks for new values")
	}
}

// A chart that only looks something up, or that takes the password that it finds, is taken over as it is.
func TestTakeOver_NeedsNoValuesThatAreInNoObject(t *testing.T) {
	c := newGeneratingChart(t)
	c.adopts()
	c.exists(nil, nil)
	c.content.unused = true
	c.install(v1beta2.ReasonReady, "")
}

// The Kyma gives up a module that is installed directly, and that it was refused.
func TestTakeOver_WhatWasNeverTakenOverKeepsItsCustomResource(t *testing.T) {
	direct := map[string]string{installer.DefaultOwnerKey: installable.DirectOwner("sample")}
	for name, test := range map[string]struct {
		ofResource, ofDefinition map[string]string // annotations
		created, goes            bool
	}{
		"one that the direct installation created stays": {ofResource: direct, ofDefinition: direct},
		"one that a user made of its kind stays":         {ofDefinition: direct},
		"one of a kind without an owner goes":            {goes: true},
		"one that the Manifest created goes":             {ofDefinition: direct, created: true, goes: true},
	} {
		t.Run(name, func(t *testing.T) {
			resource, kind := object("example.com/v1", "Sample", "default"), definition("")
			resource.SetNamespace("default")
			resource.SetAnnotations(test.ofResource)
			kind.SetAnnotations(test.ofDefinition)
			w := newScope(newManifest(withResource("")), testTime)
			w.runtime = filled(resource, kind)
			if test.created {
				w.setCondition(v1beta2.ConditionModuleCR, metav1.ConditionTrue, v1beta2.ReasonCreated, "")
			}
			if err := newReconciler(t, w.manifest).removeModuleCRs(t.Context(), w); err != nil && !resultOf(err).waits() {
				t.Fatal(err)
			}
			at := w.runtime.Cluster().Dynamic.Resource(samplesResource).Namespace("default")
			_, err := at.Get(t.Context(), "default", metav1.GetOptions{})
			if gone := apierrors.IsNotFound(err); gone != test.goes {
				t.Errorf("gone %t (%v), want %t", gone, err, test.goes)
			}
		})
	}
}

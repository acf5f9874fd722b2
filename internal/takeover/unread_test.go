package takeover

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Objects that could not be read are an Error of their own, and there are no findings as if they were absent.
func TestUnread_WhatCouldNotBeReadIsNotAbsent(t *testing.T) {
	const forbidden = "you may not list it"
	for subject, unread := range map[string]func(*Hub){
		subjectDeployment:  func(h *Hub) { h.Manager = Read[appsv1.Deployment]{Err: forbidden} },
		subjectDefinitions: func(h *Hub) { h.Definitions.Items, h.Definitions.Err = nil, forbidden },
		subjectWebhooks:    func(h *Hub) { h.Mutating.Err = forbidden },
		subjectSecrets:     func(h *Hub) { h.Named.Items, h.Named.Err = nil, forbidden },
		subjectPolicy:      func(h *Hub) { h.Policies.Items, h.Policies.Err = nil, forbidden },
		subjectKymas:       func(h *Hub) { h.Kymas.Items, h.Kymas.Err = nil, forbidden },
		subjectAccess:      func(h *Hub) { h.Access.Items, h.Access.Err = nil, forbidden },
		subjectTemplates:   func(h *Hub) { h.Templates.Items, h.Templates.Err = nil, forbidden },
		subjectReleases:    func(h *Hub) { h.Releases.Items, h.Releases.Err = nil, forbidden },
		subjectManifests:   func(h *Hub) { h.Manifests.Items, h.Manifests.Err = nil, forbidden },
		"Watchers":         func(h *Hub) { h.Watchers.Items, h.Watchers.Err = nil, forbidden },
	} {
		t.Run(subject, func(t *testing.T) {
			hub := upstreams(t)
			unread(hub)
			told := false
			for _, f := range findings(t, hub, Differs, Refused) {
				switch {
				case f.Subject == subject && f.Level == Refused && strings.Contains(f.Message, "incomplete: "+forbidden):
					told = true
				case f.Subject == subjectModules && strings.Contains(f.Message, "cannot be judged"):
				default:
					t.Errorf("%s: %s", f.Subject, f.Message)
				}
			}
			if !told {
				t.Error("it is not told")
			}
		})
	}
}

// A module that upstream refuses, or already removes, is not changed; nor is one that it does not reconcile.
func TestUnread_WhatIsTheSameIsNotTold(t *testing.T) {
	beta := func(t *testing.T, h *Hub) {
		t.Helper()
		label(t, &h.Templates.Items[0], v1beta2.LabelBeta, "true")
	}
	state := func(state string) func(*testing.T, *Hub) {
		return func(t *testing.T, h *Hub) {
			t.Helper()
			beta(t, h)
			modules := h.Kymas.Items[0].Object["status"].(map[string]any)["modules"].([]any)
			modules[0].(map[string]any)["state"] = state
		}
	}
	for name, change := range map[string]func(*testing.T, *Hub){
		"upstream refuses it as well": state("Error"),
		"upstream warns of it":        state("Warning"),
		"upstream is removing it":     state("Deleting"),
		"upstream does not manage it": state("Unmanaged"),
		"its Kyma is not reconciled": func(t *testing.T, h *Hub) {
			beta(t, h)
			label(t, &h.Kymas.Items[0], v1beta2.LabelSkipReconciliation, "True")
		},
		"its Kyma is being deleted": func(t *testing.T, h *Hub) {
			beta(t, h)
			h.Kymas.Items[0].SetDeletionTimestamp(&metav1.Time{Time: testTime})
		},
		"its Manifest is being deleted": func(t *testing.T, h *Hub) {
			beta(t, h)
			h.Manifests.Items[0].SetDeletionTimestamp(&metav1.Time{Time: testTime})
		},
		"a finalizer of the purge controller": func(_ *testing.T, h *Hub) {
			h.Kymas.Items[0].SetFinalizers([]string{v1beta2.FinalizerKyma, v1beta2.FinalizerPurge})
		},
	} {
		t.Run(name, func(t *testing.T) {
			hub := upstreams(t)
			change(t, hub)
			for _, f := range findings(t, hub, Differs, Refused) {
				t.Errorf("%s: %s %v", f.Subject, f.Message, f.Places)
			}
		})
	}
}

func TestUnread_ManyPlacesAreCounted(t *testing.T) {
	hub := upstreams(t)
	for i := range 12 {
		more := hub.Kymas.Items[0].DeepCopy()
		more.SetName(fmt.Sprintf("k%02d", i))
		hub.Kymas.Items = append(hub.Kymas.Items, *more)
	}
	at := slices.IndexFunc(findings(t, hub, Differs), func(f Finding) bool { return f.Subject == subjectAccess })
	if at < 0 {
		t.Fatal("it is not told")
	}
	f := findings(t, hub, Differs)[at]
	if f.Count != 12 || len(f.Places) != mostPlaces || f.Places[0] != "kcp-system/k00" {
		t.Errorf("got %+v", f)
	}
}

// The report contains no value of a Secret.
func TestUnread_TheReportHoldsNoSecret(t *testing.T) {
	hub := upstreams(t)
	hub.Access.Items[0].Data["config"] = []byte("token: hunter2: [")
	hub.Named.Items[0].Data[corev1.DockerConfigJsonKey] = []byte(`{"auths": "hunter2"}`)
	for _, f := range findings(t, hub) {
		if text := fmt.Sprintf("%+v", f); strings.Contains(text, "hunter2") {
			t.Errorf("it says %s", text)
		}
	}
}

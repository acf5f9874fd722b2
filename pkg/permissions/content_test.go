package permissions_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// objectOf returns an object of a kind with one more field.
func objectOf(apiVersion, kind, field string, value any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "x"}, field: value,
	}}
}

// What cannot be read may hold any right: each of these objects is a finding of its own.
func TestAnalyse_WhatCannotBeReadIsTold(t *testing.T) {
	const rbac, admission = "rbac.authorization.k8s.io/v1", "admissionregistration.k8s.io/v1"
	for _, object := range []*unstructured.Unstructured{
		objectOf(rbac, "ClusterRole", "rules", "all"),
		objectOf(rbac, "ClusterRoleBinding", "subjects", "everyone"),
		objectOf(rbac, "RoleBinding", "subjects", "everyone"),
		objectOf(admission, "MutatingWebhookConfiguration", "webhooks", "x"),
		objectOf(admission, "ValidatingWebhookConfiguration", "webhooks", "x"),
		objectOf(admission, "ValidatingAdmissionPolicy", "spec", map[string]any{"matchConstraints": "all"}),
		objectOf(admission, "ValidatingAdmissionPolicyBinding", "spec", "x"),
		objectOf("apiextensions.k8s.io/v1", "CustomResourceDefinition", "spec", "x"),
		objectOf("apiregistration.k8s.io/v1", "APIService", "spec", map[string]any{"group": int64(1)}),
	} {
		findings := permissions.Analyse([]*unstructured.Unstructured{object}).Findings
		if len(findings) == 0 || findings[0].Category != permissions.CategoryUnreadable || findings[0].Severity != permissions.Critical {
			t.Errorf("%s: %+v", object.GetKind(), findings)
		}
	}
}

func TestAnalyseContent_CountsWhatAnotherClusterWouldGet(t *testing.T) {
	role := objectOf("rbac.authorization.k8s.io/v1", "ClusterRole", "rules", []any{
		map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "verbs": []any{"get", "list"}},
	})
	harmless := objectOf("rbac.authorization.k8s.io/v1", "ClusterRole", "rules", []any{})
	binding := objectOf("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "subjects", []any{
		map[string]any{"kind": "ServiceAccount", "name": "x", "namespace": "default"},
	})
	binding.Object["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "x"}
	plain := permissions.Content{Objects: []*unstructured.Unstructured{harmless, binding}}
	hides := permissions.Content{Objects: plain.Objects, Conditional: []*unstructured.Unstructured{role}}
	if made := permissions.Compare(permissions.AnalyseContent(plain), permissions.AnalyseContent(hides)); !made.NewRights() {
		t.Errorf("a role that has more rules in another cluster: %+v", made.Added)
	}
	untried := permissions.Content{Objects: plain.Objects, Untried: true}
	made := permissions.Compare(permissions.AnalyseContent(plain), permissions.AnalyseContent(untried))
	if sentences := made.Gravest(1); !made.NewRights() || len(sentences) != 1 || !strings.HasPrefix(sentences[0], "May do more than this list says") {
		t.Errorf("what was not tried: %+v", made.Added)
	}
	if again := permissions.Compare(permissions.AnalyseContent(untried), permissions.AnalyseContent(untried)); again.NewRights() {
		t.Errorf("the same was not tried before: %+v", again.Added)
	}
}

package manifest

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// secrets is a watch that has seen some Secrets.
type secrets map[types.NamespacedName]*corev1.Secret

func (s secrets) Get(_ context.Context, key types.NamespacedName) *corev1.Secret { return s[key] }
func (s secrets) Source(handler.EventHandler) source.Source                      { return nil }

func ofModule(name string) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) { m.Labels = map[string]string{v1beta2.LabelModuleName: name} }
}

// asking returns a Secret of the content that wants the hub's data.
func asking(annotation string) *unstructured.Unstructured {
	made := object("v1", "Secret", "pull")
	made.SetNamespace("kyma-system")
	made.SetAnnotations(map[string]string{v1beta2.AnnotationInjectData: annotation})
	made.Object["data"], made.Object["stringData"] = map[string]any{"old": "b2xk"}, map[string]any{"old": "old"}
	return made
}

func hubSecret(label string, data map[string][]byte) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "pull", ResourceVersion: "7"}, Data: data}
	if label != "" {
		secret.Labels = map[string]string{v1beta2.LabelModuleName: label}
	}
	return secret
}

var password = map[string][]byte{"password": []byte("s3cret")}

func TestInject_CopiesHubSecretsForDeployer(t *testing.T) {
	for name, test := range map[string]struct {
		module string
		object *unstructured.Unstructured
		want   bool
	}{
		"a Secret that asks for it":            {"deployer", asking("true"), true},
		"one that does not ask":                {"deployer", asking("false"), false},
		"one of another module":                {"other", asking("true"), false},
		"one of a Manifest without a module":   {"", asking("true"), false},
		"one that only calls itself a Secret":  {"deployer", func() *unstructured.Unstructured { o := asking("true"); o.SetAPIVersion("x.io/v1"); return o }(), false},
		"a ConfigMap that carries the request": {"deployer", func() *unstructured.Unstructured { o := asking("true"); o.SetKind("ConfigMap"); return o }(), false},
	} {
		t.Run(name, func(t *testing.T) {
			for way, r := range map[string]*Reconciler{
				"watched": {HubSecrets: secrets{{Namespace: "kcp-system", Name: "pull"}: hubSecret("deployer", password)}},
				"read":    newReconciler(t, hubSecret("deployer", password)),
			} {
				w := newScope(newManifest(ofModule(test.module)), testTime)
				got, err := r.postRender(t.Context(), w, []*unstructured.Unstructured{test.object})
				if err != nil {
					t.Fatalf("%s: %v", way, err)
				}
				data, _, _ := unstructured.NestedStringMap(got[0].Object, "data")
				if _, put := data["password"]; put != test.want || (test.want && (data["password"] != "czNjcmV0" || len(data) != 1)) {
					t.Errorf("%s: data %v", way, data)
				}
				if _, kept := got[0].Object["stringData"]; kept == test.want {
					t.Errorf("%s: stringData is there: %v", way, kept)
				}
				if recorded := len(w.injected) == 1; recorded != test.want {
					t.Errorf("%s: recorded %v", way, w.injected)
				}
				if old, _, _ := unstructured.NestedString(test.object.Object, "data", "old"); old != "b2xk" {
					t.Errorf("%s: what is shared was changed", way)
				}
			}
		})
	}
}

func TestHubSecret_ReportsUnusableSecret(t *testing.T) {
	for name, test := range map[string]struct {
		secret *corev1.Secret
		says   []string
	}{
		"it is not there": {nil, []string{"kcp-system/pull", "with the label " + v1beta2.LabelModuleName + ": deployer",
			`inject-data-from-kcp transform failed: failed to fetch kcp secret "pull": failed to get secret pull-kcp-system: secrets "pull" not found`}},
		"it has no label": {hubSecret("", password), []string{"kcp-system/pull",
			"inject-data-from-kcp transform failed: kcp source secret is missing the required " + v1beta2.LabelModuleName + " label: secret=pull"}},
		"it is for another module": {hubSecret("other", password), []string{"kcp-system/pull", "inject-data-from-kcp transform failed: kcp source secret " +
			v1beta2.LabelModuleName + " label does not match the manifest module: secret=pull expected=deployer actual=other"}},
		"it has no data": {hubSecret("deployer", nil), []string{"kcp-system/pull", "inject-data-from-kcp transform failed: ", "holds no data"}},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			if test.secret != nil {
				objects = append(objects, test.secret)
			}
			_, err := newReconciler(t, objects...).postRender(t.Context(), newScope(newManifest(ofModule("deployer")), testTime),
				[]*unstructured.Unstructured{asking("true")})
			problem := problemOf(err)
			if problem == nil || problem.Reason != v1beta2.ReasonHubSecretUnusable || problem.Retry != retryRefused {
				t.Fatalf("error %v", err)
			}
			for _, text := range test.says {
				if !strings.Contains(problem.Message, text) {
					t.Errorf("message %q does not say %q", problem.Message, text)
				}
			}
			if strings.Contains(problem.Message, "s3cret") {
				t.Errorf("message %q has a value", problem.Message)
			}
		})
	}
}

// Only what carries the label is watched: no event reports that another Secret changes or is deleted.
func TestHubSecret_RetriesWithoutAnEvent(t *testing.T) {
	r := newReconciler(t, hubSecret("other", password))
	cause := func() *runtimes.Problem {
		_, err := r.postRender(t.Context(), newScope(newManifest(ofModule("deployer")), testTime), []*unstructured.Unstructured{asking("true")})
		return problemOf(err)
	}
	for _, step := range []struct {
		says   string
		change func(*corev1.Secret)
	}{
		{"actual=other", func(s *corev1.Secret) { s.Labels = nil }},
		{"is missing the required", nil},
		{"not found", nil},
	} {
		problem := cause()
		if problem == nil || !strings.Contains(problem.Message, step.says) || problem.Retry == 0 {
			t.Fatalf("want one that says %q and is looked at again: %+v", step.says, problem)
		}
		secret := &corev1.Secret{}
		if err := r.Client.Get(t.Context(), client.ObjectKey{Namespace: "kcp-system", Name: "pull"}, secret); err != nil {
			continue
		}
		if step.change == nil {
			_ = r.Client.Delete(t.Context(), secret)
			continue
		}
		step.change(secret)
		if err := r.Client.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	r.HubSecrets = secrets{{Namespace: "kcp-system", Name: "pull"}: hubSecret("deployer", nil)}
	if problem := cause(); problem == nil || !strings.Contains(problem.Message, "holds no data") || problem.Retry != 0 {
		t.Errorf("what is watched is looked at again without an event: %+v", problem)
	}
}

func TestSettled_ChecksWhatPostRenderAdds(t *testing.T) {
	for name, test := range map[string]struct {
		flag   string
		status v1beta2.ManifestStatus
		want   bool
	}{
		"nothing was and is added":               {"", v1beta2.ManifestStatus{}, true},
		"the pull Secret is the same":            {"pull", v1beta2.ManifestStatus{ImagePullSecret: "pull"}, true},
		"the pull Secret is new":                 {"pull", v1beta2.ManifestStatus{}, false},
		"the pull Secret is not wanted any more": {"", v1beta2.ManifestStatus{ImagePullSecret: "pull"}, false},
		"the hub's Secret is the same": {
			"", v1beta2.ManifestStatus{Injected: []v1beta2.InjectedSecret{{Name: "pull", ResourceVersion: "7"}}}, true,
		},
		"the hub's Secret was changed": {
			"", v1beta2.ManifestStatus{Injected: []v1beta2.InjectedSecret{{Name: "pull", ResourceVersion: "6"}}}, false,
		},
		"the hub's Secret is gone": {
			"", v1beta2.ManifestStatus{Injected: []v1beta2.InjectedSecret{{Name: "gone", ResourceVersion: "7"}}}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{PullSecret: test.flag, HubSecrets: secrets{{Namespace: "kcp-system", Name: "pull"}: hubSecret("deployer", password)}}
			if got := r.isPostRendered(t.Context(), newScope(newManifest(func(m *v1beta2.Manifest) { m.Status = test.status }), testTime)); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestPostRender_ChangesWorkloadsBySpecAndFlag(t *testing.T) {
	pods := func(image, variable string) *unstructured.Unstructured {
		made := object("apps/v1", "Deployment", "operator")
		made.SetNamespace("kyma-system")
		container := map[string]any{"name": "manager", "image": image}
		if variable != "" {
			container["env"] = []any{map[string]any{"name": "SKR_IMG_PULL_SECRET", "value": variable}}
		}
		made.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{container}}}}
		return made
	}
	spec := func(m *v1beta2.Manifest) {
		m.Spec.LocalizedImages = []string{"mirror.example.com/prod/operator:1.0.0"}
		m.Spec.Manager = &v1beta2.Manager{GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: "operator"}
	}
	r := &Reconciler{PullSecret: "pull"}
	got, err := r.postRender(t.Context(), newScope(newManifest(spec), testTime), []*unstructured.Unstructured{pods("example.com/operator:1.0.0", "")})
	if err != nil {
		t.Fatal(err)
	}
	want := pods("mirror.example.com/prod/operator:1.0.0", "pull").Object["spec"].(map[string]any)
	want["template"].(map[string]any)["spec"].(map[string]any)["imagePullSecrets"] = []any{map[string]any{"name": "pull"}}
	if diff := cmp.Diff(want, got[0].Object["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if got[0].GetLabels()[v1beta2.LabelPartOf] != v1beta2.PartOfKyma || got[0].GetAnnotations()[v1beta2.AnnotationDisclaimer] == "" {
		t.Errorf("metadata %v", got[0].Object["metadata"])
	}
	_, err = r.postRender(t.Context(), newScope(newManifest(spec), testTime), []*unstructured.Unstructured{pods("x:1", "another")})
	if problem := problemOf(err); problem == nil || problem.Reason != v1beta2.ReasonContentInvalid || !strings.Contains(problem.Message, "SKR_IMG_PULL_SECRET") {
		t.Errorf("error %v", err)
	}
	spec = func(m *v1beta2.Manifest) { m.Spec.LocalizedImages = []string{"a/x:1", "b/x:1"} }
	_, err = r.postRender(t.Context(), newScope(newManifest(spec), testTime), []*unstructured.Unstructured{pods("x:1", "")})
	if problem := problemOf(err); problem == nil || problem.Reason != v1beta2.ReasonContentInvalid || !strings.Contains(problem.Message, "a/x:1, b/x:1") {
		t.Errorf("error %v", err)
	}
}

func TestPostRender_KeepsLabelsThatTheContentSelectsBy(t *testing.T) {
	own := map[string]string{
		v1beta2.LabelPartOf: "argocd", v1beta2.LabelComponent: "server", v1beta2.LabelManagedBy: "helm", "app.kubernetes.io/name": "argocd-server",
	}
	labelled := object("apps/v1", "Deployment", "argocd-server")
	labelled.SetLabels(own)
	labelled.SetAnnotations(map[string]string{v1beta2.AnnotationDisclaimer: "edit me", "own": "note"})
	pods := map[string]any{"metadata": map[string]any{"labels": map[string]any{v1beta2.LabelPartOf: "argocd"}}}
	labelled.Object["spec"] = map[string]any{"template": pods}
	empty := object("v1", "ConfigMap", "plain")
	empty.SetLabels(map[string]string{v1beta2.LabelPartOf: ""})
	r := &Reconciler{}
	content := []*unstructured.Unstructured{labelled, object("v1", "ConfigMap", "bare"), empty}
	got, err := r.postRender(t.Context(), newScope(newManifest(), testTime), content)
	if err != nil {
		t.Fatal(err)
	}
	name := newManifest().Name
	for i, want := range []map[string]string{
		{v1beta2.LabelPartOf: "argocd", v1beta2.LabelComponent: "server", v1beta2.LabelManagedBy: "kyma", "app.kubernetes.io/name": "argocd-server"},
		{v1beta2.LabelPartOf: "Kyma", v1beta2.LabelComponent: name, v1beta2.LabelManagedBy: "kyma"},
		{v1beta2.LabelPartOf: "", v1beta2.LabelComponent: name, v1beta2.LabelManagedBy: "kyma"},
	} {
		if diff := cmp.Diff(want, got[i].GetLabels()); diff != "" {
			t.Errorf("labels of %s (-want +got):\n%s", got[i].GetName(), diff)
		}
	}
	want := map[string]string{v1beta2.AnnotationDisclaimer: v1beta2.DisclaimerText, v1beta2.AnnotationOwnedBy: "kcp-system/" + name, "own": "note"}
	if diff := cmp.Diff(want, got[0].GetAnnotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"template": pods}, got[0].Object["spec"]); diff != "" {
		t.Errorf("the pods' own labels (-want +got):\n%s", diff)
	}
}

func TestWatchSecrets_EnqueuesWaitingManifests(t *testing.T) {
	made := func(name, module, reason string) *v1beta2.Manifest {
		m := newManifest(ofModule(module))
		m.Name, m.UID = name, types.UID(name)
		if reason != "" {
			m.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: reason}}
		}
		return m
	}
	elsewhere := made("d", "deployer", "")
	elsewhere.Namespace = "elsewhere"
	r := newReconciler(t, made("a", "deployer", v1beta2.ReasonReady), made("b", "other", v1beta2.ReasonRegistryUnauthorized),
		made("c", "other", v1beta2.ReasonReady), elsewhere)
	names := func(requests []reconcile.Request) (names []string) {
		for _, request := range requests {
			names = append(names, request.String())
		}
		return names
	}
	secret := hubSecret("deployer", nil)
	if diff := cmp.Diff([]string{"kcp-system/a"}, names(r.throughHubSecret(t.Context(), secret))); diff != "" {
		t.Errorf("by a Secret of the hub (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"kcp-system/b"}, names(r.throughLogin(t.Context(), secret))); diff != "" {
		t.Errorf("by the login (-want +got):\n%s", diff)
	}
}

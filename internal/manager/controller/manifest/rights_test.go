package manifest

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

func byAccount(name string) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) { m.Spec.ServiceAccountName = name }
}

func TestAccountOf_IsOneOfTheClusterItself(t *testing.T) {
	for name, test := range map[string]struct {
		name, namespace string
		local           bool
		want            types.NamespacedName
	}{
		"none":                    {},
		"none in the hub":         {local: true},
		"one of a runtime":        {name: "tenant", namespace: "space", want: types.NamespacedName{Namespace: "kyma-system", Name: "tenant"}},
		"one of the hub's tenant": {name: "tenant", namespace: "space", local: true, want: types.NamespacedName{Namespace: "space", Name: "tenant"}},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := newManifest(byAccount(test.name), func(m *v1beta2.Manifest) { m.Namespace = test.namespace })
			if got := accountOf(manifest, test.local); got != test.want {
				t.Errorf("account %s, want %s", got, test.want)
			}
		})
	}
}

// reviewed is a cluster that tells an account which rights it has, and counts how often it is asked.
type reviewed struct {
	*charted
	rules   []any
	partial bool
	single  bool
	asked   []string
}

func newReviewed(t *testing.T, rules ...any) *reviewed {
	t.Helper()
	objects, _ := configMaps("plain")
	source := v1beta2.ResolvedSource{Name: "raw-manifest", Reference: "registry.example.com/components/sample@" + digest, Digest: digest}
	made := &reviewed{charted: newCharted(t, Part{Source: source, Steps: [][]*unstructured.Unstructured{objects}}), rules: rules}
	answer := func(resource string, status func() map[string]any) {
		fake := made.c.dynamic.(*dynamicfake.FakeDynamicClient)
		fake.PrependReactor("create", resource, func(action clienttesting.Action) (bool, runtime.Object, error) {
			asked := action.(clienttesting.CreateAction).GetObject()
			question := asked.(*unstructured.Unstructured).DeepCopy()
			space, _, _ := unstructured.NestedString(question.Object, "spec", "namespace")
			verb, _, _ := unstructured.NestedString(question.Object, "spec", "resourceAttributes", "verb")
			made.asked = append(made.asked, space+verb)
			question.Object["status"] = status()
			return true, question, nil
		})
	}
	answer("selfsubjectrulesreviews", func() map[string]any {
		return map[string]any{"resourceRules": made.rules, "nonResourceRules": []any{}, "incomplete": made.partial}
	})
	answer("selfsubjectaccessreviews", func() map[string]any { return map[string]any{"allowed": made.single} })
	return made
}

// install makes one pass as the account.
func (c *reviewed) install(reason, text string) {
	c.Helper()
	c.pass(func(w *scope) (passResult, error) {
		w.target.Account = types.NamespacedName{Namespace: "kyma-system", Name: "tenant"}
		return c.r.converge(c.Context(), w)
	}, reason, text)
}

func ruleFor(verbs ...any) map[string]any {
	return map[string]any{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": verbs}
}

func TestCheckInstall_WritesNothingWithoutAllRights(t *testing.T) {
	c := newReviewed(t, ruleFor("get", "create", "patch"))
	c.install(v1beta2.ReasonMissingPermissions, "ServiceAccount kyma-system/tenant lacks rights, and nothing is written without them: "+
		`give it, by a Role or ClusterRole that is bound to it, in namespace default {apiGroups: [""], resources: [configmaps], `+
		`resourceNames: [plain], verbs: [delete]}`)
	if status := stored(c.T, c.r, c.manifest).Status; c.get("plain") == nil || len(status.Synced) > 0 || len(status.Resolved) > 0 {
		t.Errorf("something was written: %+v", status)
	}
	c.rules = append(c.rules, ruleFor("delete"))
	c.install(v1beta2.ReasonReady, "")
	if err := c.get("plain"); err != nil || !slices.Equal(c.asked, []string{"default", "default"}) {
		t.Errorf("it is not there: %v, asked %q", err, c.asked)
	}
	c.install(v1beta2.ReasonReady, "")
	if len(c.asked) != 2 {
		t.Errorf("it is asked again in the next pass: %q", c.asked)
	}
}

func TestGrantedRights_HoldForTheSameRightsAndAMinute(t *testing.T) {
	needs := []permissions.Need{{Namespace: "x", Resource: "configmaps", Verb: "get"}}
	pass := func(account string, generation int64, after time.Duration) *scope {
		w := newScope(newManifest(byAccount(account), func(m *v1beta2.Manifest) { m.Generation = generation }), metav1.NewTime(testTime.Add(after)))
		w.target.Account = accountOf(w.manifest, false)
		return w
	}
	var granted grantedRights
	granted.put(pass("tenant", 3, 0), needs)
	for name, test := range map[string]struct {
		w            *scope
		needs        []permissions.Need
		has, forSpec bool
	}{
		"the same":                       {pass("tenant", 3, time.Second), needs, true, true},
		"a minute later":                 {pass("tenant", 3, time.Minute), needs, false, true},
		"of another account":             {pass("other", 4, 0), needs, false, false},
		"other rights":                   {pass("tenant", 3, 0), append(needs, permissions.Need{Resource: "secrets", Verb: "get"}), false, true},
		"other rights, for another spec": {pass("tenant", 4, 0), nil, false, false},
	} {
		if has, hasAny := granted.has(test.w, test.needs), granted.hasAny(test.w); has != test.has || hasAny != test.forSpec {
			t.Errorf("%s: granted %t, and for the spec %t", name, has, hasAny)
		}
	}
	w := pass("tenant", 3, 0)
	if granted.forget(w.key); granted.has(w, needs) || granted.hasAny(w) {
		t.Error("they are not forgotten")
	}
}

func TestCheckInstall_AsksForSingleRightsWhereRulesAreNotAll(t *testing.T) {
	c := newReviewed(t)
	c.partial = true
	c.install(v1beta2.ReasonMissingPermissions, "verbs: [get, create, patch, delete]")
	if want := []string{"default", "get", "create", "patch", "delete"}; !slices.Equal(c.asked, want) {
		t.Errorf("asked %q, want %q", c.asked, want)
	}
	c.single = true
	c.install(v1beta2.ReasonReady, "")
}

func TestCheckRemoval_DeletesNothingWithoutAllRights(t *testing.T) {
	c := newReviewed(t, ruleFor("*"))
	c.install(v1beta2.ReasonReady, "")
	c.rules = []any{ruleFor("get", "create", "patch")}
	w := c.scope()
	w.target.Account = types.NamespacedName{Namespace: "kyma-system", Name: "tenant"}
	problem := problemOf(c.r.checkRemoval(t.Context(), w))
	if problem == nil || problem.Reason != v1beta2.ReasonMissingPermissions || !strings.Contains(problem.Message, "nothing is deleted") ||
		!strings.Contains(problem.Message, "resourceNames: [plain], verbs: [delete]") {
		t.Fatalf("told %+v", problem)
	}
	if found, err := deleting(problem); err != nil || found.state != v1beta2.StateDeleting || found.retry != retryRefused {
		t.Errorf("reported as %+v, %v", found, err)
	}
}

// The streams show the operator every object of a kind: an account must not read by its Manifest what it may not read itself.
func TestReportModuleCR_TellsAnAccountOnlyWhatItMayRead(t *testing.T) {
	for name, test := range map[string]struct {
		account   string
		permitted bool
		applied   int64
		want      v1beta2.State
	}{
		"the operator itself":                {want: v1beta2.StateWarning},
		"an account that was not looked at":  {account: "tenant"},
		"one that was, for an earlier spec":  {account: "tenant", applied: 2},
		"one that was, for this spec":        {account: "tenant", applied: 3, want: v1beta2.StateWarning},
		"one that was looked at in the pass": {account: "tenant", permitted: true, want: v1beta2.StateWarning},
	} {
		t.Run(name, func(t *testing.T) {
			w := newScope(newManifest(withResource(""), byAccount(test.account), func(m *v1beta2.Manifest) {
				m.Status.AppliedGeneration = test.applied
			}), testTime)
			w.runtime = &cluster{crs: []runtimes.ModuleCRStatus{{Namespace: "default", Name: "default", State: "Warning"}}}
			w.target.Account, w.permitted = accountOf(w.manifest, false), test.permitted
			w.reportModuleCR()
			if got := w.manifest.Status.ResourceState; got != test.want {
				t.Errorf("told %q, want %q", got, test.want)
			}
			if watched := len(w.interests(w.desired)) > 0; watched != (test.want != "") {
				t.Errorf("watched: %t", watched)
			}
		})
	}
}

// acting is a connection as an account uses it.
type acting struct {
	*cluster
	own     *apply.Cluster
	account string
}

func (a acting) Own() *apply.Cluster          { return a.own }
func (a acting) Untrack(types.NamespacedName) { a.again = append(a.again, a.account) }

// What is not tracked any more is listed again.
func TestTrack_AnotherAccountIsNoOtherConnection(t *testing.T) {
	r, w, known := newReconciler(t), newScope(newManifest(), testTime), &cluster{}
	before, after := &apply.Cluster{}, &apply.Cluster{}
	for _, runtime := range []acting{{known, before, ""}, {known, before, "a"}, {known, before, "b"}, {known, after, "b"}} {
		w.runtime = runtime
		r.track(w)
	}
	if !slices.Equal(known.again, []string{"b"}) {
		t.Errorf("untracked as %q, want the last one of the connection before", known.again)
	}
}

func TestClusterProblem_SaysWhoseRightsAreMissing(t *testing.T) {
	const refused = `configmaps "a" is forbidden: User "system:serviceaccount:kyma-system:tenant" cannot get resource`
	const impersonation, mayNot = `serviceaccounts "tenant" is forbidden: User "operator" cannot impersonate resource`, "may not act as ServiceAccount "
	for name, test := range map[string]struct {
		local        bool
		account      string
		message      string
		reason, text string
	}{
		"those of the account":                {false, "tenant", refused, v1beta2.ReasonMissingPermissions, "cannot get"},
		"those of the credentials":            {false, "other", refused, v1beta2.ReasonRuntimeForbidden, "cannot get"},
		"the right to act as it":              {false, "tenant", impersonation, v1beta2.ReasonRuntimeForbidden, "the user of the access Secret " + mayNot + "kyma-system/tenant"},
		"the operator's right to act as it":   {true, "tenant", impersonation, v1beta2.ReasonLocalAccessMissing, mayNot + "kcp-system/tenant"},
		"the operator's right to be in there": {true, "", impersonation, v1beta2.ReasonLocalAccessMissing, "config/components/local"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newScope(newManifest(byAccount(test.account)), testTime)
			w.runtime, w.target.Local, w.target.Account = &cluster{}, test.local, accountOf(w.manifest, test.local)
			denied := &apply.Error{Class: apply.ClassForbidden, Message: test.message}
			problem := problemOf(w.clusterProblem(inventory.ID{Kind: "ConfigMap", Name: "a"}, denied))
			if problem.Reason != test.reason || !strings.Contains(problem.Message, test.text) {
				t.Errorf("told %+v, want %s with %q", problem, test.reason, test.text)
			}
		})
	}
}

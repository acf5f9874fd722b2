package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// warmingUp returns an installation whose kind Sample was established moments ago, and what makes objects of it.
func warmingUp(t *testing.T) (i *installation, sample func(name, spec string) *unstructured.Unstructured) {
	t.Helper()
	i = &installation{fixture: onServer(t)}
	crd := i.object(strings.ReplaceAll(definition, "NS", i.namespace))
	i.installs(Created, crd)
	i.established(crd)
	i.warmingUp = true
	return i, func(name, spec string) *unstructured.Unstructured {
		return i.object("{apiVersion: " + i.namespace + ".example.org/v1, kind: Sample, metadata: {name: " + name + "}, spec: " + spec + "}")
	}
}

// calls names the calls for objects of that kind.
func (i *installation) calls(verbs ...string) []string {
	for at := range verbs {
		verbs[at] += " samples." + i.namespace + ".example.org"
	}
	return verbs
}

// A POST would be held back for two seconds: that none is sent is what makes the difference.
func TestCreate_ObjectOfAKindThatWarmsUpCostsOneApply(t *testing.T) {
	i, sample := warmingUp(t)
	i.costs(i.calls("patch"), func() {
		if live := i.installs(Created, sample("a", "{token: one, mode: fast}")); live.GetGeneration() != 1 {
			t.Errorf("it was created by %d changes", live.GetGeneration())
		}
	})
	i.rests(sample("a", "{token: one, mode: fast}"))
	i.costs(i.calls("patch"), func() { // and nothing has to be migrated
		if live := i.installs(Updated, sample("a", "{token: two}")); valueAt(live, "spec") != "map[size:3 token:two]" {
			t.Errorf("spec is %s", valueAt(live, "spec"))
		}
	})
	i.rests(sample("a", "{token: two}"))
}

func TestCreate_NoObjectOfAKindThatWarmsUpIsChanged(t *testing.T) {
	i, sample := warmingUp(t)
	i.opts.Ownership = Prevent
	const same = "{token: ours}"
	for name, test := range map[string]struct {
		theirs, owner string
		applied       bool // by a field manager of our name
		late          bool // it comes between the decision and the write
		action        Action
	}{
		"of another owner, with another value":       {theirs: "{token: theirs}", owner: stranger, action: Refused},
		"of another owner, with the same values":     {theirs: same, owner: stranger, action: Refused},
		"of another owner, with other fields":        {theirs: "{mode: slow}", owner: stranger, action: Refused},
		"of another owner, applied by our manager":   {theirs: same, owner: stranger, applied: true, action: Refused},
		"of another owner, made at the last moment":  {theirs: same, owner: stranger, late: true, action: Refused},
		"without a mark, with other fields":          {theirs: "{mode: slow}", action: Refused},
		"without a mark, made at the last moment":    {theirs: "{mode: slow}", late: true, action: Refused},
		"of a sibling, which is shared, not changed": {theirs: "{token: theirs}", owner: sibling, action: Shared},
	} {
		t.Run(name, func(t *testing.T) {
			i.T = t
			object := sample(strings.NewReplacer(" ", "-", ",", "").Replace(name), same)
			theirs := i.marked(sample(object.GetName(), test.theirs), test.owner)
			var before *unstructured.Unstructured
			exists := func(*http.Request) {
				i.before = nil
				if !test.applied {
					before = i.exists(theirs, "other")
					return
				}
				var err error
				before, err = i.theirs(theirs).Apply(t.Context(), theirs.GetName(), theirs, metav1.ApplyOptions{FieldManager: manager})
				i.must(err)
			}
			if i.before = exists; !test.late {
				exists(nil)
			}
			i.costs(i.calls("patch", "create", "get"), func() {
				class := map[Action]Class{Refused: ClassOwnershipConflict}[test.action]
				i.is(i.cluster.Apply(t.Context(), newSteps(object), i.opts)[0], test.action, class)
			})
			if after := i.get(object); after.GetResourceVersion() != before.GetResourceVersion() {
				t.Errorf("it was changed:\n%v\n%v", before, after)
			}
		})
	}
}

func TestCreate_ObjectOfAKindThatWarmsUpThatIsBeingDeletedStaysSo(t *testing.T) {
	i, sample := warmingUp(t)
	object := sample("a", "{token: one}")
	before := object.DeepCopy()
	before.SetFinalizers([]string{"example.org/wait"})
	i.exists(before, manager)
	i.remove(object)
	deleted := i.get(object)
	outcome := i.cluster.Apply(t.Context(), newSteps(object), i.opts)[0]
	i.is(outcome, Failed, ClassConflict)
	i.tells(outcome, "being deleted")
	if live := i.get(object); live.GetResourceVersion() != deleted.GetResourceVersion() {
		t.Errorf("it was changed:\n%v\n%v", deleted, live)
	}
}

func TestCreate_InterruptedInstallOfAKindThatWarmsUpIsTakenUp(t *testing.T) {
	i, sample := warmingUp(t)
	object := sample("a", "{token: one}")
	i.recorded = inventory.Planned(nil, []*unstructured.Unstructured{object})
	i.cluster.Apply(t.Context(), i.decide(object), i.opts) // and the outcome is lost
	i.opts.Ownership = Prevent
	i.installs(Unchanged, object)
	i.rests(object)
}

// A role that is limited to names allows no POST, whose name an API server does not know when it looks at rights.
func TestCreate_RightsForOneNameAreEnough(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	const group = "for-one-name"
	i.exists(i.object("{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: granted}, rules: [{apiGroups: [''], "+
		"resources: [configmaps], resourceNames: [mine, theirs], verbs: [get, create, patch, delete]}]}"), "test")
	i.exists(i.object("{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: granted}, "+
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: granted}, "+
		"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "+group+"}]}"), "test")
	config := rest.CopyConfig(i.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "installer", Groups: []string{group}}
	i.cluster.Dynamic, i.byName = i.client(config), true
	configMaps := i.cluster.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(i.namespace)
	i.await("the rights are known", func() bool {
		_, err := configMaps.Get(i.Context(), "mine", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	i.costs([]string{"patch configmaps"}, func() { i.installs(Created, i.configMap("mine", "a=1")) })
	i.costs([]string{"patch configmaps"}, func() { i.installs(Updated, i.configMap("mine", "a=2")) })

	i.opts.Ownership = Prevent
	theirs := i.configMap("theirs", "a=1")
	outcome := i.cluster.Apply(t.Context(), newSteps(i.configMap("theirs", "no key=1")), i.opts)[0]
	i.is(outcome, Refused, ClassRefused)
	i.tells(outcome, "no key")
	i.exists(i.marked(theirs, stranger), "other")
	i.is(i.cluster.Apply(t.Context(), newSteps(theirs), i.opts)[0], Refused, ClassOwnershipConflict)
	i.is(i.cluster.Apply(t.Context(), newSteps(i.configMap("other", "a=1")), i.opts)[0], Failed, ClassForbidden)
}

// An apply is always strict, and a POST is as strict as it is told to be.
func TestCreate_WhatOnlyAPOSTTakesIsCreatedByIt(t *testing.T) {
	i, sample := warmingUp(t)
	object := sample("a", "{token: one, unknown: x}")
	i.costs(i.calls("patch", "create"), func() {
		resource, err := i.cluster.Resource(t.Context(), object.GroupVersionKind())
		i.must(err)
		client := i.cluster.Dynamic.Resource(resource.GroupVersionResource).Namespace(i.namespace)
		_, err = Create(t.Context(), client, resource, object, metav1.CreateOptions{FieldManager: manager})
		i.must(err)
	})
	if spec := valueAt(i.get(object), "spec"); spec != "map[size:3 token:one]" {
		t.Errorf("spec is %s", spec)
	}
}

func TestCreate_RightToCreateIsEnough(t *testing.T) {
	i, sample := warmingUp(t)
	resource, err := i.cluster.Resource(t.Context(), sample("a", "{}").GroupVersionKind())
	i.must(err)
	client := i.granted("makers", resource.Group, resource.Resource, "create").Resource(resource.GroupVersionResource).Namespace(i.namespace)
	i.await("the right is known", func() bool {
		_, err := client.Create(t.Context(), sample("a", "{}"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil
	})
	i.costs(i.calls("patch", "create"), func() {
		_, err := Create(t.Context(), client, resource, sample("a", "{}"), metav1.CreateOptions{FieldManager: manager})
		i.must(err)
	})
}

// The words of a refusal are those of a POST, as for any other kind.
func TestCreate_RefusalsOfAKindThatWarmsUp(t *testing.T) {
	i, sample := warmingUp(t)
	elsewhere := sample("a", "{token: one}")
	elsewhere.SetNamespace("missing-" + i.namespace)
	for name, test := range map[string]struct {
		object *unstructured.Unstructured
		action Action
		class  Class
		says   string
	}{
		"a field that does not exist":       {sample("a", "{unknown: x}"), Refused, ClassRefused, `unknown field "spec.unknown"`},
		"a value that a rule does not take": {sample("a", "{mode: bad}"), Refused, ClassRefused, "mode must not be bad"},
		"a namespace that does not exist":   {elsewhere, Failed, ClassNamespaceMissing, "missing-" + i.namespace},
	} {
		t.Run(name, func(t *testing.T) {
			i.T = t
			outcome := i.cluster.Apply(t.Context(), newSteps(test.object), i.opts)[0]
			i.is(outcome, test.action, test.class)
			i.tells(outcome, test.says)
		})
	}
}

func TestCreate_KindThatIsNotServedYet(t *testing.T) {
	i, sample := warmingUp(t)
	object, served := sample("a", "{}"), i.cluster.Resource
	object.SetAPIVersion(i.namespace + ".example.org/v2")
	i.cluster.Resource = func(ctx context.Context, gvk schema.GroupVersionKind) (Resource, error) {
		gvk.Version = "v1"
		resource, err := served(ctx, gvk)
		resource.Version = "v2" // as a definition says before the API server serves it
		return resource, err
	}
	i.is(i.cluster.Apply(t.Context(), newSteps(object), i.opts)[0], Failed, ClassKindUnknown)
}

func TestCreate_DryRunMakesNoObjectOfAKindThatWarmsUp(t *testing.T) {
	i, sample := warmingUp(t)
	changes := i.cluster.Diff(t.Context(), newSteps(sample("a", "{token: one}")), nil, i.opts)
	if len(changes) != 1 || changes[0].Change != ChangeCreate {
		t.Errorf("got %+v", changes)
	}
	if i.get(sample("a", "{}")) != nil {
		t.Error("it exists")
	}
}

// Several owners create the same objects at once: the API server decides in the transaction of the write, so that one of them made each,
// and it is of that one alone.
func TestCreate_OneOfManyMakesAnObject(t *testing.T) {
	i, sample := warmingUp(t)
	const owners, objects = 4, 25
	client := i.theirs(sample("a", "{}"))
	var mutex sync.Mutex
	makers := map[string][]string{}
	var done sync.WaitGroup
	for owner := range owners {
		done.Go(func() {
			for n := range objects {
				name, mark := fmt.Sprintf("sample-%02d", n), fmt.Sprintf("owner-%d", owner)
				made, err := applyMissing(t.Context(), client, i.marked(sample(name, "{token: "+mark+"}"), mark), metav1.CreateOptions{FieldManager: manager})
				if err == nil && made.GetAnnotations()[ownerKey] == mark {
					mutex.Lock()
					makers[name] = append(makers[name], mark)
					mutex.Unlock()
				} else if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	done.Wait()
	for n := range objects {
		name := fmt.Sprintf("sample-%02d", n)
		live := i.get(sample(name, "{}"))
		if made := makers[name]; len(made) != 1 || live.GetAnnotations()[ownerKey] != made[0] || live.GetGeneration() != 1 {
			t.Errorf("%s was made by %v, and is %v", name, made, live)
		}
	}
}

// What cannot be known is not asked twice.
func TestCreate_NoPOSTFollowsWithoutAnAnswer(t *testing.T) {
	i, sample := warmingUp(t)
	ctx, cancel := context.WithCancel(t.Context())
	i.before = func(*http.Request) { cancel() }
	i.costs(i.calls("patch"), func() {
		resource, err := i.cluster.Resource(ctx, sample("a", "{}").GroupVersionKind())
		i.must(err)
		client := i.cluster.Dynamic.Resource(resource.GroupVersionResource).Namespace(i.namespace)
		if _, err = Create(ctx, client, resource, sample("a", "{}"), metav1.CreateOptions{FieldManager: manager}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

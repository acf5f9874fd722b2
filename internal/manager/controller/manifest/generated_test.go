package manifest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// generatingContent is a chart whose ConfigMap has a value that it generates.
type generatingContent struct {
	contents
	version string
	// silent: this version of the chart generates nothing.
	silent bool
	// unused: the value that it generates is in no object.
	unused bool
	hooks  []*unstructured.Unstructured
	made   int
}

func (c *generatingContent) Parts(
	ctx context.Context, _ *v1beta2.Manifest, capabilities func(context.Context) (runtimes.Capabilities, error),
) ([]Part, error) {
	known, err := capabilities(ctx)
	if err != nil {
		return nil, err
	}
	part := chartPart()
	part.Hooks = c.hooks
	data := map[string]any{"version": c.version}
	part.Steps[0][0].Object["data"] = data
	if c.silent {
		return []Part{part}, nil
	}
	store, err := known.Installation.Kept(ctx)
	if err != nil {
		return nil, err
	}
	value, kept := store.Values["raw-manifest"]["call"]
	if !kept {
		c.made++
		value = json.RawMessage(fmt.Sprint(c.made))
	}
	data["value"] = string(value)
	part.GeneratedAnew = !kept && !c.unused
	part.Generated = map[string]json.RawMessage{"call": value}
	return []Part{part}, nil
}

// generatingChart is a Manifest of a chart that generates a value.
type generatingChart struct {
	*charted
	content *generatingContent
}

func newGeneratingChart(t *testing.T) *generatingChart {
	t.Helper()
	made := &generatingChart{newCharted(t), &generatingContent{version: "1"}}
	made.r.Content = made.content
	made.takesApplies()
	return made
}

// takesApplies has the cluster take an apply of an object that exists: the client of tests cannot merge without a schema.
func (c *generatingChart) takesApplies() {
	fake := c.c.dynamic.(*dynamicfake.FakeDynamicClient)
	fake.PrependReactor("patch", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch := action.(clienttesting.PatchAction)
		live, err := fake.Tracker().Get(patch.GetResource(), patch.GetNamespace(), patch.GetName())
		if err != nil || patch.GetPatchType() != types.ApplyPatchType {
			return false, nil, err // which a reactor that does not handle the action does not tell
		}
		applied := &unstructured.Unstructured{}
		if err := applied.UnmarshalJSON(patch.GetPatch()); err != nil {
			return true, nil, err
		}
		applied.SetUID(live.(*unstructured.Unstructured).GetUID())
		return true, applied, fake.Tracker().Update(patch.GetResource(), applied, patch.GetNamespace())
	})
}

// value returns what the ConfigMap has.
func (c *generatingChart) value() string {
	c.Helper()
	live, err := c.c.dynamic.Resource(mapsResource).Namespace("default").Get(c.Context(), "plain", metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	version, _, _ := unstructured.NestedString(live.Object, "data", "version")
	value, _, _ := unstructured.NestedString(live.Object, "data", "value")
	return version + " " + value
}

func (c *generatingChart) secret() (*unstructured.Unstructured, error) {
	return c.c.dynamic.Resource(secretsResource).Namespace("default").Get(c.Context(), "sample.generated", metav1.GetOptions{})
}

func (c *generatingChart) deleteSecret() {
	c.Helper()
	if err := c.c.dynamic.Resource(secretsResource).Namespace("default").Delete(c.Context(), "sample.generated", metav1.DeleteOptions{}); err != nil {
		c.Fatal(err)
	}
}

// createSecret makes the Secret of an owner, with values or without.
func (c *generatingChart) createSecret(store generated.Store, owner string) {
	c.Helper()
	secret, err := store.Secret("default", "sample.generated")
	if err != nil {
		c.Fatal(err)
	}
	if store.Empty() {
		delete(secret.Object, "data")
	}
	if owner != "" {
		secret.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: owner})
		secret.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
	}
	if _, err := c.c.dynamic.Resource(secretsResource).Namespace("default").Create(c.Context(), secret, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

func (c *generatingChart) expectValue(want string) {
	c.Helper()
	if got := c.value(); got != want {
		c.Errorf("the object has version and value %q, want %q", got, want)
	}
}

func TestGenerated_StaysTheSame(t *testing.T) {
	c := newGeneratingChart(t)
	c.install(v1beta2.ReasonReady, "")
	c.expectValue("1 1")
	if ids := c.scope().recorded; len(ids) != 2 || len(stored(t, c.r, c.manifest).Status.Resolved) != 1 {
		t.Errorf("recorded %v, resolved %v", ids, stored(t, c.r, c.manifest).Status.Resolved)
	}
	for _, version := range []string{"2", "3"} {
		c.content.version = version
		c.install(v1beta2.ReasonReady, "")
		c.expectValue(version + " 1")
	}
	c.content.version, c.content.silent = "4", true
	c.install(v1beta2.ReasonReady, "")
	c.expectValue("4 ")
	c.content.version, c.content.silent = "5", false
	c.install(v1beta2.ReasonReady, "")
	c.expectValue("5 1")
}

func TestGenerated_IsNotMadeAnewByItself(t *testing.T) {
	kept := generated.Store{}.With("raw-manifest", map[string]json.RawMessage{"call": json.RawMessage("1")})
	for name, test := range map[string]struct {
		store  *generated.Store
		owner  string
		reason string
		text   string
		value  string
	}{
		"a Secret that is gone is asked for": {
			nil, "", v1beta2.ReasonGeneratedValuesLost,
			"Secret default/sample.generated, which has the passwords and keys that the module's chart has generated, is gone: restore it", "1 1",
		},
		"one that is restored is used again":               {&kept, "kcp-system/sample", v1beta2.ReasonReady, "", "2 1"},
		"one without data asks for new values":             {&generated.Store{}, "kcp-system/sample", v1beta2.ReasonReady, "", "2 2"},
		"the values of another Manifest are not looked at": {&kept, "kcp-system/other", v1beta2.ReasonGeneratedValuesLost, "belongs to kcp-system/other", "1 1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newGeneratingChart(t)
			c.install(v1beta2.ReasonReady, "")
			c.deleteSecret()
			c.content.version = "2"
			if test.store != nil {
				c.createSecret(*test.store, test.owner)
			}
			c.install(test.reason, test.text)
			c.expectValue(test.value)
		})
	}
}

// Nothing is applied with a value that is not kept.
func TestGenerated_ComesBeforeWhatHasIt(t *testing.T) {
	c := newGeneratingChart(t)
	other := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "other"}}
	if err := c.r.Client.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	c.createSecret(generated.Store{}, "kcp-system/other")
	c.install(v1beta2.ReasonOwnershipConflict, "sample.generated")
	if err := c.get("plain"); !apierrors.IsNotFound(err) {
		t.Errorf("the object was applied: %v", err)
	}
}

// The hooks of a removal are rendered with the same values until the last one has run.
func TestGenerated_LeavesLast(t *testing.T) {
	c := newGeneratingChart(t)
	c.content.hooks = []*unstructured.Unstructured{jobAt("left", "post-delete")}
	c.install(v1beta2.ReasonReady, "")
	if err := c.r.Client.Delete(t.Context(), stored(t, c.r, c.manifest)); err != nil { // which its finalizer holds
		t.Fatal(err)
	}
	c.remove(v1beta2.ReasonWaitingForHook, "hook post-delete of raw-manifest: Job.batch default/left")
	c.expect("left")
	if _, err := c.secret(); err != nil {
		t.Error(err)
	}
	c.end("left", "Complete")
	c.remove("", "")
	c.expect()
	if _, err := c.secret(); !apierrors.IsNotFound(err) || c.content.made != 1 {
		t.Errorf("%d values were made, and the Secret: %v", c.content.made, err)
	}
}

// What a direct installation of the module has generated comes along when a Kyma takes its place.
func TestGenerated_IsInherited(t *testing.T) {
	ofOther := map[string]string{v1beta2.AnnotationOwnedBy: "kcp-system/other"}
	for name, test := range map[string]struct {
		annotations, labels map[string]string
		own                 bool // the Manifest's own Secret is there, too, of no owner
		reason, text        string
		value               string
	}{
		"what was let go of is taken over": {reason: v1beta2.ReasonReady, value: "1 7"},
		"what the direct installation has is refused before anything is made": {
			annotations: map[string]string{installer.DefaultOwnerKey: installable.DirectOwner("sample")},
			reason:      v1beta2.ReasonOwnershipConflict, text: "--keep-resources",
		},
		"what another Manifest has is refused": {
			annotations: ofOther, labels: map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma},
			reason: v1beta2.ReasonGeneratedValuesLost, text: "belongs to kcp-system/other",
		},
		"what another Manifest let go of is taken over": {annotations: ofOther, reason: v1beta2.ReasonReady, value: "1 7"},
		"two Secrets leave it open which one counts": {
			own: true, reason: v1beta2.ReasonGeneratedValuesLost, text: "stands beside Secret module-sample.generated",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newGeneratingChart(t)
			c.c.scopes["Namespace"] = false
			ofKyma("kyma", "uid-kyma")(c.manifest)
			c.manifest.Labels[v1beta2.LabelModuleName] = "sample"
			if err := c.r.Client.Update(t.Context(), c.manifest); err != nil {
				t.Fatal(err)
			}
			c.leave("module-sample.generated", test.annotations, test.labels)
			if test.own {
				c.leave("sample.generated", nil, nil)
			}
			c.install(test.reason, test.text)
			if test.value == "" {
				if c.content.made > 0 && len(c.scope().recorded) > 0 {
					t.Errorf("recorded are %v", c.scope().recorded)
				}
				return
			}
			c.expectValue(test.value)
			c.content.version = "2"
			c.install(v1beta2.ReasonReady, "")
			c.expectValue("2 7")
			if id, kept := c.scope().generatedID(); !kept || id.Name != "module-sample.generated" {
				t.Errorf("kept in %s: %t", id, kept)
			}
		})
	}
}

// leave makes a Secret with a value, where the modules of a Kyma keep theirs.
func (c *generatingChart) leave(name string, annotations, labels map[string]string) {
	c.Helper()
	secret, err := generated.Store{}.With("raw-manifest", map[string]json.RawMessage{"call": json.RawMessage("7")}).
		Secret(v1beta2.RuntimeNamespace, name)
	if err != nil {
		c.Fatal(err)
	}
	secret.SetAnnotations(annotations)
	secret.SetLabels(labels)
	secrets := c.c.dynamic.Resource(secretsResource).Namespace(v1beta2.RuntimeNamespace)
	if _, err := secrets.Create(c.Context(), secret, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

func TestGeneratedID(t *testing.T) {
	long := strings.Repeat("a", 242) + "." + strings.Repeat("b", 10)
	secret := func(namespace, name string) inventory.ID {
		return inventory.ID{Kind: "Secret", Namespace: namespace, Name: name}
	}
	applied := func(id inventory.ID) []inventory.Entry { return []inventory.Entry{{ID: id, Version: "v1", UID: "uid"}} }
	into := func(m *v1beta2.Manifest) { m.Spec.TargetNamespace = "lamps" }
	for name, test := range map[string]struct {
		change   func(*v1beta2.Manifest)
		recorded []inventory.Entry
		want     inventory.ID
		kept     bool
	}{
		"with the other objects of a module":    {ofKyma("kyma", "uid-kyma"), nil, secret("kyma-system", "sample.generated"), false},
		"where a stand-alone Manifest goes":     {into, nil, secret("lamps", "sample.generated"), false},
		"in default, where it names no place":   {func(*v1beta2.Manifest) {}, nil, secret("default", "sample.generated"), false},
		"a long name is cut":                    {func(m *v1beta2.Manifest) { m.Name = long }, nil, secret("default", long[:242]+".generated"), false},
		"where it is, when the namespace moves": {into, applied(secret("default", "sample.generated")), secret("default", "sample.generated"), true},
		"that of the direct installation before": {
			ofKyma("kyma", "uid-kyma"), applied(secret("kyma-system", "module-sample.generated")), secret("kyma-system", "module-sample.generated"), true,
		},
		"that of the direct installation before, as it was planned": {
			ofKyma("kyma", "uid-kyma"), []inventory.Entry{{ID: secret("kyma-system", "module-sample.generated"), Version: "v1"}},
			secret("kyma-system", "module-sample.generated"), false,
		},
		"one that is only planned was not kept": {
			into, []inventory.Entry{{ID: secret("lamps", "sample.generated"), Version: "v1"}}, secret("lamps", "sample.generated"), false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newScope(newManifest(test.change), testTime)
			w.recorded = test.recorded
			if got, kept := w.generatedID(); got != test.want || kept != test.kept {
				t.Errorf("got %s, kept %t, want %s, %t", got, kept, test.want, test.kept)
			}
		})
	}
}

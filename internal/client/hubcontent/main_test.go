package hubcontent_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/hubcontent"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

// hub is a namespace of the API server with what a hub holds; no manager runs.
type hub struct {
	client.WithWatch
	t         *testing.T
	namespace string
}

// secretText is what a test looks for in messages.
const secretText = "kubeconfig-of-the-customer"

// newHub returns an empty hub.
func newHub(t *testing.T, namespace string) *hub {
	t.Helper()
	apiserver.Need(t)
	h := &hub{apiserver.Client(t), t, namespace}
	h.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	return h
}

func (h *hub) make(object client.Object) {
	h.t.Helper()
	if err := h.Create(h.t.Context(), object); err != nil {
		h.t.Fatal(err)
	}
}

// meta returns the metadata of an object.
func (h *hub) meta(name string, labels ...string) metav1.ObjectMeta {
	of := metav1.ObjectMeta{Namespace: h.namespace, Name: name, Labels: map[string]string{}}
	for i := 0; i < len(labels); i += 2 {
		of.Labels[labels[i]] = labels[i+1]
	}
	return of
}

// status writes the status of an object as its controller does.
func (h *hub) status(object client.Object) {
	h.t.Helper()
	if err := h.Status().Update(h.t.Context(), object); err != nil {
		h.t.Fatal(err)
	}
}

// filled returns a hub with everything that one can hold: the Kyma demo with module notes, which waits in a rollout.
func filled(t *testing.T, namespace string) *hub {
	t.Helper()
	h := newHub(t, namespace)
	for _, object := range []client.Object{
		&corev1.Secret{ObjectMeta: h.meta("demo", v1beta2.LabelKymaName, "demo"), StringData: map[string]string{"config": secretText}},
		&corev1.Secret{ObjectMeta: h.meta("other", v1beta2.LabelKymaName, "other")},
		&corev1.Secret{ObjectMeta: h.meta("login", "for", "registry"), StringData: map[string]string{"password": secretText}},
		&corev1.ConfigMap{ObjectMeta: h.meta("values", v1beta2.LabelValues, "true"), Data: map[string]string{"values.yaml": "a: 1"}},
		&corev1.ConfigMap{ObjectMeta: h.meta("files"), Data: map[string]string{"a.yaml": ""}},
		&corev1.ConfigMap{ObjectMeta: h.meta("unrelated")},
		&v1beta2.ModuleTemplate{ObjectMeta: h.meta("notes-1.0.0"), Spec: v1beta2.ModuleTemplateSpec{
			ModuleName: "notes", Version: "1.0.0", Descriptor: runtime.RawExtension{Raw: []byte("{}")},
		}},
	} {
		h.make(object)
	}
	kyma := &v1beta2.Kyma{ObjectMeta: h.meta("demo"), Spec: v1beta2.KymaSpec{Channel: "regular", Release: "2.2", Modules: []v1beta2.Module{{
		Name: "notes", ValuesFrom: []v1beta2.ValuesReference{{Kind: v1beta2.ValuesConfigMap, Name: "values"}},
	}}}}
	kyma.Finalizers = []string{v1beta2.FinalizerKyma}
	h.make(kyma)
	kyma.Status = v1beta2.KymaStatus{ObservedGeneration: kyma.Generation, State: v1beta2.StateReady, RuntimeID: "runtime-1"}
	h.status(kyma)
	h.releases(kyma)
	h.manifest(kyma)
	return h
}

// releases makes a release and the rollout that decides about it, in which a Kyma has a place.
func (h *hub) releases(kyma *v1beta2.Kyma) {
	h.t.Helper()
	its := &v1beta2.ModuleRollout{ObjectMeta: h.meta("notes"), Spec: v1beta2.ModuleRolloutSpec{Waves: []v1beta2.RolloutWave{{Name: "all"}}}}
	h.make(its)
	its.Status = v1beta2.ModuleRolloutStatus{ObservedGeneration: its.Generation, Phase: v1beta2.RolloutProgressing}
	its.Status.Channels = []v1beta2.RolloutChannel{{
		Name: "regular", Phase: v1beta2.RolloutProgressing, Wave: "all", To: v1beta2.RolloutVersion{Version: "1.0.0"},
		Underway: []string{rollout.Prefix(string(kyma.UID)), "0123456789ab"},
		Waves:    []v1beta2.RolloutWaveStatus{{Name: "all", Total: 1, Updating: 1}},
	}}
	h.status(its)
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: h.meta("notes"), Spec: v1beta2.ModuleReleaseMetaSpec{
		ModuleName: "notes", OCMComponentName: "example.com/notes", Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}},
	}}
	release.Annotations = map[string]string{v1beta2.AnnotationRollout: string(its.UID)}
	h.make(release)
	h.make(&v1beta2.KymaRelease{ObjectMeta: h.meta("2.2"), Spec: v1beta2.KymaReleaseSpec{
		Modules: []v1beta2.ReleasedModule{{Name: "notes", Version: "1.0.0"}},
	}})
}

// manifest makes the Manifest of a Kyma, with an inventory of which a part is in a Secret.
func (h *hub) manifest(kyma *v1beta2.Kyma) {
	h.t.Helper()
	manifest := &v1beta2.Manifest{
		ObjectMeta: h.meta("demo-notes", v1beta2.LabelKymaName, "demo", v1beta2.LabelModuleName, "notes"),
		Spec:       v1beta2.ManifestSpec{Remote: true, Version: "1.0.0", Install: v1beta2.InstallInfo{Name: "raw-manifest"}},
	}
	manifest.Spec.Install.Source.Raw = []byte(`{"configMaps":[{"name":"files"}],"credSecretSelector":{"matchLabels":{"for":"registry"}}}`)
	manifest.Finalizers = []string{v1beta2.FinalizerManifest}
	manifest.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(kyma, v1beta2.GroupVersion.WithKind("Kyma"))}
	h.make(manifest)
	shard := &corev1.Secret{ObjectMeta: h.meta("demo-notes.inventory.1", v1beta2.LabelInventory, string(manifest.UID))}
	shard.Data = map[string][]byte{"x": {1}}
	shard.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(manifest, v1beta2.GroupVersion.WithKind("Manifest"))}
	h.make(shard)
	manifest.Status = v1beta2.ManifestStatus{
		State: v1beta2.StateReady, ObservedGeneration: manifest.Generation, AppliedGeneration: manifest.Generation,
		Synced:          []v1beta2.Resource{{Version: "v1", Kind: "ConfigMap", Name: "a", Namespace: "default", Hash: "h"}},
		InventoryShards: []string{shard.Name},
		Revisions:       []v1beta2.Revision{{Number: 1, Version: "1.0.0", Digest: "sha256:" + strings.Repeat("0", 64), At: metav1.Unix(1, 0)}},
	}
	h.status(manifest)
}

// options are those of an export.
func (h *hub) options() hubcontent.ExportOptions {
	return hubcontent.ExportOptions{Namespaces: []string{h.namespace}, ManagerNamespace: h.namespace}
}

// export returns what a hub holds, as its files hold it.
func (h *hub) export() *hubcontent.Content {
	h.t.Helper()
	content, err := hubcontent.Export(h.t.Context(), h, h.options())
	if err != nil {
		h.t.Fatal(err)
	}
	files, err := hubcontent.Files(content)
	if err != nil {
		h.t.Fatal(err)
	}
	read := &hubcontent.Content{Warnings: content.Warnings}
	for _, file := range files {
		if err := hubcontent.Decode(read, file.Name, file.Data); err != nil {
			h.t.Fatal(err)
		}
	}
	return read
}

// lose deletes what a hub holds.
func (h *hub) lose() {
	h.t.Helper()
	kinds := []client.ObjectList{
		&v1beta2.KymaList{}, &v1beta2.ManifestList{}, &v1beta2.ModuleTemplateList{}, &v1beta2.ModuleReleaseMetaList{},
		&v1beta2.ModuleRolloutList{}, &v1beta2.KymaReleaseList{}, &corev1.SecretList{}, &corev1.ConfigMapList{},
	}
	for _, list := range kinds {
		if err := h.List(h.t.Context(), list, client.InNamespace(h.namespace)); err != nil {
			h.t.Fatal(err)
		}
		for _, object := range items(list) {
			free := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			if err := h.Patch(h.t.Context(), object, free); err != nil {
				h.t.Fatal(err)
			}
			if err := h.Delete(h.t.Context(), object); err != nil {
				h.t.Fatal(err)
			}
		}
	}
}

func items(list client.ObjectList) (objects []client.Object) {
	switch l := list.(type) {
	case *v1beta2.KymaList:
		objects = pointers(l.Items)
	case *v1beta2.ManifestList:
		objects = pointers(l.Items)
	case *v1beta2.ModuleTemplateList:
		objects = pointers(l.Items)
	case *v1beta2.ModuleReleaseMetaList:
		objects = pointers(l.Items)
	case *v1beta2.ModuleRolloutList:
		objects = pointers(l.Items)
	case *v1beta2.KymaReleaseList:
		objects = pointers(l.Items)
	case *corev1.SecretList:
		objects = pointers(l.Items)
	case *corev1.ConfigMapList:
		objects = pointers(l.Items)
	}
	return objects
}

func pointers[T any, P interface {
	*T
	client.Object
}](all []T) (objects []client.Object) {
	for i := range all {
		objects = append(objects, P(&all[i]))
	}
	return objects
}

// read fills an object of a hub.
func read[T client.Object](h *hub, name string, into T) T {
	h.t.Helper()
	if err := h.Get(h.t.Context(), client.ObjectKey{Namespace: h.namespace, Name: name}, into); err != nil {
		h.t.Fatal(err)
	}
	return into
}

// restore imports, which must succeed, and returns what became of each object.
func (h *hub) restore(content *hubcontent.Content, options hubcontent.ImportOptions) map[string]hubcontent.Action {
	h.t.Helper()
	done, err := hubcontent.Import(h.t.Context(), h, content, options)
	if err != nil {
		h.t.Fatal(err)
	}
	return actions(done)
}

func actions(done []hubcontent.Item) map[string]hubcontent.Action {
	of := map[string]hubcontent.Action{}
	for _, item := range done {
		of[item.Kind+" "+item.Name] = item.Action
	}
	return of
}

// every checks that all objects of an import, but those of some kinds, have an action.
func every(t *testing.T, done map[string]hubcontent.Action, action hubcontent.Action, except map[string]hubcontent.Action) {
	t.Helper()
	for name, is := range done {
		want := action
		for prefix, other := range except {
			if strings.HasPrefix(name, prefix) {
				want = other
			}
		}
		if is != want {
			t.Errorf("%s is %s, want %s", name, is, want)
		}
	}
}

// counted returns the client of a hub, and how many writes it sent.
func (h *hub) counted() (client.WithWatch, *atomic.Int64) {
	writes := &atomic.Int64{}
	return interceptor.NewClient(h.WithWatch, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if !strings.HasSuffix(fmt.Sprintf("%T", o), "SelfSubjectAccessReview") {
				writes.Add(1)
			}
			return c.Create(ctx, o, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			writes.Add(1)
			return c.Update(ctx, o, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			writes.Add(1)
			return c.Patch(ctx, o, p, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			writes.Add(1)
			return c.Apply(ctx, o, options...)
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption,
		) error {
			writes.Add(1)
			return c.SubResource(sub).Patch(ctx, o, p, options...)
		},
	}), writes
}

func suspended(object client.Object) bool {
	return object.GetLabels()[v1beta2.LabelSkipReconciliation] == v1beta2.EnabledValue &&
		object.GetAnnotations()[v1beta2.AnnotationImport] == v1beta2.ImportPending
}

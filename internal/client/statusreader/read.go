package statusreader

import (
	"context"
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// Scope limits what is read.
type Scope struct {
	// Kyma is the only Kyma to read, with its Manifests; nil means all.
	Kyma *types.NamespacedName
	// Namespace of the Kymas to read; empty means all. Kyma takes precedence.
	Namespace string
	// Match limits the Kymas to some, with their Manifests; nil means all. They are read in pages, and by the API server only those with
	// Labels, which may be nil.
	Match  func(*v1beta2.Kyma) bool
	Labels labels.Selector
	// CatalogOnly reads the catalog and the direct installations, but no Kyma and no Manifest.
	CatalogOnly bool
	// Shallow skips the custom resources and operators of modules.
	Shallow bool
	// Prereleases is modulestatus.Inputs.Prereleases.
	Prereleases bool
}

// Read reads a cluster. An error means that there is no result: the cluster does not answer, or the context ended. Every other failure is
// part of the result.
func Read(ctx context.Context, from client.Reader, scope Scope) (modulestatus.Inputs, error) {
	g := &reading{reader: from, in: modulestatus.Inputs{Prereleases: scope.Prereleases}}
	g.first(ctx, scope)
	if !scope.Shallow && g.fatal == nil {
		g.all(ctx, wanted(&g.in))
		g.all(ctx, found(&g.in))
	}
	return g.in, g.fatal
}

// reading is one call of Read.
type reading struct {
	reader client.Reader
	mutex  sync.Mutex
	in     modulestatus.Inputs
	fatal  error
}

// first reads the kinds that are known in advance: one list for each, concurrently.
func (g *reading) first(ctx context.Context, scope Scope) {
	var kymas v1beta2.KymaList
	var manifests v1beta2.ManifestList
	var templates v1beta2.ModuleTemplateList
	var releases v1beta2.ModuleReleaseMetaList
	var records corev1.SecretList
	ofKymas, ofManifests := within(scope.Namespace), within(scope.Namespace)
	if scope.Kyma != nil {
		ofKymas = append(within(scope.Kyma.Namespace), client.MatchingFields{"metadata.name": scope.Kyma.Name})
		ofManifests = append(within(scope.Kyma.Namespace), client.MatchingLabels{v1beta2.LabelKymaName: scope.Kyma.Name})
	}
	lists := []func(){
		func() { g.list(ctx, ownKind("ModuleTemplate"), "", &templates) },
		func() { g.list(ctx, ownKind("ModuleReleaseMeta"), "", &releases) },
		func() {
			options := append(within(modulestatus.DirectNamespace), client.HasLabels{modulestatus.LabelDirect})
			g.list(ctx, schema.GroupKind{Kind: "Secret"}, modulestatus.DirectNamespace, &records, options...)
		},
	}
	switch {
	case scope.CatalogOnly:
	case scope.Match != nil:
		lists = append(lists, func() { kymas.Items, manifests.Items = g.matching(ctx, scope) })
	default:
		lists = append(lists,
			func() { g.list(ctx, ownKind("Kyma"), "", &kymas, ofKymas...) },
			func() { g.list(ctx, ownKind("Manifest"), "", &manifests, ofManifests...) })
	}
	together(lists)
	if scope.Kyma != nil {
		manifests.Items = slices.DeleteFunc(manifests.Items, func(m v1beta2.Manifest) bool { // a standalone Manifest may be for the same cluster
			return module.KymaName(&m) != scope.Kyma.Name
		})
	}
	g.in.Kymas, g.in.Manifests, g.in.Templates, g.in.Releases = kymas.Items, manifests.Items, templates.Items, releases.Items
	g.in.Direct = directs(records.Items)
}

func within(namespace string) []client.ListOption {
	if namespace == "" {
		return nil
	}
	return []client.ListOption{client.InNamespace(namespace)}
}

// all reads all objects of some kinds.
func (g *reading) all(ctx context.Context, kinds []kind) {
	var lists []func()
	for _, kind := range kinds {
		lists = append(lists, func() { g.objects(ctx, kind) })
	}
	together(lists)
}

// objects reads all objects of one kind.
func (g *reading) objects(ctx context.Context, k kind) {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(k.GroupVersionKind.GroupVersion().WithKind(k.Kind + "List"))
	g.list(ctx, k.GroupKind(), k.namespace, &list, within(k.namespace)...)
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for i := range list.Items {
		g.in.Objects = append(g.in.Objects, &list.Items[i])
	}
}

// list reads one list and records the result.
func (g *reading) list(
	ctx context.Context, kind schema.GroupKind, namespace string, into client.ObjectList, options ...client.ListOption,
) {
	g.record(kind, namespace, g.reader.List(ctx, into, options...))
}

// record records whether a list could be read.
func (g *reading) record(kind schema.GroupKind, namespace string, err error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	var refused *apierrors.StatusError
	switch {
	case err == nil, notServed(err):
		if err != nil {
			g.in.Unserved = append(g.in.Unserved, kind)
		}
		g.in.Looked = append(g.in.Looked, modulestatus.ListedKind{GroupKind: kind, Namespace: namespace})
	case apierrors.IsForbidden(err), errors.As(err, &refused) && !apierrors.IsUnauthorized(err):
		g.in.Unread = append(g.in.Unread, modulestatus.Unread{
			GroupKind: kind, Namespace: namespace, Forbidden: apierrors.IsForbidden(err), Text: text(err),
		})
	case g.fatal == nil:
		g.fatal = err
	}
}

// notServed reports whether the cluster does not serve the kind, so that no object of it exists.
func notServed(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// text returns the message of the API server, without the status around it.
func text(err error) string {
	var refused apierrors.APIStatus
	if errors.As(err, &refused) && refused.Status().Reason != metav1.StatusReasonUnknown {
		return refused.Status().Message
	}
	return err.Error()
}

// together runs functions concurrently, eight at most.
func together(functions []func()) {
	slots := make(chan struct{}, 8)
	var all sync.WaitGroup
	for _, f := range functions {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			f()
		})
	}
	all.Wait()
}

func ownKind(kind string) schema.GroupKind { return v1beta2.GroupVersion.WithKind(kind).GroupKind() }

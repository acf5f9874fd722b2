package hubcontent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// wave is one step of an import, and one file of an export. Objects refer to those of earlier waves.
type wave struct {
	name     string
	kind     schema.GroupVersionKind
	resource string
	// record is true for the Secrets that hold inventories: they are no secrets, and belong to a Manifest.
	record bool
}

const (
	kindNamespace   = "Namespace"
	kindSecret      = "Secret"
	kindConfigMap   = "ConfigMap"
	kindKyma        = "Kyma"
	kindKymaRelease = "KymaRelease"
	kindManifest    = "Manifest"
	kindTemplate    = "ModuleTemplate"
	kindRelease     = "ModuleReleaseMeta"
	kindRollout     = "ModuleRollout"
)

// waves are all of them, in their order. A ModuleRollout precedes its release, which names it; a Manifest follows its Kyma, which owns it,
// and precedes its inventory, which it owns.
var waves = []wave{
	{name: "namespaces", kind: corev1.SchemeGroupVersion.WithKind(kindNamespace), resource: "namespaces"},
	{name: "configmaps", kind: corev1.SchemeGroupVersion.WithKind(kindConfigMap), resource: "configmaps"},
	{name: "secrets", kind: corev1.SchemeGroupVersion.WithKind(kindSecret), resource: "secrets"},
	{name: "moduletemplates", kind: v1beta2.GroupVersion.WithKind(kindTemplate), resource: "moduletemplates"},
	{name: "modulerollouts", kind: v1beta2.GroupVersion.WithKind(kindRollout), resource: "modulerollouts"},
	{name: "modulereleasemetas", kind: v1beta2.GroupVersion.WithKind(kindRelease), resource: "modulereleasemetas"},
	{name: "kymareleases", kind: v1beta2.GroupVersion.WithKind(kindKymaRelease), resource: "kymareleases"},
	{name: "kymas", kind: v1beta2.GroupVersion.WithKind(kindKyma), resource: "kymas"},
	{name: "manifests", kind: v1beta2.GroupVersion.WithKind(kindManifest), resource: "manifests"},
	{name: "inventories", kind: corev1.SchemeGroupVersion.WithKind(kindSecret), resource: "secrets", record: true},
}

// waveOf returns the wave of an object; false for one that is no content of a hub.
func waveOf(o *unstructured.Unstructured) (int, bool) {
	_, record := o.GetLabels()[v1beta2.LabelInventory]
	at := slices.IndexFunc(waves, func(w wave) bool {
		return w.kind == o.GroupVersionKind() && w.record == (record && o.GetKind() == kindSecret)
	})
	return at, at >= 0
}

// suspendable reports whether the manager acts on objects of a kind by itself, and leaves suspended ones alone. They have a status, too.
func suspendable(kind string) bool {
	return kind == kindKyma || kind == kindManifest || kind == kindRollout
}

// ID names an object.
type ID struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

func idOf(o *unstructured.Unstructured) ID {
	return ID{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// String returns "Kyma kcp-system/demo".
func (id ID) String() string {
	if id.Namespace == "" {
		return id.Kind + " " + id.Name
	}
	return id.Kind + " " + id.Namespace + "/" + id.Name
}

// sortObjects puts objects into the order of the waves, and of their names inside each.
func sortObjects(objects []*unstructured.Unstructured) {
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		first, _ := waveOf(a)
		second, _ := waveOf(b)
		return cmp.Or(cmp.Compare(first, second), strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	})
}

// origin is what AnnotationExportedFrom says: a hub, and a UID there.
type origin struct{ hub, uid string }

func (o origin) String() string { return o.hub + "/" + o.uid }

func originOf(o *unstructured.Unstructured) origin {
	hub, uid, _ := strings.Cut(o.GetAnnotations()[v1beta2.AnnotationExportedFrom], "/")
	return origin{hub, uid}
}

// kymaOf returns the Kyma that a Manifest of an export belongs to; empty for a stand-alone one.
func kymaOf(o *unstructured.Unstructured) string {
	if originOf(o).uid == "" {
		return ""
	}
	return o.GetLabels()[v1beta2.LabelKymaName]
}

// fewest lists names, and counts those that a line has no room for.
func fewest(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

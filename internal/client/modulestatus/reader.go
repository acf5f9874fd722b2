package modulestatus

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// The kinds that this package uses by name.
const (
	kindKyma     = "Kyma"
	kindManifest = "Manifest"
	kindTemplate = "ModuleTemplate"
	kindRelease  = "ModuleReleaseMeta"
)

// reader indexes the inputs.
type reader struct {
	Inputs
	releases  map[Key]*v1beta2.ModuleReleaseMeta
	released  map[string][]*v1beta2.ModuleReleaseMeta
	templates map[Key]*v1beta2.ModuleTemplate
	// versions are the templates of each module, the newest first.
	versions  map[string][]*v1beta2.ModuleTemplate
	manifests map[Key][]*v1beta2.Manifest // by their Kyma
	named     map[Key]*v1beta2.Manifest
	records   map[Key]*Direct
	// elsewhere reports for each Kyma whether its modules are in another cluster.
	elsewhere map[string]bool
	objects   map[objectKey]*unstructured.Unstructured
}

type objectKey struct{ group, kind, namespace, name string }

func newReader(in Inputs) *reader {
	r := &reader{
		Inputs: in, releases: map[Key]*v1beta2.ModuleReleaseMeta{}, released: map[string][]*v1beta2.ModuleReleaseMeta{},
		templates: map[Key]*v1beta2.ModuleTemplate{}, versions: map[string][]*v1beta2.ModuleTemplate{},
		manifests: map[Key][]*v1beta2.Manifest{}, objects: map[objectKey]*unstructured.Unstructured{},
		named: map[Key]*v1beta2.Manifest{}, records: map[Key]*Direct{}, elsewhere: map[string]bool{},
	}
	for i := range in.Releases {
		release := &in.Releases[i]
		r.releases[Key{release.Namespace, release.Name}] = release
		r.released[release.Name] = append(r.released[release.Name], release)
	}
	for i := range in.Templates {
		template := &in.Templates[i]
		r.templates[Key{template.Namespace, template.Name}] = template
		name := ModuleOf(template)
		r.versions[name] = append(r.versions[name], template)
	}
	for _, templates := range r.versions {
		slices.SortStableFunc(templates, func(a, b *v1beta2.ModuleTemplate) int {
			return moduleversion.Compare(b.ModuleVersion(), a.ModuleVersion())
		})
	}
	for i := range in.Manifests {
		manifest := &in.Manifests[i]
		kyma := Key{}
		if name := module.KymaName(manifest); name != "" {
			kyma = Key{manifest.Namespace, name}
		}
		r.manifests[kyma] = append(r.manifests[kyma], manifest)
		r.named[Key{manifest.Namespace, manifest.Name}] = manifest
	}
	for i := range in.Kymas {
		r.elsewhere[Key{in.Kymas[i].Namespace, in.Kymas[i].Name}.String()] = !Here(&in.Kymas[i])
	}
	for i := range in.Direct {
		r.records[in.Direct[i].Record] = &in.Direct[i]
	}
	for _, o := range in.Objects {
		gk := o.GroupVersionKind().GroupKind()
		r.objects[objectKey{gk.Group, gk.Kind, o.GetNamespace(), o.GetName()}] = o
	}
	return r
}

// ModuleOf returns the module that a template belongs to. Upstream's older templates have it in a label.
func ModuleOf(template *v1beta2.ModuleTemplate) string {
	return cmp.Or(template.ModuleName(), template.Name)
}

// Here reports whether a Kyma's modules are in the cluster from which the Kyma was read: it is local, or the copy in a runtime.
func Here(kyma *v1beta2.Kyma) bool {
	local := kyma.Spec.Remote != nil && !*kyma.Spec.Remote
	return local || IsCopy(kyma)
}

// IsCopy reports whether a Kyma is the copy that a hub keeps in a runtime.
func IsCopy(kyma *v1beta2.Kyma) bool {
	return kyma.Namespace == v1beta2.RuntimeNamespace && kyma.Name == v1beta2.RuntimeKymaName &&
		(kyma.Labels[v1beta2.LabelManagedBy] == v1beta2.ManagedByKyma || kyma.Labels[v1beta2.LabelWatchedBy] != "")
}

// typeOf returns the type of a module by its releases and templates, and otherwise if those are inconclusive and some could not be read.
func (r *reader) typeOf(name string, otherwise Type) Type {
	if len(r.released[name]) > 0 {
		return Manageable
	}
	for _, template := range r.versions[name] {
		switch template.Labels[v1beta2.LabelManagedBy] {
		case v1beta2.ManagedByKyma, v1beta2.ManagedByLifecycleManager:
			return Manageable
		}
	}
	for _, kind := range []string{kindRelease, kindTemplate} {
		if r.unread(ownKind(kind), "") != nil {
			return otherwise
		}
	}
	return Community
}

// Effective returns the spec that a Kyma requests: its own, merged with that of the runtime's user when it was last observed.
func Effective(kyma *v1beta2.Kyma) v1beta2.KymaSpec {
	spec := *kyma.Spec.DeepCopy()
	if IsCopy(kyma) {
		spec.Release = kyma.Status.Release // the hub's spec names it, and the copy has only its status
	}
	seen := kyma.Status.LastSeen
	if seen == nil || seen.Runtime == nil {
		return spec
	}
	merged := module.Merge(module.MergeInput{Hub: module.SeenOnHub(&kyma.Spec, seen), Runtime: seen.Runtime, Last: seen})
	if merged.Refused != "" {
		merged.Effective = *seen.Runtime
	}
	module.Apply(&spec, merged.Effective)
	keepRefused(&spec, kyma)
	return spec
}

// keepRefused keeps values of the hub that are refused as they stand there: a decision by the spec refuses them, too.
func keepRefused(spec *v1beta2.KymaSpec, kyma *v1beta2.Kyma) {
	refused := module.RefusedOnHub(&kyma.Spec, kyma.Status.LastSeen)
	for i := range kyma.Spec.Modules {
		own := &kyma.Spec.Modules[i]
		at := slices.IndexFunc(spec.Modules, func(m v1beta2.Module) bool { return m.Name == own.Name })
		if refused[own.Name] != "" && at >= 0 {
			spec.Modules[at].Values = own.Values.DeepCopy()
		}
	}
}

// release returns the release of a module for a namespace; for the empty one, that of ReleaseOf.
func (r *reader) release(namespace, name string) *v1beta2.ModuleReleaseMeta {
	if found := r.releases[Key{namespace, name}]; found != nil || namespace != "" {
		return found
	}
	found, err := ReleaseOf(name, "", r.Releases)
	if err != nil {
		return nil
	}
	return found
}

// channelVersion returns the version that a channel of a release offers; "" if there is none.
func channelVersion(release *v1beta2.ModuleReleaseMeta, channel string) string {
	if release == nil {
		return ""
	}
	for _, offer := range release.Spec.Channels {
		if offer.Channel == channel {
			return offer.Version
		}
	}
	return ""
}

// template returns the template of a module's version that a namespace may use (empty: any namespace).
func (r *reader) template(namespace, name, version string) *v1beta2.ModuleTemplate {
	if found := r.templates[Key{namespace, name + "-" + version}]; found != nil {
		return found
	}
	for _, template := range r.versions[name] {
		if template.ModuleVersion() == version && (namespace == "" || template.Namespace == namespace) {
			return template
		}
	}
	return nil
}

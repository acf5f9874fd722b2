package statusreader

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// kind is an additional kind to read, in one namespace or, if that is empty, in all.
type kind struct {
	schema.GroupVersionKind
	namespace string
}

// need collects kinds, each with its version and the namespaces in which it is needed.
type need map[schema.GroupKind]*struct {
	version    string
	namespaces []string
}

// wanted returns the kinds that modules of this very cluster name. The modules of a hub's runtimes are in other clusters, so nothing is
// read for them.
//
//  1. For each module that is installed here: the kind of its custom resource, in all namespaces, and its operator's object.
//  2. If no Kyma belongs to another cluster, modules may be installed without a record: the operators of all templates.
func wanted(in *modulestatus.Inputs) []kind {
	all := need{}
	for i := range in.Kymas {
		if modulestatus.Here(&in.Kymas[i]) {
			all.ofKyma(in, &in.Kymas[i])
		}
	}
	for i := range in.Direct {
		d := &in.Direct[i]
		all.manager(d.Manager)
		if d.Resource != nil {
			all.add(schema.FromAPIVersionAndKind(d.Resource.APIVersion, d.Resource.Kind), "")
		}
	}
	unknown := !elsewhere(in)
	for i := range in.Templates {
		if unknown {
			all.manager(in.Templates[i].Spec.Manager)
		}
	}
	return all.kinds()
}

// elsewhere reports whether a Kyma belongs to another cluster: then this cluster is a hub, and modules are in runtimes.
func elsewhere(in *modulestatus.Inputs) bool {
	return slices.ContainsFunc(in.Kymas, func(k v1beta2.Kyma) bool { return !modulestatus.Here(&k) })
}

// found returns the kinds of custom resources of templates that have not been read yet, once the operators in this cluster are known:
//
//  1. Those whose operator is here.
//  2. If modules may be installed without a record: those of all templates. A resource outlives an operator that a user deleted, and is
//     then the only trace of the module.
func found(in *modulestatus.Inputs) []kind {
	all := need{}
	unknown := !elsewhere(in)
	for i := range in.Templates {
		template := &in.Templates[i]
		if unknown || runs(in, template.Spec.Manager) {
			all.resource(template.Spec.Data)
		}
	}
	return slices.DeleteFunc(all.kinds(), func(k kind) bool {
		read := slices.ContainsFunc(in.Looked, func(l modulestatus.ListedKind) bool { return l.GroupKind == k.GroupKind() && l.Namespace == "" })
		return read || slices.ContainsFunc(in.Unread, func(u modulestatus.Unread) bool { return u.GroupKind == k.GroupKind() })
	})
}

// runs reports whether the object that runs a module's operator was read.
func runs(in *modulestatus.Inputs, m *v1beta2.Manager) bool {
	return m != nil && slices.ContainsFunc(in.Objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == m.Kind && o.GetName() == m.Name && o.GetNamespace() == m.Namespace
	})
}

// ofKyma adds the kinds that the modules of one Kyma name.
func (n need) ofKyma(in *modulestatus.Inputs, kyma *v1beta2.Kyma) {
	names := map[string]bool{}
	spec := modulestatus.Effective(kyma)
	for i := range spec.Modules {
		names[spec.Modules[i].Name] = true
	}
	for i := range kyma.Status.Modules {
		status := &kyma.Status.Modules[i]
		names[status.Name] = true
		if status.Resource != nil {
			n.add(schema.FromAPIVersionAndKind(status.Resource.APIVersion, status.Resource.Kind), "")
		}
	}
	for i := range in.Templates {
		if names[modulestatus.ModuleOf(&in.Templates[i])] {
			n.template(&in.Templates[i])
		}
	}
	for i := range in.Manifests {
		manifest := &in.Manifests[i]
		if manifest.Namespace == kyma.Namespace && module.KymaName(manifest) == kyma.Name {
			n.manager(manifest.Spec.Manager)
			n.resource(manifest.Spec.Resource)
		}
	}
}

func (n need) template(template *v1beta2.ModuleTemplate) {
	n.manager(template.Spec.Manager)
	n.resource(template.Spec.Data)
}

func (n need) manager(m *v1beta2.Manager) {
	if m != nil && m.Kind != "" {
		n.add(schema.GroupVersionKind{Group: m.Group, Version: m.Version, Kind: m.Kind}, m.Namespace)
	}
}

func (n need) resource(o *unstructured.Unstructured) {
	if o != nil && o.GetKind() != "" {
		n.add(o.GroupVersionKind(), "")
	}
}

// add adds a kind; an empty namespace means all.
func (n need) add(gvk schema.GroupVersionKind, namespace string) {
	at := n[gvk.GroupKind()]
	if at == nil {
		at = &struct {
			version    string
			namespaces []string
		}{version: gvk.Version}
		n[gvk.GroupKind()] = at
	}
	if !slices.Contains(at.namespaces, namespace) {
		at.namespaces = append(at.namespaces, namespace)
	}
}

// kinds returns the needed kinds, one entry for each: in its namespace when there is only one, and otherwise in all.
func (n need) kinds() []kind {
	var all []kind
	for gk, at := range n {
		k := kind{GroupVersionKind: gk.WithVersion(at.version)}
		if len(at.namespaces) == 1 {
			k.namespace = at.namespaces[0]
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b kind) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

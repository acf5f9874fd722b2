package takeover

import (
	"encoding/json"
	"slices"

	"github.com/dustin/go-humanize/english"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

// The subjects of findings about objects.
const (
	subjectKymas     = "Kymas"
	subjectManifests = "Manifests"
	subjectTemplates = "ModuleTemplates"
	subjectReleases  = "ModuleReleaseMetas"
	subjectAccess    = "access Secrets"
)

// objects checks each object by itself.
func (j *judge) objects() {
	j.kymas()
	j.access()
	j.templates()
	j.releases()
	j.manifests()
}

// known returns the objects of a kind as types of this manager, and adds findings about those that do not fit.
func known[T any](j *judge, subject, kind string, read Read[unstructured.Unstructured]) (items []T, ok bool) {
	if j.unread(subject, read.Err) {
		return nil, false
	}
	items, bad := decoded[T](read)
	j.atf(subject, Refused, bad, "this manager cannot read the object, since a field has another type: correct it")
	j.atf(subject, Refused, j.unfit(kind, read.Items), "this manager's definition refuses the next write of the object: correct the field")
	return items, true
}

// decoded returns the objects that can be decoded, and the names of those that cannot.
func decoded[T any](read Read[unstructured.Unstructured]) (items []T, bad []string) {
	for i := range read.Items {
		var item T
		text, err := read.Items[i].MarshalJSON()
		if err == nil {
			err = json.Unmarshal(text, &item)
		}
		if err != nil {
			bad = append(bad, placeOf(&read.Items[i]))
			continue
		}
		items = append(items, item)
	}
	return items, bad
}

// unfit returns the objects that this manager's definition of a kind refuses, with the first field of each.
func (j *judge) unfit(kind string, objects []unstructured.Unstructured) []string {
	var found []string
	for _, definition := range j.rules.Definitions {
		if definition.Spec.Names.Kind != kind {
			continue
		}
		validator, err := crdsafety.NewValidator(definition)
		if err != nil {
			return []string{"every " + kind + ": " + err.Error()}
		}
		for i := range objects {
			if problems := validator.Validate(&objects[i]); len(problems) > 0 {
				found = append(found, placeOf(&objects[i])+": "+problems[0].Path)
			}
		}
	}
	return found
}

// placeOf returns the namespace and name of an object.
func placeOf(object interface {
	GetNamespace() string
	GetName() string
}) string {
	return object.GetNamespace() + "/" + object.GetName()
}

// where returns the places of the objects that a condition holds for.
func where[T any, P interface {
	*T
	GetNamespace() string
	GetName() string
}](items []T, holds func(P) bool) []string {
	var places []string
	for i := range items {
		if holds(P(&items[i])) {
			places = append(places, placeOf(P(&items[i])))
		}
	}
	return places
}

func (j *judge) kymas() {
	kymas, ok := known[v1beta2.Kyma](j, subjectKymas, "Kyma", j.hub.Kymas)
	if !ok {
		return
	}
	j.atf(subjectKymas, Differs, where(kymas, func(k *v1beta2.Kyma) bool { return k.Labels[v1beta2.LabelSync] == "false" }),
		"the label %s: \"false\", which upstream does not read, keeps everything but modules out of the runtime here: remove it",
		v1beta2.LabelSync)
	j.atf(subjectKymas, Fine, where(kymas, func(k *v1beta2.Kyma) bool { return slices.Contains(k.Finalizers, v1beta2.FinalizerPurge) }),
		"the finalizer %s of a controller that is gone is removed", v1beta2.FinalizerPurge)
	j.atf(subjectKymas, Fine, where(kymas, func(k *v1beta2.Kyma) bool { return !k.DeletionTimestamp.IsZero() }),
		"a deletion that is under way is taken up where it is")
	j.atf(subjectKymas, Fine, where(kymas, module.KymaSuspended),
		"left alone by the label %s, as now", v1beta2.LabelSkipReconciliation)
	j.soundf(subjectKymas, "%s can be taken over", english.Plural(len(kymas), "Kyma", ""))
}

// access checks the Secrets with the kubeconfigs of runtimes.
func (j *judge) access() {
	if j.unread(subjectAccess, j.hub.Access.Err) || j.hub.Kymas.Err != "" {
		return
	}
	byKyma := map[string][]*corev1.Secret{}
	for i := range j.hub.Access.Items {
		secret := &j.hub.Access.Items[i]
		byKyma[secret.Labels[v1beta2.LabelKymaName]] = append(byKyma[secret.Labels[v1beta2.LabelKymaName]], secret)
	}
	var none, several, refused []string
	for i := range j.hub.Kymas.Items {
		kyma := &j.hub.Kymas.Items[i]
		secrets := byKyma[kyma.GetName()]
		switch {
		case len(secrets) == 0:
			none = append(none, placeOf(kyma))
		case len(secrets) > 1:
			several = append(several, placeOf(kyma))
		default:
			if why := j.rules.Kubeconfig(secrets[0].Data[v1beta2.AccessSecretKey]); why != "" {
				refused = append(refused, placeOf(secrets[0])+": "+why)
			}
		}
	}
	j.atf(subjectAccess, Refused, refused, "upstream may accept the kubeconfig, and this manager does not: write everything inline")
	j.atf(subjectAccess, Differs, none, "no access Secret for the Kyma: an Error now and afterwards")
	j.atf(subjectAccess, Differs, several, "several access Secrets for the Kyma: an Error now and afterwards; leave one")
	j.soundf(subjectAccess, "each Kyma has one that can be used")
}

func (j *judge) templates() {
	templates, ok := known[v1beta2.ModuleTemplate](j, subjectTemplates, "ModuleTemplate", j.hub.Templates)
	if !ok {
		return
	}
	j.atf(subjectTemplates, Differs, where(templates, func(t *v1beta2.ModuleTemplate) bool { return len(t.Spec.CustomStateCheck) > 0 }),
		"customStateCheck counts here, and upstream ignores it: check it, or remove it")
	j.atf(subjectTemplates, Differs, where(templates, func(t *v1beta2.ModuleTemplate) bool { return len(t.Spec.AssociatedResources) > 0 }),
		"associatedResources count here, and upstream does not read them: a module is not deleted while objects of these kinds exist")
	j.atf(subjectTemplates, Fine, where(templates, func(t *v1beta2.ModuleTemplate) bool { return t.Spec.Version == "" }),
		"no version, as before there were ModuleReleaseMetas: neither manager reads the template")
	j.soundf(subjectTemplates, "%s mean the same", english.Plural(len(templates), "ModuleTemplate", ""))
}

func (j *judge) releases() {
	releases, ok := known[v1beta2.ModuleReleaseMeta](j, subjectReleases, "ModuleReleaseMeta", j.hub.Releases)
	if ok {
		j.soundf(subjectReleases, "%s mean the same", english.Plural(len(releases), "ModuleReleaseMeta", ""))
	}
}

func (j *judge) manifests() {
	manifests, ok := known[v1beta2.Manifest](j, subjectManifests, "Manifest", j.hub.Manifests)
	if !ok {
		return
	}
	j.atf(subjectManifests, Refused, where(manifests, func(m *v1beta2.Manifest) bool { return module.KymaName(m) == "" }),
		"no Kyma owns the Manifest: upstream calls it orphaned, and this manager installs it, with spec.remote: false into the hub "+
			"itself; delete it, or label it %s: \"true\"", v1beta2.LabelSkipReconciliation)
	if j.hub.Kymas.Err == "" {
		j.atf(subjectManifests, Differs, where(manifests, func(m *v1beta2.Manifest) bool {
			name := module.KymaName(m)
			return name != "" && !slices.ContainsFunc(j.hub.Kymas.Items, func(k unstructured.Unstructured) bool {
				return k.GetName() == name
			})
		}), "the Kyma of the Manifest does not exist: upstream calls it orphaned, this manager continues while there is an access Secret")
	}
	j.atf(subjectManifests, Fine, where(manifests, func(m *v1beta2.Manifest) bool {
		return m.Annotations[v1beta2.AnnotationIsUnmanaged] == v1beta2.EnabledValue
	}), "upstream has not released the module yet: this manager does")
	j.soundf(subjectManifests, "%s can be taken over", english.Plural(len(manifests), "Manifest", ""))
}

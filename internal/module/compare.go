package module

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// The labels and annotations of a Manifest that this operator owns, set or not. Others are left alone.
var (
	ownLabels = []string{
		v1beta2.LabelKymaName, v1beta2.LabelModuleName, v1beta2.LabelManagedBy, v1beta2.LabelChannel, v1beta2.LabelControllerName,
		v1beta2.LabelMandatoryModule,
	}
	ownAnnotations = []string{
		v1beta2.AnnotationOCMComponentName, v1beta2.AnnotationFQDN, v1beta2.AnnotationRollback, v1beta2.AnnotationRollbackMessage,
		v1beta2.AnnotationProgressDeadline, v1beta2.AnnotationRequires, v1beta2.AnnotationReadiness,
		v1beta2.AnnotationUpgradeStrategy,
	}
)

// mergedLists are the lists that a server-side apply merges with the entries of other field managers; it replaces all other lists.
var mergedLists = []string{"additionalInstalls", "allowCRDChanges"}

// difference is how an existing Manifest differs from the wanted one, in the fields that this operator owns.
type difference struct {
	// Meta and Spec report whether a wanted field is missing or has another value. A server-side apply corrects it.
	Meta, Spec bool
	// Extra are the fields that are set and not wanted, as the body of a JSON merge patch. An apply removes them only if no other field
	// manager set them.
	Extra map[string]any
}

// none reports whether there is nothing to write.
func (d difference) none() bool { return !d.Meta && !d.Spec && len(d.Extra) == 0 }

// running reports whether the Manifest's spec is as wanted: a changed label does not make a module less ready.
func (d difference) running() bool {
	_, extra := d.Extra["spec"]
	return !d.Spec && !extra
}

// compare looks only at the fields that this operator writes: defaults of the API server, fields that users add (such as spec.probes) and
// the formatting of raw JSON make no difference.
func compare(have, want *v1beta2.Manifest) difference {
	d := difference{Extra: map[string]any{}}
	metaHave, metaWant := ownMeta(have), ownMeta(want)
	var extra map[string]any
	d.Meta, extra = diff(metaHave, metaWant)
	if len(extra) > 0 {
		d.Extra["metadata"] = extra
	}
	d.Meta = d.Meta || !owned(have, want)
	if sameSpec(&have.Spec, &want.Spec) {
		return d
	}
	specHave, readable := ownSpec(have)
	specWant, encodable := ownSpec(want)
	if !readable || !encodable {
		d.Spec = true // the API server's validation decides
		return d
	}
	if d.Spec, extra = diff(specHave, specWant); len(extra) > 0 {
		d.Extra["spec"] = extra
	}
	return d
}

func ownMeta(manifest *v1beta2.Manifest) map[string]any {
	pick := func(all map[string]string, keys []string) map[string]any {
		picked := map[string]any{}
		for _, key := range keys {
			if value, set := all[key]; set {
				picked[key] = value
			}
		}
		return picked
	}
	return map[string]any{
		"labels":      pick(manifest.Labels, ownLabels),
		"annotations": pick(manifest.Annotations, ownAnnotations),
	}
}

// owned reports whether the wanted owner is among the owners.
func owned(have, want *v1beta2.Manifest) bool {
	for _, owner := range want.OwnerReferences {
		if !slices.ContainsFunc(have.OwnerReferences, func(other metav1.OwnerReference) bool { return reflect.DeepEqual(other, owner) }) {
			return false
		}
	}
	return true
}

// sameSpec reports whether two specs are equal field by field, as they are at rest. Where they are not, their JSON is compared.
func sameSpec(have, want *v1beta2.ManifestSpec) bool {
	return have.Remote == want.Remote && have.Version == want.Version && have.CustomResourcePolicy == want.CustomResourcePolicy &&
		have.Install.Name == want.Install.Name && bytes.Equal(have.Install.Source.Raw, want.Install.Source.Raw) &&
		slices.Equal(have.LocalizedImages, want.LocalizedImages) && reflect.DeepEqual(have.Manager, want.Manager) &&
		reflect.DeepEqual(have.Resource, want.Resource) && sameInstalls(have.AdditionalInstalls, want.AdditionalInstalls) &&
		reflect.DeepEqual(have.Config, want.Config) && reflect.DeepEqual(have.CRDs, want.CRDs) &&
		slices.Equal(have.AllowCRDChanges, want.AllowCRDChanges) && slices.Equal(have.CustomStateCheck, want.CustomStateCheck) &&
		slices.Equal(have.AssociatedResources, want.AssociatedResources) && have.ServiceAccountName == want.ServiceAccountName &&
		reflect.DeepEqual(have.KymaValues, want.KymaValues)
}

func sameInstalls(have, want []v1beta2.InstallInfo) bool {
	return slices.EqualFunc(have, want, func(a, b v1beta2.InstallInfo) bool {
		return a.Name == b.Name && bytes.Equal(a.Source.Raw, b.Source.Raw)
	})
}

// ownSpec returns the part of a spec that this operator owns, as JSON; false when raw JSON in it is invalid.
func ownSpec(manifest *v1beta2.Manifest) (map[string]any, bool) {
	spec := &manifest.Spec
	raw, err := json.Marshal(v1beta2.ManifestSpec{
		Remote:               spec.Remote,
		CustomResourcePolicy: cmp.Or(spec.CustomResourcePolicy, v1beta2.CustomResourcePolicyCreateAndDelete),
		Version:              spec.Version,
		Install:              spec.Install,
		Resource:             spec.Resource,
		LocalizedImages:      spec.LocalizedImages,
		Manager:              spec.Manager,
		AdditionalInstalls:   spec.AdditionalInstalls,
		Config:               spec.Config,
		CRDs:                 spec.CRDs,
		AllowCRDChanges:      spec.AllowCRDChanges,
		CustomStateCheck:     spec.CustomStateCheck,
		AssociatedResources:  spec.AssociatedResources,
		ServiceAccountName:   spec.ServiceAccountName,
		KymaValues:           spec.KymaValues,
	})
	own := map[string]any{}
	if err == nil {
		err = utiljson.Unmarshal(raw, &own)
	}
	return own, err == nil
}

// diff reports whether a field of want is missing or different in have, and returns the fields of have that want lacks: nil for each such
// field, as a JSON merge patch removes it. A null equals an absent field. Lists are compared whole, as server-side apply writes them; for
// one of mergedLists that others added to, extra holds the entries that must remain.
func diff(have, want map[string]any) (changed bool, extra map[string]any) {
	extra = map[string]any{}
	for key, value := range want {
		if value == nil {
			continue
		}
		inner, isMap := value.(map[string]any)
		other, otherIsMap := have[key].(map[string]any)
		if slices.Contains(mergedLists, key) && holdsMore(have[key], value) {
			extra[key] = value
			continue
		}
		if !isMap || !otherIsMap {
			changed = changed || !reflect.DeepEqual(have[key], value)
			continue
		}
		innerChanged, innerExtra := diff(other, inner)
		changed = changed || innerChanged
		if len(innerExtra) > 0 {
			extra[key] = innerExtra
		}
	}
	for key, value := range have {
		if want[key] == nil && value != nil {
			extra[key] = nil
		}
	}
	return changed, extra
}

// holdsMore reports whether a list has everything of want and something beyond it.
func holdsMore(have, want any) bool {
	all, _ := have.([]any)
	wanted, _ := want.([]any)
	for _, item := range wanted {
		if !slices.ContainsFunc(all, func(other any) bool { return reflect.DeepEqual(other, item) }) {
			return false
		}
	}
	return len(all) > len(wanted)
}

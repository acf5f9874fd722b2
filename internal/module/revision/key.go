package revision

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// templateDigits is the length of a template hash: 64 bits tell the templates of one module apart.
const templateDigits = 16

// contentDigest matches a reference to content that cannot change.
var contentDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Key identifies what a Manifest asks for.
type Key struct{ Version, Digest, Template string }

// Of returns the key of a Manifest's spec. The digest covers all that is fetched and installed, and no place that it is fetched from where
// its content has a digest; the template hash covers what a ModuleTemplate adds. Neither covers what the Kyma's user sets.
func Of(spec *v1beta2.ManifestSpec) Key {
	return Key{Version: spec.Version, Digest: Digest(spec), Template: template(spec)}
}

// KeyOf returns the key of a revision.
func KeyOf(r v1beta2.Revision) Key {
	return Key{Version: r.Version, Digest: r.Digest, Template: r.Template}
}

// Planned returns the key that a Manifest will have once the fields of want that a Kyma sets are applied to it: values, target namespace
// and probes, which only users set, stay as have has them. A Manifest that does not exist yet has none; have may be nil.
func Planned(have, want *v1beta2.ManifestSpec) Key {
	if have == nil {
		return Of(want)
	}
	next := *want
	next.Values, next.TargetNamespace, next.Probes = have.Values, have.TargetNamespace, have.Probes
	return Of(&next)
}

// Offered is Planned for callers that do not decide about the Kyma's entry of the module: the values that it sets stay, too.
func Offered(have, want *v1beta2.ManifestSpec) Key {
	if have == nil {
		return Of(want)
	}
	next := *want
	next.KymaValues = have.KymaValues
	return Planned(have, &next)
}

// Digest returns "sha256:" and 64 hex digits over what a spec installs. A spec with nothing but the fields of a component version (install,
// additionalInstalls, crds, config, localizedImages) is enough. Where a digest names the content, its place and login do not count: content
// that moved to another registry makes no new installation.
func Digest(spec *v1beta2.ManifestSpec) string {
	content := map[string]any{"install": install(spec.Install)}
	var additional []any
	for _, info := range spec.AdditionalInstalls {
		additional = append(additional, install(info))
	}
	set(content, "additionalInstalls", additional, len(additional) > 0)
	set(content, "crds", image(spec.CRDs), spec.CRDs != nil)
	set(content, "config", image(spec.Config), spec.Config != nil)
	set(content, "localizedImages", spec.LocalizedImages, len(spec.LocalizedImages) > 0)
	set(content, "targetNamespace", spec.TargetNamespace, spec.TargetNamespace != "")
	set(content, "kymaValues", spec.KymaValues, spec.KymaValues != nil)
	values := values(spec.Values)
	set(content, "values", values, values != nil)
	return "sha256:" + hash(content)
}

// template returns the hash of what a ModuleTemplate adds to the content, and of the probes that users add beside it.
func template(spec *v1beta2.ManifestSpec) string {
	added := map[string]any{}
	if spec.Resource != nil {
		added["resource"] = withoutNulls(plain(spec.Resource.Object))
	}
	set(added, "manager", spec.Manager, spec.Manager != nil)
	set(added, "associatedResources", spec.AssociatedResources, len(spec.AssociatedResources) > 0)
	set(added, "customStateCheck", spec.CustomStateCheck, len(spec.CustomStateCheck) > 0)
	set(added, "probes", spec.Probes, len(spec.Probes) > 0)
	return hash(added)[:templateDigits]
}

// set adds a field if it is given: an empty field is the same as none.
func set(fields map[string]any, name string, value any, given bool) {
	if given {
		fields[name] = value
	}
}

func install(info v1beta2.InstallInfo) map[string]any {
	return map[string]any{"name": info.Name, "source": source(info.Source.Raw)}
}

// image returns what counts of a layer; nil for none.
func image(spec *v1beta2.ImageSpec) any {
	if spec == nil {
		return nil
	}
	fields, _ := plain(spec).(map[string]any)
	return placeless(fields)
}

// source returns what counts of a source. JSON that cannot be read counts as it stands: the Manifest reports it, and it is a revision.
func source(raw []byte) any {
	var fields map[string]any
	if utiljson.Unmarshal(raw, &fields) != nil {
		return string(raw)
	}
	withoutNulls(fields)
	return placeless(fields)
}

// placeless removes place and login from a layer that is named by its digest, and names its type.
func placeless(fields map[string]any) map[string]any {
	if ref, _ := fields["ref"].(string); !contentDigest.MatchString(ref) {
		return fields
	}
	for _, name := range []string{"repo", "name", "credSecretSelector"} {
		delete(fields, name)
	}
	kind, _ := fields["type"].(string)
	fields["type"] = cmp.Or(kind, string(v1beta2.RefTypeOCI))
	return fields
}

// values returns values as they count; nil for none. A null in them counts, since it removes a chart's default.
func values(raw *runtime.RawExtension) any {
	if raw == nil || len(raw.Raw) == 0 {
		return nil
	}
	var known any
	if utiljson.Unmarshal(raw.Raw, &known) != nil {
		return string(raw.Raw)
	}
	if fields, ok := known.(map[string]any); ok && len(fields) == 0 {
		return nil
	}
	return known
}

// plain returns a value as the API server returns it: as maps, lists and numbers of JSON.
func plain(value any) any {
	var known any
	if err := utiljson.Unmarshal(encode(value), &known); err != nil {
		panic(err) // encode wrote it
	}
	return known
}

// withoutNulls removes the nulls of all maps in a value: elsewhere in the API a null equals an absent field.
func withoutNulls(value any) any {
	switch known := value.(type) {
	case map[string]any:
		for name, inner := range known {
			if inner == nil {
				delete(known, name)
				continue
			}
			withoutNulls(inner)
		}
	case []any:
		for _, inner := range known {
			withoutNulls(inner)
		}
	}
	return value
}

// hash returns 64 hex digits over a value in canonical form: JSON with sorted keys.
func hash(value any) string {
	sum := sha256.Sum256(encode(value))
	return hex.EncodeToString(sum[:])
}

func encode(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // what came from JSON, and structs of strings, can be encoded
	}
	return raw
}

package module

import (
	"bytes"
	"encoding/json"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// installedState returns the version that counts as installed when a target is compared with it.
//
// The status decides, since a Manifest can be edited by hand, which is reverted. But this operator may have stopped after it wrote the
// Manifest and before it wrote the status. So a Manifest whose version is higher than that of status and target counts when its source is
// the one of the version that it names: then that version was rolled out, for whatever reason. While that component cannot be read, its key
// is returned as doubt.
func (r *resolver) installedState(v *Verdict, found target) (have installed, doubt *ComponentKey) {
	if v.Mandatory {
		return r.mandatoryStanding(v.Manifest, found), nil
	}
	manifest := v.Manifest
	have = installedOf(r.status[v.Module], manifest)
	if manifest == nil || moduleversion.IsDowngrade(have.Version, found.Version) ||
		!moduleversion.IsDowngrade(manifest.Spec.Version, found.Version) {
		return have, nil
	}
	key := ComponentKey{Name: found.Component, Version: manifest.Spec.Version}
	if _, refused := templateOf(r.Snapshot, v.Module, key.Version); refused != nil {
		return have, nil
	}
	component := r.component(key)
	switch {
	case passing(component) && component.Reason != v1beta2.ReasonComponentNotFound:
		return have, &key
	case component.Source == nil || !sameSource(manifest, component.Source):
		return have, nil
	}
	return installedOf(nil, manifest), nil
}

// sameSource reports whether a Manifest installs from a source.
func sameSource(manifest *v1beta2.Manifest, source *v1beta2.ImageSpec) bool {
	have, ok := sourceOf(manifest)
	return ok && bytes.Equal(encodeSource(have), encodeSource(source))
}

// sourceOf returns the source that a Manifest installs from.
func sourceOf(manifest *v1beta2.Manifest) (*v1beta2.ImageSpec, bool) {
	source := &v1beta2.ImageSpec{}
	if err := json.Unmarshal(manifest.Spec.Install.Source.Raw, source); err != nil || source.Ref == "" {
		return nil, false
	}
	return source, true
}

// encodeSource encodes a source as the API server does, with sorted keys: equal sources are then equal byte by byte.
func encodeSource(source *v1beta2.ImageSpec) []byte {
	raw, err := EncodeSource(source)
	if err != nil {
		// A struct of strings and a label selector: every value of it can be encoded.
		panic(err)
	}
	return raw
}

// EncodeSource encodes a source as the API server stores it, so that an unchanged source is equal byte by byte.
func EncodeSource(source *v1beta2.ImageSpec) ([]byte, error) {
	fields := map[string]any{}
	raw, err := json.Marshal(source)
	if err == nil {
		err = json.Unmarshal(raw, &fields)
	}
	if err == nil {
		raw, err = json.Marshal(fields)
	}
	return raw, err
}

// component returns what is known of a component version, and records that it is needed.
func (r *resolver) component(key ComponentKey) Component {
	r.asked[key] = struct{}{}
	component, known := r.Components[key]
	if !known {
		return Component{Pending: true}
	}
	if component.Reason == "" && !component.Pending && component.Source == nil {
		component.Reason = v1beta2.ReasonComponentInvalid
		component.Message = "it has nothing to install: no resource raw-manifest, no chart and no resource with a renderer"
	}
	return component
}

// content returns the component to install from. While it cannot be read, the Manifest that was made from the same component version stands
// in for it, since a version never changes: so a restart of the operator or of the registry changes no status. The same applies when the
// policy no longer trusts the signature of that version, such as one of a revoked key: the running version continues, and its condition
// Signed reports the loss of trust.
func (r *resolver) content(key ComponentKey, manifest *v1beta2.Manifest) Component {
	component := r.component(key)
	same := manifest != nil && manifest.Spec.Version == key.Version && componentOf(manifest) == key.Name
	if !same || !passing(component) && !distrusted(component) {
		return component
	}
	source, ok := sourceOf(manifest)
	if !ok {
		return component
	}
	spec := &manifest.Spec
	extras := Extras{Additional: spec.AdditionalInstalls, Config: spec.Config, CRDs: spec.CRDs}
	return Component{Source: source, LocalizedImages: spec.LocalizedImages, Extras: extras, Requires: noted(manifest)}
}

// distrusted reports whether a component may not be installed only because of its signature.
func distrusted(component Component) bool {
	switch component.Reason {
	case v1beta2.ReasonSignatureMissing, v1beta2.ReasonSignatureInvalid, v1beta2.ReasonSignatureUntrusted, v1beta2.ReasonSignatureRevoked:
		return true
	}
	return false
}

// passing reports whether a component is unknown only because of the registry and not because of its content.
func passing(component Component) bool {
	switch component.Reason {
	case v1beta2.ReasonRegistryUnreachable, v1beta2.ReasonRegistryUnauthorized, v1beta2.ReasonComponentNotFound:
		return true
	}
	return component.Pending
}

package descriptor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"sigs.k8s.io/yaml"
)

// The supported normalisations, which turn a descriptor into the bytes that are signed. Others (jsonNormalisation/v3 and later) are made by
// versions of OCM that this repository does not sign with, and are refused.
const (
	// NormalisationV1 depends on the descriptor's schema.
	NormalisationV1 = "jsonNormalisation/v1"
	// NormalisationV2 is the same for every schema.
	NormalisationV2 = "jsonNormalisation/v2"
)

// The names of the digests of resources.
const (
	// DigestBlob is the digest of a blob's bytes.
	DigestBlob = "genericBlobDigest/v1"
	// DigestArtifact is the digest of the manifest of an OCI artifact.
	DigestArtifact = "ociArtifactDigest/v1"
)

// signedLabel is a label with all fields that a signature may cover.
type signedLabel struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Version string          `json:"version,omitempty"`
	Signing bool            `json:"signing,omitempty"`
	Merge   *struct {
		Algorithm string          `json:"algorithm"`
		Config    json.RawMessage `json:"config,omitempty"`
	} `json:"merge,omitempty"`
}

type signedElement struct {
	Name          string            `json:"name"`
	Version       string            `json:"version"`
	ExtraIdentity map[string]string `json:"extraIdentity,omitempty"`
	Labels        []signedLabel     `json:"labels,omitempty"`
}

type signedSource struct {
	signedElement
	Type string `json:"type"`
}

type signedResource struct {
	signedElement
	Type     string `json:"type"`
	Relation string `json:"relation,omitempty"`
	// Access is not signed, except for its absence.
	Access *struct {
		Type string `json:"type"`
	} `json:"access,omitempty"`
	Digest *DigestSpec `json:"digest,omitempty"`
}

type signedReference struct {
	signedElement
	ComponentName string      `json:"componentName"`
	Digest        *DigestSpec `json:"digest,omitempty"`
}

type signedProvider struct {
	Name   string        `json:"name"`
	Labels []signedLabel `json:"labels,omitempty"`
}

// UnmarshalJSON accepts all forms of provider.
func (p *signedProvider) UnmarshalJSON(data []byte) error {
	type object signedProvider
	var text string
	if json.Unmarshal(data, &text) != nil {
		return json.Unmarshal(data, (*object)(p))
	}
	if json.Unmarshal([]byte(text), (*object)(p)) != nil {
		*p = signedProvider{Name: text}
	}
	return nil
}

// signedDocument is the part of a descriptor that a signature covers, for all schemas.
type signedDocument struct {
	schema   string
	Name     string         `json:"name"`
	Version  string         `json:"version"`
	Labels   []signedLabel  `json:"labels,omitempty"`
	Provider signedProvider `json:"provider"`
	Created  *time.Time     `json:"creationTime,omitempty"`

	Sources    []signedSource    `json:"sources"`
	References []signedReference `json:"componentReferences"`
	Resources  []signedResource  `json:"resources"`
}

// Normalise returns the bytes of a descriptor, in YAML or JSON, that are signed. algorithm is NormalisationV1 or NormalisationV2.
func Normalise(data []byte, algorithm string) ([]byte, error) {
	component, err := Decode(data)
	if err != nil {
		return nil, err
	}
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, invalid("component descriptor is no YAML: %w", err)
	}
	document, err := signedPart(component.Schema, text)
	if err != nil {
		return nil, invalid("component descriptor cannot be normalised: %w", err)
	}
	normalised, err := document.normalise(algorithm)
	if err != nil {
		return nil, invalid("component descriptor cannot be normalised: %w", err)
	}
	return normalised, nil
}

// signedPart decodes the signed part of a descriptor that Decode has accepted.
func signedPart(schema string, document []byte) (*signedDocument, error) {
	var all any
	if err := json.Unmarshal(document, &all); err != nil {
		return nil, err
	}
	if err := checkKeys(all); err != nil {
		return nil, err
	}
	found := &signedDocument{schema: schema}
	var err error
	if schema == SchemaV3Alpha1 {
		other := struct {
			Metadata *signedDocument `json:"metadata"`
			Spec     struct {
				Sources    []signedSource    `json:"sources"`
				References []signedReference `json:"references"`
				Resources  []signedResource  `json:"resources"`
			} `json:"spec"`
		}{Metadata: found}
		err = json.Unmarshal(document, &other)
		found.Sources, found.References, found.Resources = other.Spec.Sources, other.Spec.References, other.Spec.Resources
	} else {
		err = json.Unmarshal(document, &struct {
			Component *signedDocument `json:"component"`
		}{found})
	}
	found.complete()
	return found, err
}

// complete sets the defaults that OCM sets before it signs: a local resource has its component's version, and if several resources have the
// same extra identity, the version becomes part of it.
func (d *signedDocument) complete() {
	d.Sources = append([]signedSource{}, d.Sources...)
	d.References = append([]signedReference{}, d.References...)
	d.Resources = append([]signedResource{}, d.Resources...)
	if d.Created != nil {
		rounded := d.Created.UTC().Round(time.Second)
		d.Created = &rounded
	}
	for i := range d.Resources {
		resource := &d.Resources[i]
		if resource.Relation == relationLocal && resource.Version == "" {
			resource.Version = d.Version
		}
		alike := 0
		for j := range d.Resources {
			if other := &d.Resources[j]; other.Name == resource.Name && maps.Equal(other.ExtraIdentity, resource.ExtraIdentity) {
				alike++
			}
		}
		if _, has := resource.ExtraIdentity["version"]; alike > 1 && !has && resource.ExtraIdentity != nil {
			resource.ExtraIdentity["version"] = resource.Version
		}
	}
}

// normalise returns the bytes that are signed.
func (d *signedDocument) normalise(algorithm string) ([]byte, error) {
	switch {
	case algorithm == NormalisationV2:
		return canonical(map[string]any{"component": d.fields(d.full())}), nil
	case algorithm != NormalisationV1:
		return nil, fmt.Errorf("it is made by %q, and %s and %s can be checked", algorithm, NormalisationV1, NormalisationV2)
	case d.schema == SchemaV3Alpha1:
		return entries(d.likeV3()), nil
	case len(d.Provider.Labels) == 0 && json.Unmarshal([]byte(d.Provider.Name), new(map[string]any)) == nil:
		return nil, fmt.Errorf("its provider is named %s, which could be mistaken for something else", strconv.Quote(d.Provider.Name))
	default:
		return entries(d.likeV2()), nil
	}
}

// full returns the document as a tree, before any rule of signing is applied.
func (d *signedDocument) full() map[string]any {
	text, err := json.Marshal(d)
	tree := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	if err != nil {
		panic(err) // it came out of JSON a moment ago
	}
	unnamed(tree)
	return tree
}

// unnamed removes fields without a name, which OCM does not sign.
func unnamed(value any) {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "")
		for _, field := range value {
			unnamed(field)
		}
	case []any:
		for _, item := range value {
			unnamed(item)
		}
	}
}

// fields applies the rules that all forms have in common: no access, and only labels that are marked for signing.
func (d *signedDocument) fields(tree map[string]any) map[string]any {
	signedLabels(tree)
	provider, _ := tree["provider"].(map[string]any)
	signedLabels(provider)
	for _, source := range objects(tree["sources"]) {
		signedLabels(source)
	}
	for _, resource := range objects(tree["resources"]) {
		access, _ := resource["access"].(map[string]any)
		if kind, _ := access["type"].(string); HoldsNothing(kind) {
			delete(resource, "digest")
		}
		delete(resource, "access")
		signedLabels(resource)
	}
	return tree
}

// likeV2 returns the NormalisationV1 form of schema v2.
func (d *signedDocument) likeV2() map[string]any {
	tree := d.fields(d.full())
	delete(tree, "sources")
	for _, element := range slices.Concat(objects(tree["resources"]), objects(tree["componentReferences"])) {
		signedLabels(element)
		if element["extraIdentity"] == nil {
			element["extraIdentity"] = nil // which says so
		}
	}
	if len(d.Provider.Labels) == 0 {
		tree["provider"] = d.Provider.Name
	}
	return map[string]any{"meta": map[string]any{"schemaVersion": SchemaV2}, "component": tree}
}

// likeV3 returns the NormalisationV1 form of schema v3alpha1, where the provider's labels count regardless of their mark.
func (d *signedDocument) likeV3() map[string]any {
	provider := d.full()["provider"]
	tree := d.fields(d.full())
	tree["provider"] = provider
	spec := map[string]any{}
	for field, name := range map[string]string{"sources": "sources", "componentReferences": "references", "resources": "resources"} {
		if elements := objects(tree[field]); len(elements) > 0 {
			spec[name] = tree[field]
		}
		delete(tree, field)
	}
	for _, reference := range objects(spec["references"]) {
		signedLabels(reference)
	}
	return map[string]any{"apiVersion": SchemaV3Alpha1, "kind": kindV3, "metadata": tree, "spec": spec}
}

// signedLabels reduces the labels of an element to those that are marked for signing, and their signed fields.
func signedLabels(element map[string]any) {
	if element == nil || element["labels"] == nil {
		return
	}
	var kept []any
	for _, label := range objects(element["labels"]) {
		if label["signing"] == true || label["signing"] == "true" {
			delete(label, "merge")
			kept = append(kept, label)
		}
	}
	if element["labels"] = kept; len(kept) == 0 {
		delete(element, "labels")
	}
}

// objects returns the objects of a list; other elements are left out.
func objects(value any) (found []map[string]any) {
	items, _ := value.([]any)
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			found = append(found, object)
		}
	}
	return found
}

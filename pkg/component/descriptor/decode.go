package descriptor

import (
	"encoding/json"
	"strings"

	"sigs.k8s.io/yaml"
)

// The descriptor schemas that Decode supports.
const (
	// SchemaV2 is OCM's older schema and still its default.
	SchemaV2 = "v2"
	// SchemaV3Alpha1 is the Kubernetes-like schema.
	SchemaV3Alpha1 = "ocm.software/v3alpha1"
)

// kindV3 is the only kind of SchemaV3Alpha1.
const kindV3 = "ComponentVersion"

// header holds the fields that descriptors of all schemas have in common.
type header struct {
	Meta struct {
		SchemaVersion string `json:"schemaVersion"`
	} `json:"meta"`
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Signatures []Signature `json:"signatures"`
}

// identity holds the fields about the component itself, which both schemas have.
type identity struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Provider provider `json:"provider"`
	Labels   []Label  `json:"labels"`
}

// documentV2 holds the fields of a descriptor of schema v2 that are read.
type documentV2 struct {
	Component struct {
		identity
		Resources []resource `json:"resources"`
	} `json:"component"`
}

// documentV3 holds the fields of a descriptor of schema ocm.software/v3alpha1 that are read.
type documentV3 struct {
	Metadata identity `json:"metadata"`
	Spec     struct {
		Resources []resource `json:"resources"`
	} `json:"spec"`
}

// resource is an entry of the resource list, which is the same in both schemas.
type resource struct {
	Name     string          `json:"name"`
	Version  string          `json:"version"`
	Type     string          `json:"type"`
	Relation string          `json:"relation"`
	Labels   []Label         `json:"labels"`
	Access   json.RawMessage `json:"access"`
	Digest   *DigestSpec     `json:"digest"`
}

// provider is the provider's name. Schema v3alpha1 has an object there, and v2 a string, which holds
// the JSON of such an object when the provider has labels.
type provider string

// UnmarshalJSON accepts all three forms.
func (p *provider) UnmarshalJSON(data []byte) error {
	var object struct {
		Name string `json:"name"`
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		*p = provider(text)
		if json.Unmarshal([]byte(text), &object) == nil {
			*p = provider(object.Name)
		}
		return nil
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	*p = provider(object.Name)
	return nil
}

// Decode reads a component descriptor of either schema, in YAML or JSON, and validates everything that this package returns. It refuses a
// duplicate key, since two readers could read different content from one signed text. The error is an *Error with ReasonInvalid.
func Decode(data []byte) (*Component, error) {
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, invalid("component descriptor is no YAML: %w", err)
	}
	var head header
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, invalid("component descriptor does not name its schema: %w", err)
	}
	component, err := decode(text, head)
	if err != nil {
		return nil, err
	}
	if err := component.check(); err != nil {
		return nil, err
	}
	if len(head.Signatures) > 0 {
		component.Signatures, component.document = head.Signatures, text
	}
	return component, nil
}

// decode reads the descriptor by its schema.
func decode(text []byte, head header) (*Component, error) {
	schema := head.Meta.SchemaVersion + head.APIVersion
	switch {
	case head.Meta.SchemaVersion != "" && head.APIVersion != "":
		return nil, invalid("component descriptor has both meta.schemaVersion and apiVersion: one of them must go")
	case schema == SchemaV2:
		var document documentV2
		if err := json.Unmarshal(text, &document); err != nil {
			return nil, invalid("component descriptor does not follow schema %s: %w", schema, err)
		}
		return assemble(schema, document.Component.identity, document.Component.Resources)
	case schema == SchemaV3Alpha1 && head.Kind == kindV3:
		var document documentV3
		if err := json.Unmarshal(text, &document); err != nil {
			return nil, invalid("component descriptor does not follow schema %s: %w", schema, err)
		}
		return assemble(schema, document.Metadata, document.Spec.Resources)
	case schema == SchemaV3Alpha1:
		return nil, invalid("component descriptor of schema %s has kind %q instead of %s", schema, head.Kind, kindV3)
	default:
		return nil, invalid("component descriptor has schema %q: %s and %s can be read", schema, SchemaV2, SchemaV3Alpha1)
	}
}

// assemble makes a Component from the fields of either schema.
func assemble(schema string, about identity, resources []resource) (*Component, error) {
	component := &Component{
		Name: about.Name, Version: about.Version, Provider: string(about.Provider), Schema: schema, Labels: about.Labels,
	}
	for _, entry := range resources {
		access, err := decodeAccess(entry.Access)
		if err != nil {
			return nil, invalid("resource %q of component %s: %w", entry.Name, about.Name, err)
		}
		component.Resources = append(component.Resources, Resource{
			Name: entry.Name, Version: entry.Version, Type: entry.Type, Relation: entry.Relation,
			Labels: entry.Labels, Access: access, Digest: entry.Digest,
		})
	}
	return component, nil
}

// decodeAccess reads only the fields that belong to the access's type: others may have any shape.
func decodeAccess(data json.RawMessage) (Access, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if len(data) == 0 || json.Unmarshal(data, &kind) != nil {
		return Access{}, invalid("it has no access with a type")
	}
	access := Access{Type: kind.Type}
	var err error
	switch strings.TrimSuffix(kind.Type, "/v1") {
	case accessLocalBlob:
		var fields struct {
			LocalReference string `json:"localReference"`
			MediaType      string `json:"mediaType"`
			ReferenceName  string `json:"referenceName"`
		}
		err = json.Unmarshal(data, &fields)
		access.LocalReference, access.MediaType, access.ReferenceName = fields.LocalReference, fields.MediaType, fields.ReferenceName
	case accessLocalOCIBlob:
		var fields struct {
			Digest string `json:"digest"`
		}
		err = json.Unmarshal(data, &fields)
		access.LocalReference = fields.Digest
	case accessOCIArtifact, accessOCIRegistry:
		var fields struct {
			ImageReference string `json:"imageReference"`
		}
		err = json.Unmarshal(data, &fields)
		access.ImageReference = fields.ImageReference
	}
	if err != nil {
		return Access{}, invalid("its access of type %s cannot be read: %w", kind.Type, err)
	}
	return access, nil
}

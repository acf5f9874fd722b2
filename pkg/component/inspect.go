package component

import (
	"encoding/json"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// Inspection describes an opened component version.
type Inspection struct {
	// Ref is its reference, Digest that of its manifest, and Schema that of its descriptor.
	Ref    string `json:"ref"`
	Digest string `json:"digest"`
	Schema string `json:"schema"`

	Name     string `json:"name"`
	Version  string `json:"version"`
	Provider string `json:"provider"`

	Labels     []InspectedLabel     `json:"labels,omitempty"`
	Sources    []InspectedSource    `json:"sources,omitempty"`
	Resources  []InspectedResource  `json:"resources"`
	References []InspectedReference `json:"references,omitempty"`
	Signatures []InspectedSignature `json:"signatures,omitempty"`
}

// InspectedLabel is a label.
type InspectedLabel struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
	// Signed reports whether signatures cover the label.
	Signed bool `json:"signed"`
}

// InspectedSource is what the component was built from.
type InspectedSource struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Type    string `json:"type"`
	// Access is the access type. Repository, Commit and GitRef are set for access by git.
	Access     string           `json:"access,omitempty"`
	Repository string           `json:"repository,omitempty"`
	Commit     string           `json:"commit,omitempty"`
	GitRef     string           `json:"gitRef,omitempty"`
	Labels     []InspectedLabel `json:"labels,omitempty"`
}

// InspectedResource is a resource that the component version holds or points to.
type InspectedResource struct {
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"`
	Type     string `json:"type"`
	Relation string `json:"relation"`
	// Kind is Blob, Image or Other, and Access the access type.
	Kind   string `json:"kind"`
	Access string `json:"access"`
	// MediaType and Size, in bytes, are those of a blob; Size is -1 if unknown.
	MediaType string `json:"mediaType,omitempty"`
	Size      int64  `json:"size"`
	// Image is the reference of an image.
	Image string `json:"image,omitempty"`
	// Digest is the digest of the content by the descriptor. Covered reports whether a signature covers it and the access, which no signature
	// covers, does not contradict it.
	Digest  string           `json:"digest,omitempty"`
	Covered bool             `json:"covered"`
	Labels  []InspectedLabel `json:"labels,omitempty"`
}

// InspectedReference is another component that this one consists of.
type InspectedReference struct {
	Name      string `json:"name"`
	Component string `json:"component"`
	Version   string `json:"version"`
	Digest    string `json:"digest,omitempty"`
}

// written is what a descriptor of either schema has that package descriptor does not read.
type written struct {
	Sources    []writtenSource    `json:"sources"`
	References []writtenReference `json:"componentReferences"`
	// Renamed holds the references in schema v3alpha1.
	Renamed []writtenReference `json:"references"`
}

type writtenSource struct {
	Name    string             `json:"name"`
	Version string             `json:"version"`
	Type    string             `json:"type"`
	Labels  []descriptor.Label `json:"labels"`
	Access  struct {
		Type           string `json:"type"`
		RepoURL        string `json:"repoUrl"`
		Repository     string `json:"repository"` // that of access type git
		Commit         string `json:"commit"`
		Ref            string `json:"ref"`
		LocalReference string `json:"localReference"`
	} `json:"access"`
}

type writtenReference struct {
	Name          string                 `json:"name"`
	ComponentName string                 `json:"componentName"`
	Version       string                 `json:"version"`
	Digest        *descriptor.DigestSpec `json:"digest"`
}

// Inspect describes an opened component version without further requests. With trust it also verifies its signatures; with nil they stay
// Unjudged. now is the time at which certificates must be valid.
func Inspect(opened *Opened, trust *descriptor.Trust, now time.Time) (*Inspection, error) {
	component := opened.Component
	also, err := readWritten(opened.Text)
	if err != nil {
		return nil, fmt.Errorf("inspect %s: %w", opened.Ref, err)
	}
	found := &Inspection{
		Ref: opened.Ref.String(), Digest: component.Digest, Schema: component.Schema,
		Name: component.Name, Version: component.Version, Provider: component.Provider,
		Labels: inspectLabels(component.Labels), Resources: inspectResources(opened),
		Signatures: inspectSignatures(opened, trust, now),
	}
	for _, source := range also.Sources {
		repository := source.Access.RepoURL
		if repository == "" {
			repository = source.Access.Repository
		}
		found.Sources = append(found.Sources, InspectedSource{
			Name: source.Name, Version: source.Version, Type: source.Type, Labels: inspectLabels(source.Labels),
			Access: source.Access.Type, Repository: repository, Commit: source.Access.Commit, GitRef: source.Access.Ref,
		})
	}
	for _, reference := range also.References {
		found.References = append(found.References, InspectedReference{
			Name: reference.Name, Component: reference.ComponentName, Version: reference.Version, Digest: digestText(reference.Digest),
		})
	}
	return found, nil
}

func readWritten(text []byte) (*written, error) {
	var both struct {
		Component written `json:"component"`
		Spec      written `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &both); err != nil {
		return nil, fmt.Errorf("read its descriptor: %w", err)
	}
	return &written{
		Sources:    append(both.Component.Sources, both.Spec.Sources...),
		References: append(both.Component.References, both.Spec.Renamed...),
	}, nil
}

// sources returns the digests of the blobs that the sources of a descriptor are stored in.
func sources(text []byte) (found []string) {
	also, err := readWritten(text)
	if err != nil {
		return nil
	}
	for _, source := range also.Sources {
		if source.Access.LocalReference != "" {
			found = append(found, source.Access.LocalReference)
		}
	}
	return found
}

func inspectResources(opened *Opened) []InspectedResource {
	sizes := map[string]int64{}
	for _, layer := range opened.manifest.Layers {
		sizes[layer.Digest.String()] = layer.Size
	}
	found := make([]InspectedResource, 0, len(opened.Component.Resources))
	for i := range opened.Component.Resources {
		r := &opened.Component.Resources[i]
		one := InspectedResource{
			Name: r.Name, Version: r.Version, Type: r.Type, Relation: r.Relation, Kind: resourceKind(r), Access: r.Access.Type,
			MediaType: r.Access.MediaType, Size: -1, Image: r.Access.ImageReference,
			Digest: digestText(r.Digest), Covered: covered(r), Labels: inspectLabels(r.Labels),
		}
		if size, ok := sizes[localDigest(r)]; ok && one.Kind == KindBlob {
			one.Size = size
		}
		found = append(found, one)
	}
	return found
}

func inspectLabels(labels []descriptor.Label) (found []InspectedLabel) {
	for _, label := range labels {
		found = append(found, InspectedLabel{Name: label.Name, Value: label.Value, Signed: label.Signing})
	}
	return found
}

// digestText returns a digest in the notation of registries.
func digestText(of *descriptor.DigestSpec) string {
	switch {
	case of == nil:
		return ""
	case of.HashAlgorithm == "SHA-512" || of.HashAlgorithm == "sha512":
		return "sha512:" + of.Value
	case of.HashAlgorithm == "SHA-256" || of.HashAlgorithm == "sha256":
		return "sha256:" + of.Value
	default:
		return of.HashAlgorithm + ":" + of.Value
	}
}

package component

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/open-component-model/ocm/pkg/common/accessobj"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	metav1 "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/meta/v1"
	_ "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/versions" // registers the schemas
	"github.com/open-component-model/ocm/pkg/contexts/ocm/repositories/genericocireg/componentmapping"
	"github.com/open-component-model/ocm/pkg/runtime"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"

	"github.com/kyma-project/lifecycle-manager/pkg/component/ctf"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// part is one blob of a component version, in memory.
type part struct {
	ocispec.Descriptor
	data []byte
}

func newPart(mediaType string, data []byte) part {
	return part{
		Descriptor: ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}, data: data,
	}
}

// packed is a component version as a registry holds it, byte for byte as the OCM library would write it: the same in every place.
type packed struct {
	*descriptor.Document
	root  ocispec.Descriptor
	parts []part // the manifest too
}

// Fetch returns the blobs, so that a packed version can be copied like any other.
func (p *packed) Fetch(_ context.Context, wanted ocispec.Descriptor) (io.ReadCloser, error) {
	for _, part := range p.parts {
		if part.Digest == wanted.Digest {
			return io.NopCloser(bytes.NewReader(part.data)), nil
		}
	}
	return nil, fmt.Errorf("blob %s: %w", wanted.Digest, errdef.ErrNotFound)
}

// stage puts the blobs into an archive to be.
func (p *packed) stage(into *ctf.Staging) {
	for _, part := range p.parts {
		into.Put(part.Digest, part.data)
	}
}

// Exists reports whether the version has a blob.
func (p *packed) Exists(_ context.Context, wanted ocispec.Descriptor) (bool, error) {
	return slices.ContainsFunc(p.parts, func(part part) bool { return part.Digest == wanted.Digest }), nil
}

// pack makes a component version from a Version that complete returned. The result depends on its arguments only.
func (v Version) pack(sign func(*compdesc.ComponentDescriptor) error) (*packed, error) {
	document, layers, err := v.document()
	if err != nil {
		return nil, err
	}
	if sign != nil {
		if err := sign(document); err != nil {
			return nil, err
		}
	}
	listed := make([]ocispec.Descriptor, 0, len(layers))
	for _, layer := range layers {
		listed = append(listed, layer.Descriptor)
	}
	made, err := assemble(document, ocispec.Manifest{Layers: listed})
	if err != nil {
		return nil, fmt.Errorf("pack component %s: %w", v.id(), err)
	}
	made.parts = append(made.parts, layers...)
	return made, nil
}

// document makes the descriptor and the layers that it refers to. Equal content shares a layer.
func (v Version) document() (made *compdesc.ComponentDescriptor, layers []part, err error) {
	made = compdesc.New(v.Name, v.Version)
	made.Metadata.ConfiguredVersion = v.Schema
	made.Provider.Name = metav1.ProviderName(v.Provider)
	if made.Provider.Labels, err = labels(v.ProviderLabels, nil); err != nil {
		return nil, nil, err
	}
	if made.Labels, err = labels(v.Labels, v.MoreLabels); err != nil {
		return nil, nil, err
	}
	for _, source := range v.Sources {
		entry, err := source.entry()
		if err != nil {
			return nil, nil, fmt.Errorf("source %s: %w", source.Name, err)
		}
		made.Sources = append(made.Sources, entry)
	}
	for _, resource := range v.Resources {
		entry, layer, err := resource.entry()
		if err != nil {
			return nil, nil, fmt.Errorf("resource %s: %w", resource.Name, err)
		}
		made.Resources = append(made.Resources, entry)
		if layer.data != nil && !slices.ContainsFunc(layers, func(known part) bool { return known.Digest == layer.Digest }) {
			layers = append(layers, layer)
		}
	}
	return compdesc.DefaultComponent(made), layers, nil
}

func (s Source) entry() (made compdesc.Source, err error) {
	made.Name, made.Type, made.Version = s.Name, s.Type, s.Version
	access := runtime.NewEmptyUnstructuredVersioned("gitHub")
	access.Object["repoUrl"], access.Object["commit"] = s.RepoURL, s.Commit
	made.Access = access
	known := maps.Clone(s.Labels)
	if s.Ref != "" {
		if known == nil {
			known = map[string]string{}
		}
		known[labelRef] = s.Ref
	}
	made.Labels, err = labels(known, s.MoreLabels)
	return made, err
}

// entry makes the descriptor's entry of a resource, with the digest of its content, and the layer if there is one.
func (r Resource) entry() (made compdesc.Resource, layer part, err error) {
	made.Name, made.Type, made.Version, made.Relation = r.Name, r.Type, r.Version, metav1.ResourceRelation(r.Relation)
	if made.Labels, err = labels(r.Labels, r.MoreLabels); err != nil {
		return made, layer, err
	}
	switch {
	case r.Image != "":
		made.Access = ociArtifact(r.Image)
		if r.ImageDigest != "" {
			made.Digest = digestSpec(descriptor.DigestArtifact, digest.Digest(r.ImageDigest))
		}
	case len(r.Access) > 0:
		access := runtime.NewEmptyUnstructuredVersioned("")
		if err := json.Unmarshal(r.Access, access); err != nil {
			return made, layer, fmt.Errorf("its access cannot be read: %w", err)
		}
		made.Access = access
	default:
		layer = newPart(r.MediaType, r.Data)
		made.Access = localBlob(layer.Digest.String(), r.MediaType)
		made.Digest = digestSpec(descriptor.DigestBlob, layer.Digest)
	}
	return made, layer, nil
}

func digestSpec(normalisation string, of digest.Digest) *metav1.DigestSpec {
	return &metav1.DigestSpec{HashAlgorithm: crypto.SHA256.String(), NormalisationAlgorithm: normalisation, Value: of.Encoded()}
}

// labels returns the signed labels, sorted by name, and then the others.
func labels(signed map[string]string, more []descriptor.Label) (made metav1.Labels, err error) {
	for _, name := range slices.Sorted(maps.Keys(signed)) {
		if err := made.Set(name, signed[name], metav1.WithSigning()); err != nil {
			return nil, fmt.Errorf("label %s: %w", name, err)
		}
	}
	for _, label := range more {
		if _, twice := signed[label.Name]; twice {
			return nil, fmt.Errorf("label %s is there twice", label.Name)
		}
		made = append(made, metav1.Label{Name: label.Name, Value: label.Value, Version: label.Version, Signing: label.Signing})
	}
	return made, nil
}

// assemble builds a component version around a descriptor. It keeps the layers of the old manifest, and the media types if it has any. The
// result's parts are the new ones: the manifest, the config and the descriptor.
func assemble(document *compdesc.ComponentDescriptor, old ocispec.Manifest) (*packed, error) {
	text, err := compdesc.Encode(document)
	if err != nil {
		return nil, fmt.Errorf("write descriptor: %w", err)
	}
	if len(text) > descriptor.DefaultMaxDescriptor {
		return nil, fmt.Errorf("its descriptor has %d bytes, readers accept %d: split the component", len(text), descriptor.DefaultMaxDescriptor)
	}
	layer := newPart(componentmapping.ComponentDescriptorTarMimeType, packDescriptor(text))
	about, err := json.Marshal(map[string]ocispec.Descriptor{"componentDescriptorLayer": layer.Descriptor})
	if err != nil {
		return nil, fmt.Errorf("write config: %w", err)
	}
	configType := old.Config.MediaType
	if configType == "" {
		configType = componentmapping.ComponentDescriptorConfigMimeType
	}
	config := newPart(configType, about)
	data, err := json.Marshal(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, Config: config.Descriptor,
		Layers: append([]ocispec.Descriptor{layer.Descriptor}, old.Layers...), Annotations: old.Annotations,
	})
	if err != nil {
		return nil, fmt.Errorf("write manifest: %w", err)
	}
	manifest := newPart(ocispec.MediaTypeImageManifest, data)
	made := &packed{root: manifest.Descriptor, parts: []part{manifest, config, layer}}
	made.Document, err = descriptor.ReadManifest(context.Background(), made, data, 0)
	return made, err
}

// packDescriptor returns the tar that OCM stores a descriptor in.
func packDescriptor(text []byte) []byte {
	var made bytes.Buffer
	archive := tar.NewWriter(&made)
	_ = archive.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: compdesc.ComponentDescriptorFileName, Size: int64(len(text)), ModTime: accessobj.ModTime,
	})
	_, _ = archive.Write(text) // a buffer takes everything, and name and size are right
	_ = archive.Close()
	return made.Bytes()
}

// others returns a manifest without the layer of the descriptor, which every OCM writer puts first.
func others(document *descriptor.Document) (ocispec.Manifest, error) {
	var manifest ocispec.Manifest
	if err := json.Unmarshal(document.Manifest, &manifest); err != nil {
		return manifest, fmt.Errorf("read manifest: %w", err)
	}
	manifest.Layers = slices.DeleteFunc(manifest.Layers, func(layer ocispec.Descriptor) bool {
		return strings.Contains(layer.MediaType, "component-descriptor")
	})
	return manifest, nil
}

package testkit

import (
	"crypto/sha256"
	"fmt"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// rawManifest is the name of the resource that is installed.
const rawManifest = "raw-manifest"

// Published is a component version in the registry.
type Published struct {
	// Digest of the component version's manifest in the registry.
	Digest string
	// Source of the raw manifest, as a Manifest refers to it.
	Source v1beta2.ImageSpec
}

// RawManifest returns a layer that is plain YAML.
func RawManifest(data []byte) component.Resource {
	return component.Resource{Name: rawManifest, MediaType: component.MediaTypeYAML, Data: data}
}

// RawManifestDir returns a layer that is a tar archive with one YAML file.
func RawManifestDir(data []byte) component.Resource {
	return RawManifestTar(component.Tar("manifest.yaml", data))
}

// RawManifestTar returns a layer that is an arbitrary tar archive, such as one that must be refused.
func RawManifestTar(archive []byte) component.Resource {
	return component.Resource{Name: rawManifest, MediaType: component.MediaTypeTar, Data: archive}
}

// Publish pushes a component version. An existing one of that version is replaced, so that specs can publish something broken and then
// something better.
func (e *Env) Publish(name, version string, layers ...component.Resource) Published {
	ginkgo.GinkgoHelper()
	ctx, cancel := background()
	defer cancel()
	registry := component.Registry{Host: e.Registry.Host, PlainHTTP: true, Mapping: e.Mapping}
	content := component.Version{Name: name, Version: version, Provider: "kyma-project.io", Resources: layers}
	digest, err := component.Push(ctx, registry, content, component.Overwrite)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return Published{Digest: digest, Source: e.source(name, layers)}
}

func (e *Env) source(name string, layers []component.Resource) v1beta2.ImageSpec {
	for _, layer := range layers {
		if layer.Name != rawManifest {
			continue
		}
		kind := v1beta2.RefTypeOCI
		if layer.MediaType == component.MediaTypeTar {
			kind = v1beta2.RefTypeOCIDir
		}
		return v1beta2.ImageSpec{
			Repo: "http://" + e.Registry.Host + "/component-descriptors",
			Name: name,
			Ref:  fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Data)),
			Type: kind,
		}
	}
	return v1beta2.ImageSpec{}
}

// Offer publishes a version of a module, creates its ModuleTemplate, and points channels of its ModuleReleaseMeta at it.
func (e *Env) Offer(module, version string, content Content, channels ...string) Published {
	ginkgo.GinkgoHelper()
	published := e.Publish(ComponentName(module), version, content.layer())
	e.Hub.Create(ModuleTemplate(module, version, func(spec *v1beta2.ModuleTemplateSpec) {
		spec.Data, spec.Manager, spec.AssociatedResources = content.DefaultCR, content.Manager, content.Associated
	}))
	e.Point(module, version, channels...)
	return published
}

// Point makes channels of a module offer a version; the ModuleReleaseMeta is created if it does not exist.
func (e *Env) Point(module, version string, channels ...string) {
	ginkgo.GinkgoHelper()
	if len(channels) == 0 {
		return
	}
	release := ModuleReleaseMeta(module)
	setChannels(release, version, channels)
	ctx, cancel := background()
	defer cancel()
	err := e.Hub.Client.Create(ctx, release)
	if apierrors.IsAlreadyExists(err) {
		Edit(e.Hub, release, func(release *v1beta2.ModuleReleaseMeta) { setChannels(release, version, channels) })
		return
	}
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
}

func setChannels(release *v1beta2.ModuleReleaseMeta, version string, channels []string) {
	for _, channel := range channels {
		known := false
		for i := range release.Spec.Channels {
			if release.Spec.Channels[i].Channel == channel {
				release.Spec.Channels[i].Version, known = version, true
			}
		}
		if !known {
			release.Spec.Channels = append(release.Spec.Channels, v1beta2.ChannelVersion{Channel: channel, Version: version})
		}
	}
}

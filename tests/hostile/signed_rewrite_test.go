package hostile

import (
	"bytes"
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	kyaml "sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// rewriteDescriptor acts as a user who can write to the registry but cannot sign: the signature stays as it is.
func rewriteDescriptor(module string, change func(doc map[string]any)) {
	GinkgoHelper()
	ctx := context.Background()
	repository, err := remote.NewRepository(env.Registry.Host + "/component-descriptors/" + testkit.ComponentName(module))
	Expect(err).NotTo(HaveOccurred())
	repository.PlainHTTP = true
	fetch := func(of ocispec.Descriptor) []byte {
		GinkgoHelper()
		data, err := content.FetchAll(ctx, repository, of)
		Expect(err).NotTo(HaveOccurred())
		return data
	}
	push := func(mediaType string, data []byte) ocispec.Descriptor {
		GinkgoHelper()
		described := content.NewDescriptorFromBytes(mediaType, data)
		Expect(repository.Push(ctx, described, bytes.NewReader(data))).To(Succeed())
		return described
	}
	root, err := repository.Resolve(ctx, "1.0.0")
	Expect(err).NotTo(HaveOccurred())
	document, err := descriptor.ReadManifest(ctx, repository, fetch(root), 0)
	Expect(err).NotTo(HaveOccurred())
	var doc map[string]any
	Expect(kyaml.Unmarshal(document.Text, &doc)).To(Succeed())
	change(doc)
	text, err := json.Marshal(doc)
	Expect(err).NotTo(HaveOccurred())

	var manifest ocispec.Manifest
	Expect(json.Unmarshal(document.Manifest, &manifest)).To(Succeed())
	layer := push("application/vnd.ocm.software.component-descriptor.v2+json", text)
	about, err := json.Marshal(map[string]ocispec.Descriptor{"componentDescriptorLayer": layer})
	Expect(err).NotTo(HaveOccurred())
	manifest.Config = push(manifest.Config.MediaType, about)
	manifest.Layers[0] = layer
	manifest.Layers = append(manifest.Layers, push(component.MediaTypeYAML, []byte(evilMap(module))))
	data, err := json.Marshal(manifest)
	Expect(err).NotTo(HaveOccurred())
	Expect(repository.PushReference(ctx, content.NewDescriptorFromBytes(root.MediaType, data), bytes.NewReader(data), "1.0.0")).To(Succeed())
}

//go:build unix

package playground

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/samples"
)

const (
	// samplesName is the folder with the Manifests to apply.
	samplesName = "samples"
	// samplesVariable, contentVariable and registryVariable are the shell variables with the path of the samples and the addresses of the
	// content server and of the modules' registry.
	samplesVariable  = "SAMPLES"
	contentVariable  = "CONTENT_URL"
	registryVariable = "REGISTRY"
)

// sample is a Manifest to apply, in samples.Manifests.
type sample struct {
	// name of the Manifest, and of its file without ".yaml".
	name string
	// about describes it to users.
	about string
}

var sampleManifests = []sample{
	{"oci-helm-chart", "a Helm chart of an OCI registry, with values and a namespace from a config layer"},
	{"helm-repository", "the newest version of a range from a Helm repository, with values of its own"},
	{"crds-config-resource", "definitions, config, two charts in order and a custom resource"},
	{"kustomize", "a kustomization with base and overlay, in a layer"},
	{"plain-bundle", "an image with a folder manifests/: a definition and objects of it"},
	{"plain-bundle-configmaps", "the same kind of content out of ConfigMaps, into the hub itself"},
	{"plain-bundle-http", "the same from a web server, by its digest"},
}

// oldSamples are the examples of the project's first README files, in the terms of v1alpha1.
var oldSamples = []sample{
	{"v1alpha1-kyma", "a Kyma as the first README shows it, for the hub itself"},
	{"v1alpha1-manifest", "a Manifest as the first README shows it, with two charts"},
}

// rolloutSample is what the rollout to try begins with.
var rolloutSample = sample{"rollout", "a third cluster, a plan in waves, and a version that never becomes available"}

// allSamples returns all sample files.
func allSamples() []sample { return append(slices.Concat(sampleManifests, oldSamples), rolloutSample) }

// publishContent starts the web server, publishes the content of the sample Manifests, and writes the Manifests.
func (p *playground) publishContent(ctx context.Context) error {
	doing := "publishing charts, a kustomization and plain bundles for Manifests to try"
	return p.progress.step("registry", doing, func() (string, error) {
		files, err := webFiles()
		if err != nil {
			return "", err
		}
		if p.web, err = startWeb(ctx, files); err != nil {
			return "", err
		}
		s := &publisher{registry: p.registry.Host, web: p.web.host}
		if err := s.fill(ctx); err != nil {
			return "", err
		}
		dir, err := p.folder.part(samplesName)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("has the content of the %d samples in %s", len(allSamples()), short(dir)), writeSamples(dir, s.names)
	})
}

// writeSamples writes the Manifests with their names filled in.
func writeSamples(dir string, names map[string]string) error {
	for _, s := range allSamples() {
		data, err := s.filled(names)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, s.name+".yaml"), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// filled returns the file with every ${NAME} replaced.
func (s sample) filled(names map[string]string) ([]byte, error) {
	file := path.Join("manifests", s.name+".yaml")
	data, err := fs.ReadFile(samples.Manifests, file)
	if err != nil {
		return nil, err
	}
	var unknown []string
	text := os.Expand(string(data), func(name string) string {
		value, ok := names[name]
		if !ok && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
		return value
	})
	if len(unknown) > 0 {
		return nil, errors.New("samples/" + file + " has placeholders without a value: " + strings.Join(unknown, ", "))
	}
	return []byte(text), nil
}

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	// pluginFile is the manifest of the kubectl plugin, in this version of krew's API.
	pluginFile    = "kyma-krew.yaml"
	pluginVersion = "krew.googlecontainertools.github.com/v1alpha2"
)

// plugin is a manifest of krew, which installs plugins of kubectl.
type plugin struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       pluginSpec        `json:"spec"`
}

type pluginSpec struct {
	Version          string           `json:"version"`
	ShortDescription string           `json:"shortDescription"`
	Description      string           `json:"description"`
	Platforms        []pluginPlatform `json:"platforms"`
}

type pluginPlatform struct {
	Selector map[string]map[string]string `json:"selector"`
	URI      string                       `json:"uri"`
	SHA256   string                       `json:"sha256"`
	Bin      string                       `json:"bin"`
	Files    []map[string]string          `json:"files"`
}

// writePlugin writes the manifest by which krew installs kyma as kubectl kyma. Without an address for downloads it names the files alone,
// which serves installations from a file.
func (r *release) writePlugin(context.Context) error {
	spec := pluginSpec{
		Version:          "v" + r.version,
		ShortDescription: "Install, enable and publish Kyma modules",
		Description:      "Packages, signs, publishes, installs, enables and watches Kyma modules, with or without a hub.",
	}
	for _, built := range r.of(clientProgram) {
		name := r.packed(built.target)
		packed := slices.IndexFunc(r.files, func(f file) bool { return f.name == name })
		bin := built.target.file(clientProgram)
		spec.Platforms = append(spec.Platforms, pluginPlatform{
			Selector: map[string]map[string]string{"matchLabels": {"os": built.target.os, "arch": built.target.arch}},
			URI:      r.address(name), SHA256: r.files[packed].sum, Bin: bin,
			Files: []map[string]string{{"from": bin, "to": "."}, {"from": licence, "to": "."}},
		})
	}
	text, err := yaml.Marshal(plugin{pluginVersion, "Plugin", map[string]string{"name": clientProgram}, spec})
	if err != nil {
		return fmt.Errorf("write the manifest of the plugin: %w", err)
	}
	return r.add(pluginFile, text)
}

// address returns where a file will be.
func (r *release) address(name string) string {
	if r.download == "" {
		return name
	}
	return strings.TrimSuffix(r.download, "/") + "/" + name
}

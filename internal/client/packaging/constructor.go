package packaging

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
)

// Layout locates the files that a constructor refers to.
type Layout struct {
	// File is the constructor itself; it names the others relative to its folder.
	File string
	// Template is the file of the ModuleTemplate; empty when there is none.
	Template string
	// Resources are the files of resources that are not part of the module itself, by the name of the resource.
	Resources map[string]string
}

// The constructor of a component version, with the fields and the order of modulectl's.
type constructor struct {
	Components []constructed `yaml:"components"`
}

type constructed struct {
	Name      string                `yaml:"name"`
	Version   string                `yaml:"version"`
	Provider  constructedProvider   `yaml:"provider"`
	Labels    []constructedLabel    `yaml:"labels,omitempty"`
	Resources []constructedResource `yaml:"resources"`
	Sources   []constructedResource `yaml:"sources,omitempty"`
}

type constructedProvider struct {
	Name   string             `yaml:"name"`
	Labels []constructedLabel `yaml:"labels,omitempty"`
}

type constructedLabel struct {
	Name    string `yaml:"name"`
	Value   any    `yaml:"value"`
	Version string `yaml:"version,omitempty"`
	Signing bool   `yaml:"signing,omitempty"`
}

// constructedResource is a resource or a source.
type constructedResource struct {
	Name     string             `yaml:"name"`
	Type     string             `yaml:"type"`
	Version  string             `yaml:"version,omitempty"`
	Relation string             `yaml:"relation,omitempty"`
	Labels   []constructedLabel `yaml:"labels,omitempty"`
	Input    *constructedInput  `yaml:"input,omitempty"`
	Access   map[string]any     `yaml:"access,omitempty"`
}

type constructedInput struct {
	Type         string   `yaml:"type"`
	Path         string   `yaml:"path"`
	MediaType    string   `yaml:"mediaType,omitempty"`
	Compress     *bool    `yaml:"compress,omitempty"`
	IncludeFiles []string `yaml:"includeFiles,omitempty"`
}

// Constructor describes a component version of the module for "ocm add componentversions", as modulectl does. The same input gives the same
// bytes, and paths are relative to the constructor's folder, so that everything can be moved together. beside are files that must be
// written with it, by their paths: the content of links and archives.
func (s *Source) Constructor(version component.Version, at Layout) (text []byte, beside map[string][]byte, err error) {
	made := constructed{
		Name: version.Name, Version: version.Version,
		Provider: constructedProvider{Name: version.Provider}, Resources: []constructedResource{},
	}
	if made.Provider.Labels, err = constructedLabels(version.ProviderLabels, nil); err != nil {
		return nil, nil, err
	}
	if made.Labels, err = constructedLabels(version.Labels, version.MoreLabels); err != nil {
		return nil, nil, err
	}
	files := layoutFiles{Layout: at, beside: map[string][]byte{}}
	for i := range version.Resources {
		resource, err := s.constructed(&version.Resources[i], version.Version, &files)
		if err != nil {
			return nil, nil, fmt.Errorf("resource %s: %w", version.Resources[i].Name, err)
		}
		made.Resources = append(made.Resources, resource)
	}
	for _, source := range version.Sources {
		entry, err := constructedSource(source, version.Version)
		if err != nil {
			return nil, nil, err
		}
		made.Sources = append(made.Sources, entry)
	}
	var buffer bytes.Buffer
	encoder := yamlnode.NewEncoder(&buffer)
	encoder.SetIndent(2)
	if err := encoder.Encode(constructor{Components: []constructed{made}}); err != nil {
		return nil, nil, err
	}
	return buffer.Bytes(), files.beside, encoder.Close()
}

// constructed returns one resource:
//
//  1. Content that is stored elsewhere is described by its access.
//  2. The manifest and the default CR are a directory with one file; a folder is a directory or a chart. They are used where they are,
//     beside the configuration.
//  3. A resource with a file of its own refers to that file; the others are written beside the constructor.
func (s *Source) constructed(r *component.Resource, version string, files *layoutFiles) (made constructedResource, err error) {
	made = constructedResource{Name: r.Name, Type: r.Type, Version: cmp.Or(r.Version, version), Relation: r.Relation}
	if made.Labels, err = constructedLabels(r.Labels, r.MoreLabels); err != nil {
		return made, err
	}
	switch {
	case r.Image != "":
		made.Type, made.Relation = cmp.Or(r.Type, "ociArtifact"), cmp.Or(r.Relation, "external")
		made.Access = map[string]any{"type": "ociArtifact", "imageReference": r.Image}
		return made, nil
	case len(r.Access) > 0:
		made.Relation = cmp.Or(r.Relation, "external")
		return made, json.Unmarshal(r.Access, &made.Access)
	case r.Name == resourceManifest && s.folder:
		made.Input, err = files.folder(s.ManifestFile, s.Format == formatChart)
	case r.Name == resourceManifest && s.Tree == nil && !moduleconfig.IsURL(s.Config.Manifest):
		made.Input, err = files.inFolder(s.ManifestFile)
	case r.Name == resourceDefaultCR && !moduleconfig.IsURL(s.Config.DefaultCR):
		made.Input, err = files.inFolder(s.DefaultCRFile)
	default:
		made.Input, err = files.file(r)
	}
	if made.Type == "" {
		made.Type = "PlainText"
		if made.Input != nil && made.Input.Type == "dir" || r.MediaType == component.MediaTypeTar {
			made.Type = "directoryTree"
		}
	}
	return made, err
}

// layoutFiles names files relative to the constructor.
type layoutFiles struct {
	Layout
	beside map[string][]byte
}

// seen returns the path of a file or folder relative to the constructor's folder, with slashes.
func (l *layoutFiles) seen(file string) (string, error) {
	from, err := filepath.Abs(filepath.Dir(l.File))
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(from, to)
	return filepath.ToSlash(relative), err
}

func (l *layoutFiles) inFolder(file string) (*constructedInput, error) {
	folder, err := l.seen(filepath.Dir(file))
	return &constructedInput{Type: "dir", Path: folder, Compress: new(bool), IncludeFiles: []string{filepath.Base(file)}}, err
}

func (l *layoutFiles) folder(dir string, chart bool) (*constructedInput, error) {
	seen, err := l.seen(dir)
	if chart {
		return &constructedInput{Type: "helm", Path: seen}, err
	}
	return &constructedInput{Type: "dir", Path: seen, Compress: new(bool)}, err
}

func (l *layoutFiles) file(r *component.Resource) (*constructedInput, error) {
	file := l.Resources[r.Name]
	if r.Name == resourceTemplate {
		file = l.Template
	}
	if file == "" {
		folder := strings.TrimSuffix(l.File, filepath.Ext(l.File)) + "-files"
		file = filepath.Join(folder, r.Name+endings[r.MediaType])
		l.beside[file] = r.Data
	}
	seen, err := l.seen(file)
	return &constructedInput{Type: "file", Path: seen, MediaType: cmp.Or(r.MediaType, component.MediaTypeYAML)}, err
}

// endings are the extensions of files that hold a single resource.
var endings = map[string]string{
	"": ".yaml", component.MediaTypeYAML: ".yaml", component.MediaTypeTar: ".tar", mediaTypeChart: ".tgz", "application/gzip": ".tgz",
	"application/json": ".json",
}

func constructedSource(s component.Source, version string) (made constructedResource, err error) {
	known := maps.Clone(s.Labels)
	if s.Ref != "" {
		mark(&known, labelRef, s.Ref)
	}
	made = constructedResource{
		Name: cmp.Or(s.Name, "module-sources"), Type: cmp.Or(s.Type, "Github"), Version: cmp.Or(s.Version, version),
		Access: map[string]any{"type": "gitHub", "repoUrl": s.RepoURL, "commit": s.Commit},
	}
	made.Labels, err = constructedLabels(known, s.MoreLabels)
	return made, err
}

// constructedLabels returns the signed labels, sorted by name, and then the others.
func constructedLabels(signed map[string]string, more []descriptor.Label) (made []constructedLabel, err error) {
	for _, name := range slices.Sorted(maps.Keys(signed)) {
		made = append(made, constructedLabel{Name: name, Value: signed[name], Signing: true})
	}
	for _, label := range more {
		var value any
		if err := json.Unmarshal(label.Value, &value); err != nil {
			return nil, fmt.Errorf("label %s: %w", label.Name, err)
		}
		made = append(made, constructedLabel{Name: label.Name, Value: value, Version: label.Version, Signing: label.Signing})
	}
	return made, nil
}

package packaging

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/formats"
)

// The formats of a manifest besides plain YAML: those that the operator renders.
const (
	formatChart     = "helm-chart"
	formatKustomize = "kustomize"
	formatBundle    = "bundle"
)

// manifest reads the manifest of a module:
//
//  1. A link is a file of plain YAML.
//  2. A folder has the format of the configuration's renderer; without one, its files determine whether it is a chart, a kustomization or
//     a bundle.
//  3. A file is plain YAML, or a packed chart if the renderer is set.
func (r *reader) manifest(ctx context.Context, into *Source) error {
	location := r.config.Manifest
	into.ManifestFile, into.Format = r.place(location), r.config.Renderer
	if !moduleconfig.IsURL(location) {
		info, err := os.Stat(into.ManifestFile)
		if err == nil && (info.IsDir() || into.Format != "") {
			into.folder = info.IsDir()
			return r.tree(ctx, into, info.IsDir())
		}
	}
	if into.Format != "" {
		return fmt.Errorf("a %s must be beside the configuration, not behind a link", into.Format)
	}
	text, err := r.file(ctx, location)
	into.Manifest = text
	return err
}

// tree reads a folder or an archive, and finds out its format.
func (r *reader) tree(ctx context.Context, into *Source, folder bool) (err error) {
	if into.Tree, err = readTree(ctx, into.ManifestFile); err != nil {
		return err
	}
	if into.Format == "" {
		into.Format = looksLike(into.Tree)
	}
	if into.Format == "" && folder {
		return fmt.Errorf("the folder %s has neither Chart.yaml nor kustomization.yaml nor a folder manifests: set renderer", into.ManifestFile)
	}
	if into.Format == formatChart { // Helm requires it in a folder
		into.Tree = chartFolder(into.Tree, r.config.ModuleName())
	}
	return nil
}

// readTree reads a folder or an archive by the operator's rules for such content.
func readTree(ctx context.Context, place string) (tree *content.Tree, err error) {
	dir, err := os.MkdirTemp("", "kyma-manifest-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	source := &content.DirectorySource{Store: &content.Store{Dir: dir}, Dir: place}
	resolved, err := source.Resolve(ctx)
	if err != nil {
		return nil, err
	}
	return source.Fetch(ctx, resolved)
}

// looksLike returns the format of a folder by its files; empty when they do not determine it.
func looksLike(tree *content.Tree) string {
	for _, known := range []struct{ file, format string }{
		{"Chart.yaml", formatChart},
		{"kustomization.yaml", formatKustomize}, {"kustomization.yml", formatKustomize}, {"Kustomization", formatKustomize},
	} {
		if _, ok := tree.File(known.file); ok {
			return known.format
		}
	}
	if _, err := tree.Sub("manifests"); err == nil {
		return formatBundle
	}
	return ""
}

// chartFolder moves a chart from the root into a folder of the module's name.
func chartFolder(tree *content.Tree, name string) *content.Tree {
	if _, ok := tree.File("Chart.yaml"); !ok {
		return tree
	}
	moved := &content.Tree{}
	for _, file := range tree.Files {
		moved.Files = append(moved.Files, content.File{Path: path.Join(name, file.Path), Data: file.Data})
	}
	return moved
}

// packed returns the layer of a manifest: plain YAML unchanged, everything else as an archive with reproducible bytes.
func (s *Source) packed() ([]byte, error) {
	if s.Tree == nil {
		return s.Manifest, nil
	}
	archive := content.Archive(s.Tree.Files)
	if s.Format != formatChart {
		return archive, nil
	}
	var text bytes.Buffer
	writer := gzip.NewWriter(&text)
	_, err := writer.Write(archive)
	if err := errors.Join(err, writer.Close()); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// Objects returns the objects that the manifest declares, with the values and the namespace of its installation. What a chart generates is
// invented: they are to be looked at.
func (s *Source) Objects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	if s.Tree == nil {
		return render.Parse(bytes.NewReader(s.Manifest), maxFetched)
	}
	renderer, err := s.renderer()
	if err != nil {
		return nil, err
	}
	how, err := s.installation()
	if err != nil {
		return nil, err
	}
	rendered, err := renderer.Render(ctx, s.Tree, render.Input{
		Name: cmp.Or(how.ReleaseName, s.Config.ModuleName()), Namespace: cmp.Or(how.Namespace, render.DefaultNamespace), Values: how.Values,
		Hooks: true, Generated: &render.Generated{},
	})
	if err != nil {
		return nil, err
	}
	return rendered.Objects(), nil
}

func (s *Source) renderer() (render.Renderer, error) {
	renderer, known := formats.Builtin()[s.Format]
	if !known {
		return nil, fmt.Errorf("there is no renderer %q", s.Format)
	}
	return renderer, nil
}

// Installable returns the manifest as a source of an installation, which renders a chart for itself: its hooks run, and what it generates
// and looks up is kept there.
func (s *Source) Installable() (installer.Source, error) {
	how, err := s.installation()
	if err != nil {
		return installer.Source{}, err
	}
	made := installer.YAML(resourceManifest, string(s.Manifest))
	if s.Tree != nil {
		made.Content, made.Values = installer.Tree(s.Tree), how.Values
		if made.Renderer, err = s.renderer(); err != nil {
			return installer.Source{}, err
		}
	}
	made.Namespace, made.ReleaseName = how.Namespace, cmp.Or(how.ReleaseName, s.Config.ModuleName())
	return made, nil
}

// Installed returns the objects that an installation writes: those that the manifest declares, where they go, and the default custom
// resource.
func (s *Source) Installed(ctx context.Context) ([]*unstructured.Unstructured, error) {
	objects, err := s.Objects(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.ManifestFile, err)
	}
	cr, err := s.defaultCR()
	if err != nil {
		return nil, err
	}
	if cr != nil {
		objects = append(objects, cr)
	}
	how, err := s.installation()
	if err != nil {
		return nil, err
	}
	scope := render.FirstKnown(render.Scopes(objects).Scope, render.BuiltinScope)
	return render.Normalise(objects, cmp.Or(how.Namespace, render.DefaultNamespace), scope)
}

// kindLine matches the kind, in YAML or JSON, of an object that runs images, defines a kind, is a namespace, or is a list that may hold
// such objects.
var kindLine = regexp.MustCompile(`kind["']?\s*:\s*["']?(?:Deployment|StatefulSet|DaemonSet|ReplicaSet|` +
	`ReplicationController|Job|CronJob|Pod|` +
	`CustomResourceDefinition|Namespace|[A-Za-z]*List)\b`)

// separator matches the line between two documents.
var separator = regexp.MustCompile(`(?m)^---(?:[ \t].*)?\r?$`)

// tellingObjects returns the objects of the manifest that name images or define kinds, and its namespaces. A manifest can have megabytes,
// so only the documents with such a kind are decoded. An anchor cannot be used across documents.
func (s *Source) tellingObjects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	if s.Tree != nil {
		return s.Objects(ctx)
	}
	var chosen bytes.Buffer
	for _, document := range separator.Split(string(s.Manifest), -1) {
		if kindLine.MatchString(document) {
			chosen.WriteString("---\n" + document + "\n")
		}
	}
	return render.Parse(&chosen, maxFetched)
}

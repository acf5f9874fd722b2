package modulecontent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// maxConfigMaps bounds the ConfigMaps of one source.
const maxConfigMaps = 32

// configMapPlace is one or more immutable ConfigMaps of the Manifest's namespace, whose keys are files.
type configMapPlace struct{ reader client.Reader }

type configMapSpec struct {
	Name string `json:"name"`
	// Path of the folder that holds the keys as files; default "manifests", as in a bundle.
	Path string `json:"path"`
}

func (configMapPlace) Keys() []string { return []string{"configMaps"} }
func (configMapPlace) Format() string { return string(v1beta2.RefTypeBundle) }

func (p configMapPlace) Open(ask SourceRequest) (content.Source, error) {
	var specs []configMapSpec
	if err := strictly(ask.Fields["configMaps"], &specs); err != nil {
		return nil, sourceInvalid("configMaps: %v; it is a list of name and path", err)
	}
	if len(specs) == 0 || len(specs) > maxConfigMaps {
		return nil, sourceInvalid("configMaps has %d entries: name 1 to %d", len(specs), maxConfigMaps)
	}
	for i := range specs {
		if specs[i].Path == "" {
			specs[i].Path = "manifests"
		}
		if specs[i].Name == "" || !fs.ValidPath(specs[i].Path) {
			return nil, sourceInvalid("configMaps[%d] needs a name, and a relative path without ..", i)
		}
	}
	return &configMaps{reader: p.reader, namespace: ask.Namespace, specs: specs, store: ask.Store}, nil
}

// configMaps is a content.Source.
type configMaps struct {
	reader    client.Reader
	namespace string
	specs     []configMapSpec
	store     *content.Store
}

// Reference names the ConfigMaps and the folders of their keys.
func (s *configMaps) Reference() string {
	names := make([]string, 0, len(s.specs))
	for _, spec := range s.specs {
		names = append(names, spec.Name+":"+spec.Path)
	}
	return "configmaps://" + s.namespace + "/" + strings.Join(names, ",")
}

// Resolve reads the ConfigMaps. Their digest is that of the resulting files.
func (s *configMaps) Resolve(ctx context.Context) (content.Resolved, error) {
	tree, err := s.read(ctx)
	if err != nil {
		return content.Resolved{}, err
	}
	digest, err := s.store.PutTree(tree)
	return content.Resolved{Digest: digest}, err
}

// Fetch reads the ConfigMaps again when the store no longer has their files.
func (s *configMaps) Fetch(ctx context.Context, resolved content.Resolved) (*content.Tree, error) {
	tree, err := s.store.Tree(resolved.Digest)
	if !errors.Is(err, fs.ErrNotExist) {
		return tree, err
	}
	now, err := s.Resolve(ctx)
	if err != nil {
		return nil, err
	}
	if now.Digest != resolved.Digest {
		return nil, &content.Error{
			Reason: content.ReasonDigestMismatch,
			Err:    fmt.Errorf("%s holds other content than was installed: name other ConfigMaps instead of changing these", s.Reference()),
		}
	}
	return s.store.Tree(resolved.Digest)
}

func (s *configMaps) read(ctx context.Context) (*content.Tree, error) {
	tree := &content.Tree{}
	for _, spec := range s.specs {
		found := &corev1.ConfigMap{}
		key := types.NamespacedName{Namespace: s.namespace, Name: spec.Name}
		err := s.reader.Get(ctx, key, found)
		switch {
		case apierrors.IsNotFound(err):
			return nil, &content.Error{Reason: content.ReasonContentNotFound, Err: fmt.Errorf("ConfigMap %s does not exist: create it", key)}
		case err != nil:
			return nil, fmt.Errorf("read ConfigMap %s: %w", key, err)
		case found.Immutable == nil || !*found.Immutable:
			return nil, sourceInvalid("ConfigMap %s can still be changed: set immutable: true", key)
		}
		tree.Files = append(tree.Files, filesOf(found, spec.Path)...)
	}
	slices.SortFunc(tree.Files, func(a, b content.File) int { return strings.Compare(a.Path, b.Path) })
	for i := range len(tree.Files) - 1 {
		if tree.Files[i].Path == tree.Files[i+1].Path {
			return nil, sourceInvalid("%s: two of the ConfigMaps have a file %s: give one another key or path", s.Reference(), tree.Files[i].Path)
		}
	}
	return tree, nil
}

func filesOf(found *corev1.ConfigMap, folder string) []content.File {
	var files []content.File
	for name, text := range found.Data {
		files = append(files, content.File{Path: path.Join(folder, name), Data: []byte(text)})
	}
	for name, data := range found.BinaryData {
		files = append(files, content.File{Path: path.Join(folder, name), Data: data})
	}
	return files
}

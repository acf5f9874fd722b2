package component

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kyma-project/lifecycle-manager/pkg/component/ctf"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// descriptorFile is the name of the descriptor in an unpacked component.
const descriptorFile = "component-descriptor.yaml"

// extensions maps media types to file extensions.
var extensions = map[string]string{
	MediaTypeYAML: ".yaml", "application/x-yaml": ".yaml", "text/yaml": ".yaml", "application/json": ".json",
	"application/gzip": ".tgz", "text/plain": ".txt", "text/markdown": ".md", "application/vnd.cncf.helm.chart.content.v1.tar+gzip": ".tgz",
}

// Unpack writes a component version into a directory: its descriptor, and each resource under its name, as a file or a directory.
// Archives are unpacked by the rules of pkg/content: no links, nothing outside the directory, bounded in size. Unpack creates the
// directory, and refuses one that is not empty. Images are not fetched: the descriptor names them.
func Unpack(ctx context.Context, ref Ref, dir string) (err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("unpack %s: %w", ref, err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("unpack %s: directory %s is not empty: choose another one", ref, dir)
	}
	opened, err := Open(ctx, ref)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if err := os.MkdirAll(dir, ctf.DirMode); err != nil {
		return fmt.Errorf("unpack %s: %w", ref, err)
	}
	root, err := os.OpenRoot(dir) // whose methods never leave it
	if err != nil {
		return fmt.Errorf("unpack %s: %w", ref, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.WriteFile(descriptorFile, opened.Text, ctf.FileMode); err != nil {
		return fmt.Errorf("unpack %s: %w", ref, err)
	}
	for i := range opened.Component.Resources {
		resource := &opened.Component.Resources[i]
		if resource.Access.LocalReference == "" {
			continue
		}
		if err := opened.unpack(ctx, resource, root); err != nil {
			return fmt.Errorf("unpack resource %s of %s: %w", resource.Name, opened.Ref, err)
		}
	}
	return nil
}

// unpack writes one resource.
func (o *Opened) unpack(ctx context.Context, resource *descriptor.Resource, root *os.Root) (err error) {
	if !resourceNamePattern.MatchString(resource.Name) {
		return fmt.Errorf("%q is no name for a file", resource.Name)
	}
	file, err := o.fetched(ctx, resource.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file)) }()
	if _, _, dir, err := o.Component.Layer(resource.Name); err != nil || !dir {
		name := resource.Name + extensions[resource.Access.MediaType]
		return errors.Join(err, copyInto(root, name, file))
	}
	tree, err := content.Unpack(file, content.Limits{})
	if err != nil {
		return err
	}
	for _, entry := range tree.Files {
		name := filepath.Join(resource.Name, filepath.FromSlash(entry.Path))
		if err := root.MkdirAll(filepath.Dir(name), ctf.DirMode); err != nil {
			return err
		}
		if err := root.WriteFile(name, entry.Data, ctf.FileMode); err != nil {
			return err
		}
	}
	return nil
}

// Tree reads the content of a resource in the form that renderers need: the files of an archive, or one file with an empty path.
func (o *Opened) Tree(ctx context.Context, layer descriptor.Layer) (tree *content.Tree, err error) {
	file, err := o.fetched(ctx, layer.Resource)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.Remove(file)) }()
	if layer.Format != descriptor.FormatFile {
		return content.Unpack(file, content.Limits{})
	}
	text, err := content.Plain(file, content.Limits{})
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(text)
	if err := errors.Join(err, text.Close()); err != nil {
		return nil, fmt.Errorf("read resource %s of %s: %w", layer.Resource, o.Ref, err)
	}
	return &content.Tree{Files: []content.File{{Data: data}}}, nil
}

// fetched returns a temporary file with the verified content of a resource.
func (o *Opened) fetched(ctx context.Context, resource string) (name string, err error) {
	blob, _, err := o.Blob(ctx, resource)
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp("", "kyma-resource-*")
	if err != nil {
		return "", errors.Join(err, blob.Close())
	}
	_, err = io.Copy(file, blob)
	if err := errors.Join(err, blob.Close(), file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

func copyInto(root *os.Root, name, file string) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ctf.FileMode)
	if err != nil {
		return errors.Join(err, from.Close())
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, from.Close(), to.Close())
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	decoding "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// compose builds config/default with components, in their order.
func compose(root string, components ...string) ([]*unstructured.Unstructured, error) {
	kustomization := map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": []string{"../default"},
	}
	paths := []string{}
	for _, component := range components {
		paths = append(paths, "../components/"+component)
	}
	kustomization["components"] = paths
	text, err := yaml.Marshal(kustomization)
	if err != nil {
		return nil, err
	}
	files, err := configFiles(root)
	if err != nil {
		return nil, err
	}
	if err := files.WriteFile("/config/composed/kustomization.yaml", text); err != nil {
		return nil, err
	}
	return build(files, "/config/composed")
}

// configFiles returns the files of config/ in memory.
func configFiles(root string) (filesys.FileSystem, error) {
	memory, disk := filesys.MakeFsInMemory(), os.DirFS(root)
	err := fs.WalkDir(disk, "config", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(disk, name)
		if err != nil {
			return err
		}
		return memory.WriteFile("/"+name, data)
	})
	return memory, err
}

// build returns the objects of a kustomization.
func build(files filesys.FileSystem, path string) ([]*unstructured.Unstructured, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, path)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", path, err)
	}
	text, err := resources.AsYaml()
	if err != nil {
		return nil, err
	}
	return decode(text)
}

// decode reads objects from YAML.
func decode(text []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := decoding.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := map[string]any{}
		switch err := decoder.Decode(&object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("read rendered objects: %w", err)
		case len(object) > 0:
			objects = append(objects, &unstructured.Unstructured{Object: object})
		}
	}
}

// encode writes objects as YAML.
func encode(objects []*unstructured.Unstructured) ([]byte, error) {
	var documents [][]byte
	for _, object := range objects {
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", nameOf(object), err)
		}
		documents = append(documents, document)
	}
	return bytes.Join(documents, []byte("---\n")), nil
}

// nameOf returns "kind namespace/name", by which the templates of the chart know an object, too.
func nameOf(object *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
}

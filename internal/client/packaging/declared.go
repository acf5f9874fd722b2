package packaging

import (
	"cmp"
	"context"
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/formats"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// Declared returns the objects of a component version, rendered with its own values: those that a cluster gets if its operator adds no
// values.
func Declared(ctx context.Context, of *component.Opened) (objects []*unstructured.Unstructured, err error) {
	contents, err := of.Component.Contents()
	if err != nil {
		return nil, err
	}
	config, err := configIn(ctx, of, contents.Config)
	if err != nil {
		return nil, err
	}
	layers := contents.Installs
	if contents.Definitions != nil {
		layers = append([]descriptor.Layer{*contents.Definitions}, layers...)
	}
	module := path.Base(of.Component.Name)
	for _, layer := range layers {
		renderer, known := formats.Builtin()[layer.Format]
		if !known {
			return nil, fmt.Errorf("resource %s of %s is of the format %q, which is not known here", layer.Resource, of.Ref, layer.Format)
		}
		input, err := inputOf(config, layer.Resource, module)
		if err != nil {
			return nil, err
		}
		tree, err := of.Tree(ctx, layer)
		if err != nil {
			return nil, err
		}
		rendered, err := renderer.Render(ctx, tree, input)
		if err != nil {
			return nil, fmt.Errorf("render resource %s of %s: %w", layer.Resource, of.Ref, err)
		}
		objects = append(objects, rendered.Objects()...)
	}
	return objects, nil
}

// configIn reads the layer with values; a component version may have none.
func configIn(ctx context.Context, of *component.Opened, layer *descriptor.Layer) (helm.Config, error) {
	if layer == nil {
		return helm.Config{}, nil
	}
	tree, err := of.Tree(ctx, *layer)
	if err != nil {
		return helm.Config{}, err
	}
	return helm.ParseConfig(tree.Files[0].Data)
}

// inputOf returns the input for rendering an installation. The config layer may refer to raw-manifest by the name of the module.
func inputOf(config helm.Config, resource, module string) (render.Input, error) {
	own, err := config.For(resource)
	release := resource
	if resource == descriptor.ResourceManifest {
		release = module
		if err == nil && own.Values == nil && own.Namespace == "" && own.ReleaseName == "" {
			own, err = config.For(module)
		}
	}
	return render.Input{
		Name: cmp.Or(own.ReleaseName, release), Namespace: cmp.Or(own.Namespace, "kyma-system"), Values: own.Values, Hooks: true,
		Generated: &render.Generated{},
	}, err
}

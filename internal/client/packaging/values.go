package packaging

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// resourceConfig sets the values and the namespace with which the manifest is installed.
const resourceConfig = descriptor.ResourceConfig

// values reads the values that the configuration has or names.
func (r *reader) values(ctx context.Context, into *Source) error {
	if into.Format != formatChart {
		return fmt.Errorf("values apply to charts only, and %s is not a chart", into.ManifestFile)
	}
	text, place := r.config.InlineValues, r.config.File
	if text == nil {
		var err error
		if text, err = r.file(ctx, r.config.Values); err != nil {
			return err
		}
		place = r.place(r.config.Values)
	}
	var err error
	if into.Values, err = helm.Values(text); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	return nil
}

// Configure installs the manifest by a resource config from outside of the module. The configuration must not set the same.
func (s *Source) Configure(text []byte) error {
	if s.Values != nil || s.Config.TargetNamespace != "" {
		return fmt.Errorf("both %s and resource %s set values or targetNamespace", s.Config.File, resourceConfig)
	}
	layer, err := helm.ParseConfig(text)
	if err != nil {
		return fmt.Errorf("resource %s: %w", resourceConfig, err)
	}
	s.layer = &layer
	how, err := s.installation()
	if err == nil && s.Format != formatChart && (len(how.Values) > 0 || how.ReleaseName != "") {
		err = fmt.Errorf("values and release names apply to charts only, and %s is not a chart", s.ManifestFile)
	}
	if err != nil {
		return fmt.Errorf("resource %s: %w", resourceConfig, err)
	}
	return nil
}

// installation returns the settings with which the manifest is installed, as the lifecycle manager will read them: the config layer may
// refer to raw-manifest by the name of the module.
func (s *Source) installation() (helm.InstallConfig, error) {
	if s.layer == nil {
		return helm.InstallConfig{Values: s.Values, Namespace: s.Config.TargetNamespace}, nil
	}
	name := resourceManifest
	if installs := s.layer.Installs(); !slices.Contains(installs, name) && slices.Contains(installs, s.Config.ModuleName()) {
		name = s.Config.ModuleName()
	}
	return s.layer.For(name)
}

// configResources returns the resource with the values and the namespace of the configuration for the lifecycle manager; none if the
// configuration has neither. The lifecycle manager creates a missing namespace, unless the module contains it.
func (s *Source) configResources(objects []*unstructured.Unstructured) ([]component.Resource, error) {
	entry := map[string]any{"name": resourceManifest}
	if len(s.Values) > 0 {
		entry["values"] = s.Values
	}
	if namespace := s.Config.TargetNamespace; namespace != "" {
		client := map[string]any{helm.ClientConfigNamespace: namespace}
		if !brings(objects, namespace) {
			client[helm.ClientConfigCreateNamespace] = true
		}
		entry["clientConfig"] = client
	}
	if len(entry) == 1 {
		return nil, nil
	}
	text, err := yaml.Marshal(map[string]any{"configs": []any{entry}})
	if err == nil {
		_, err = helm.ParseConfig(text) // as the lifecycle manager will do
	}
	return []component.Resource{{Name: resourceConfig, Data: text}}, err
}

func brings(objects []*unstructured.Unstructured, namespace string) bool {
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GetAPIVersion() == "v1" && o.GetKind() == "Namespace" && o.GetName() == namespace
	})
}

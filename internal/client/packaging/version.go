package packaging

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// The names of a module's resources in its component version.
const (
	resourceManifest  = "raw-manifest"
	resourceDefaultCR = "default-cr"
	resourceTemplate  = "moduletemplate"
)

// The types of charts in OCM and in registries.
const (
	typeHelmChart  = "helmChart"
	mediaTypeChart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// The labels of a component version besides those of the ModuleTemplate, with values that Kyma's tools look for.
const (
	labelBuiltBy      = "kyma-project.io/built-by"
	labelScan         = "security.kyma-project.io/scan"
	labelScanType     = "scan.security.kyma-project.io/type"
	labelResponsibles = "cloud.gardener.cnudie/responsibles"
	labelRef          = "git.kyma-project.io/ref"
	labelDowntime     = v1beta2.OperatorPrefix + "requiresDowntime"

	builtBy    = "kyma-cli"
	enabled    = "enabled"
	thirdParty = "third-party-image"
)

// ComponentVersion returns the component version of the module. from may be nil. Its resources are:
//
//  1. The images that its objects run and those that its configuration names, sorted by name
//  2. raw-manifest: the manifest as it is, or the packed folder
//  3. config: the values of a chart and the target namespace, if the configuration has any
//  4. default-cr, if there is one
//  5. moduletemplate: the ModuleTemplate, for users who only have the component
func (s *Source) ComponentVersion(ctx context.Context, from *GitSource) (component.Version, error) {
	objects, err := s.tellingObjects(ctx)
	if err != nil {
		return component.Version{}, fmt.Errorf("%s: %w", s.ManifestFile, err)
	}
	template, err := s.template(objects, "")
	if err != nil {
		return component.Version{}, err
	}
	text, err := Encode(template)
	if err != nil {
		return component.Version{}, err
	}
	manifest, err := s.manifestResource()
	if err != nil {
		return component.Version{}, err
	}
	provider, _, _ := strings.Cut(s.Config.Name, "/")
	version := component.Version{
		Name: s.Config.Name, Version: s.Config.Version,
		Provider: provider, ProviderLabels: map[string]string{labelBuiltBy: builtBy},
		Labels: s.labels(template), Resources: append(s.images(objects), manifest),
	}
	config, err := s.configResources(objects)
	if err != nil {
		return component.Version{}, err
	}
	version.Resources = append(version.Resources, config...)
	if s.DefaultCR != nil {
		version.Resources = append(version.Resources, component.Resource{Name: resourceDefaultCR, Data: s.DefaultCR})
	}
	version.Resources = append(version.Resources, component.Resource{Name: resourceTemplate, Data: text})
	if s.Config.Team != "" {
		responsibles, err := json.Marshal([]map[string]string{{"type": "githubTeam", "teamname": s.Config.Team}})
		if err != nil {
			return component.Version{}, err
		}
		version.MoreLabels = []descriptor.Label{{Name: labelResponsibles, Value: responsibles}}
	}
	if list := requiresOf(s.Config); len(list) > 0 {
		version.MoreLabels = append(version.MoreLabels, descriptor.Label{
			Name: v1beta2.AnnotationRequires, Value: json.RawMessage(requirements.FormatList(list)), Signing: true,
		})
	}
	if from != nil {
		version.Sources = []component.Source{{RepoURL: from.RepoURL, Commit: from.Commit, Ref: from.Ref}}
	}
	return version, nil
}

// labels repeats properties of the ModuleTemplate for the component.
func (s *Source) labels(template *v1beta2.ModuleTemplate) map[string]string {
	labels := map[string]string{
		v1beta2.LabelBeta: strconv.FormatBool(s.Config.Beta), v1beta2.LabelInternal: strconv.FormatBool(s.Config.Internal),
		labelDowntime:                     strconv.FormatBool(s.Config.RequiresDowntime),
		v1beta2.AnnotationIsClusterScoped: template.Annotations[v1beta2.AnnotationIsClusterScoped],
	}
	if s.Config.SecurityScanEnabled {
		labels[labelScan] = enabled
	}
	return labels
}

// manifestResource returns the manifest's resource, with a type and a label that determine how the operator renders it.
func (s *Source) manifestResource() (component.Resource, error) {
	data, err := s.packed()
	resource := component.Resource{Name: resourceManifest, Data: data}
	switch s.Format {
	case "":
	case formatChart:
		resource.Type, resource.MediaType = typeHelmChart, mediaTypeChart
	default:
		resource.MediaType, resource.Labels = component.MediaTypeTar, map[string]string{v1beta2.LabelRenderer: s.Format}
	}
	return resource, err
}

// images returns the resources for the images that the objects run and those that the configuration names in addition.
func (s *Source) images(objects []*unstructured.Unstructured) []component.Resource {
	var found []component.Resource
	for _, image := range modulelint.Images(objects, s.Config.Images...) {
		_, digest, _ := strings.Cut(image.Reference, "@")
		found = append(found, component.Resource{
			Name: image.Name, Version: image.Version, Image: image.Reference, ImageDigest: digest,
			Labels: map[string]string{labelScanType: thirdParty},
		})
	}
	slices.SortStableFunc(found, func(a, b component.Resource) int { return strings.Compare(a.Name+" "+a.Version, b.Name+" "+b.Version) })
	return found
}

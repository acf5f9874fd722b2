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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/samples"
)

const (
	// provider of the components, which is the prefix of their names.
	provider = "kyma-project.io"
	// rawManifest is the name of the resource that is installed.
	rawManifest = "raw-manifest"

	channelRegular, channelFast = "regular", "fast"
	older, newer                = "1.0.0", "1.1.0"
	// stuck is a version of module charted that never becomes available. No channel offers it: rollout.yaml of the samples does, on request.
	stuck = "1.2.0"

	// configResource is the name of the resource with values for charts.
	configResource = "config"

	moduleBeacon, moduleCharted, moduleGreeter = "beacon", "charted", "greeter"
	moduleLedger, moduleNotes                  = "ledger", "notes"
	moduleIstio, moduleServerless              = "istio", "serverless"
	moduleWarden, moduleCourier                = "warden", "courier"
)

// module is a sample module: its content is in package samples, the rest is here.
type module struct {
	name string
	// about describes it to users.
	about string
	// directory publishes the content as a tar archive with one file, instead of a plain layer.
	directory bool
	// chart publishes this chart with config.yaml beside it, instead of a manifest.yaml.
	chart  string
	schema string
	// requires lists what it needs.
	requires []v1beta2.Requirement
	// operator reports whether it has one: a program, a Deployment and a ServiceAccount with the name of the module.
	operator bool
}

var modules = []module{
	{
		name: moduleBeacon, about: "an operator that embeds pkg/declarative and installs a chart for each Beacon",
		schema: descriptor.SchemaV2, operator: true,
	},
	{name: moduleCharted, about: "a Helm chart, with values from a config layer", schema: descriptor.SchemaV2, chart: chartLantern},
	{
		name: moduleCourier, about: "needs module warden, and waits until it is ready", schema: descriptor.SchemaV2,
		requires: []v1beta2.Requirement{{Module: moduleWarden, Version: ">=" + older}},
	},
	{
		name: moduleGreeter, about: "an operator with CRD, RBAC, Deployment and a default custom resource with a finalizer",
		schema: descriptor.SchemaV2, operator: true,
	},
	{name: moduleIstio, about: "a stand-in of that name, for the samples of v1alpha1", schema: descriptor.SchemaV2, chart: chartLantern},
	{name: moduleLedger, about: "custom resources whose definition changes from v1 to v2", schema: descriptor.SchemaV3Alpha1},
	{name: moduleNotes, about: "plain objects; 1.1.0 drops one and adds one", schema: descriptor.SchemaV2, directory: true},
	{name: moduleServerless, about: "another stand-in, for the same samples", schema: descriptor.SchemaV2, chart: chartLantern},
	{name: moduleWarden, about: "reads ConfigMaps; 1.1.0 asks to read every Secret, too", schema: descriptor.SchemaV2},
}

// channels maps each channel to the version that it offers.
var channels = []v1beta2.ChannelVersion{{Channel: channelRegular, Version: older}, {Channel: channelFast, Version: newer}}

func (m *module) component() string { return provider + "/module/" + m.name }

func (m *module) read(version, file string) ([]byte, error) {
	return fs.ReadFile(samples.Modules, path.Join("modules", m.name, version, file))
}

// publication returns a version of the module as an OCM component.
func (m *module) publication(version string) (component.Version, error) {
	resources, err := m.resources(version)
	if err != nil {
		return component.Version{}, err
	}
	return component.Version{Name: m.component(), Version: version, Provider: provider, Schema: m.schema, Resources: resources}, nil
}

func (m *module) resources(version string) ([]component.Resource, error) {
	if m.chart != "" {
		return m.charted(version)
	}
	data, err := m.read(version, "manifest.yaml")
	if err != nil {
		return nil, err
	}
	resource := component.Resource{Name: rawManifest, MediaType: component.MediaTypeYAML, Data: data}
	if m.directory {
		resource.MediaType, resource.Data = component.MediaTypeTar, component.Tar("manifest.yaml", data)
	}
	return []component.Resource{resource}, nil
}

// charted returns a chart and its values. The type of the resource identifies it; its name does not matter.
func (m *module) charted(version string) ([]component.Resource, error) {
	config, err := m.read(version, "config.yaml")
	if err != nil {
		return nil, err
	}
	packed, err := packChart(m.chart, version)
	if err != nil {
		return nil, err
	}
	return []component.Resource{
		{Name: m.chart, Type: typeHelmChart, MediaType: mediaTypeChart, Data: packed}, {Name: configResource, Data: config},
	}, nil
}

// template returns the ModuleTemplate for a version of the module.
func (m *module) template(version string) (*v1beta2.ModuleTemplate, error) {
	defaultCR, err := m.defaultCR(version)
	if err != nil {
		return nil, err
	}
	page := "https://github.com/kyma-project/lifecycle-manager"
	template := &v1beta2.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: m.name + "-" + version},
		Spec: v1beta2.ModuleTemplateSpec{
			ModuleName: m.name, Version: version, Data: defaultCR, Requires: m.requires,
			Info: &v1beta2.ModuleInfo{Repository: page, Documentation: page + "/tree/main/samples/modules/" + m.name},
		},
	}
	if m.operator {
		template.Spec.Readiness = v1beta2.ReadinessBoth
		template.Spec.Manager = &v1beta2.Manager{
			GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
			Namespace:        operatorNamespace(m.name), Name: m.name,
		}
	}
	return template, nil
}

// operatorNamespace returns the namespace of a module's operator.
func operatorNamespace(module string) string { return module + "-system" }

// operatorPrograms returns the names of the modules that have an operator, which are also those of their programs.
func operatorPrograms() []string {
	var names []string
	for i := range modules {
		if modules[i].operator {
			names = append(names, modules[i].name)
		}
	}
	return names
}

// HasOperators reports whether a folder has the programs of the sample modules' operators.
func HasOperators(programs string) bool {
	for _, name := range operatorPrograms() {
		if _, err := os.Stat(filepath.Join(programs, name)); err != nil {
			return false
		}
	}
	return true
}

// defaultCR is nil for a module that has none.
func (m *module) defaultCR(version string) (*unstructured.Unstructured, error) {
	data, err := m.read(version, "default-cr.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	objects, err := decode(data)
	if err != nil || len(objects) != 1 {
		return nil, errors.Join(fmt.Errorf("default-cr.yaml of %s %s is not one object", m.name, version), err)
	}
	return objects[0], nil
}

func (m *module) release() *v1beta2.ModuleReleaseMeta {
	return &v1beta2.ModuleReleaseMeta{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: m.name},
		Spec:       v1beta2.ModuleReleaseMetaSpec{ModuleName: m.name, OCMComponentName: m.component(), Channels: channels},
	}
}

// PublishModules pushes every version of every sample module as an OCM component, signed if there is a signer. A repeated call changes
// nothing.
func PublishModules(ctx context.Context, registry component.Registry, signer *component.Signer) error {
	for i := range modules {
		for _, offer := range channels {
			version, err := modules[i].publication(offer.Version)
			if err != nil {
				return err
			}
			version.Signer = signer
			if _, err := component.Push(ctx, registry, version); err != nil {
				return err
			}
		}
	}
	return nil
}

// publishStuck pushes the version that never becomes available.
func publishStuck(ctx context.Context, registry component.Registry) error {
	m := moduleOf(moduleCharted)
	version, err := m.publication(stuck)
	if err != nil {
		return err
	}
	_, err = component.Push(ctx, registry, version)
	return err
}

// moduleOf returns the sample module of that name.
func moduleOf(name string) *module {
	return &modules[slices.IndexFunc(modules, func(m module) bool { return m.name == name })]
}

// Offers returns the ModuleReleaseMetas and ModuleTemplates of the sample modules.
func Offers() ([]client.Object, error) {
	var objects []client.Object
	for i := range modules {
		objects = append(objects, modules[i].release())
		for _, offer := range channels {
			template, err := modules[i].template(offer.Version)
			if err != nil {
				return nil, err
			}
			objects = append(objects, template)
		}
	}
	return objects, nil
}

// Components returns the names of the sample modules' components.
func Components() []string {
	names := make([]string, 0, len(modules))
	for i := range modules {
		names = append(names, modules[i].component())
	}
	return names
}

// moduleNames lists the modules for a sentence.
func moduleNames() string {
	names := make([]string, 0, len(modules))
	for i := range modules {
		names = append(names, modules[i].name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

package testkit

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

var taken atomic.Int64

// Unique returns a name that no other spec has. It consists of letters and dashes only, as names of modules must.
func Unique(prefix string) string {
	n := taken.Add(1) - 1
	suffix := []byte("aaa")
	for i := len(suffix) - 1; i >= 0; i-- {
		suffix[i] = byte('a' + n%26)
		n /= 26
	}
	return prefix + "-" + string(suffix)
}

// KymaOption completes a Kyma.
type KymaOption func(*v1beta2.Kyma)

// Kyma returns a remote Kyma on channel regular, unless options say otherwise.
func Kyma(name string, options ...KymaOption) *v1beta2.Kyma {
	kyma := &v1beta2.Kyma{ObjectMeta: inHub(name), Spec: v1beta2.KymaSpec{Channel: v1beta2.DefaultChannel}}
	for _, option := range options {
		option(kyma)
	}
	return kyma
}

// OnChannel sets the Kyma's channel.
func OnChannel(channel string) KymaOption {
	return func(kyma *v1beta2.Kyma) { kyma.Spec.Channel = channel }
}

// Unsynced keeps everything but modules out of the runtime, so that specs can share one.
func Unsynced() KymaOption { return Labelled(v1beta2.LabelSync, "false") }

// Local installs the modules in the hub itself.
func Local() KymaOption {
	return func(kyma *v1beta2.Kyma) { kyma.Spec.Remote = new(bool) }
}

// Labelled sets a label of the Kyma.
func Labelled(key, value string) KymaOption {
	return func(kyma *v1beta2.Kyma) { metav1.SetMetaDataLabel(&kyma.ObjectMeta, key, value) }
}

// ModuleOption completes a module of a Kyma.
type ModuleOption func(*v1beta2.Module)

// WithModule enables a module.
func WithModule(name string, options ...ModuleOption) KymaOption {
	module := v1beta2.Module{Name: name}
	for _, option := range options {
		option(&module)
	}
	return func(kyma *v1beta2.Kyma) { kyma.Spec.Modules = append(kyma.Spec.Modules, module) }
}

// FromChannel takes the module from a channel other than the Kyma's.
func FromChannel(channel string) ModuleOption {
	return func(module *v1beta2.Module) { module.Channel = channel }
}

// AtVersion pins the module.
func AtVersion(version string) ModuleOption {
	return func(module *v1beta2.Module) { module.Version = version }
}

// WithPolicy sets the policy for the default CR.
func WithPolicy(policy v1beta2.CustomResourcePolicy) ModuleOption {
	return func(module *v1beta2.Module) { module.CustomResourcePolicy = policy }
}

// NotManaged makes the module unmanaged.
func NotManaged() ModuleOption {
	return func(module *v1beta2.Module) { module.Managed = new(bool) }
}

// ModuleTemplate describes a version of a module; changes complete it.
func ModuleTemplate(module, version string, changes ...func(*v1beta2.ModuleTemplateSpec)) *v1beta2.ModuleTemplate {
	template := &v1beta2.ModuleTemplate{
		ObjectMeta: inHub(module + "-" + version),
		Spec:       v1beta2.ModuleTemplateSpec{ModuleName: module, Version: version},
	}
	for _, change := range changes {
		change(&template.Spec)
	}
	return template
}

// ModuleReleaseMeta offers versions by channel, each written as "regular=1.0.0".
func ModuleReleaseMeta(module string, offers ...string) *v1beta2.ModuleReleaseMeta {
	release := &v1beta2.ModuleReleaseMeta{
		ObjectMeta: inHub(module),
		Spec:       v1beta2.ModuleReleaseMetaSpec{ModuleName: module, OCMComponentName: ComponentName(module)},
	}
	for _, offer := range offers {
		channel, version, ok := strings.Cut(offer, "=")
		if !ok {
			panic(fmt.Sprintf("offer %q of module %s is not written as channel=version", offer, module))
		}
		release.Spec.Channels = append(release.Spec.Channels, v1beta2.ChannelVersion{Channel: channel, Version: version})
	}
	return release
}

// ComponentName returns the name of the OCM component under which testkit publishes a module.
func ComponentName(module string) string { return "kyma-project.io/module/" + module }

// Manifest returns a stand-alone Manifest, which installs into the hub unless changes say otherwise.
func Manifest(name string, source v1beta2.ImageSpec, changes ...func(*v1beta2.Manifest)) *v1beta2.Manifest {
	manifest := &v1beta2.Manifest{ObjectMeta: inHub(name), Spec: v1beta2.ManifestSpec{
		Version: "1.0.0",
		Install: v1beta2.InstallInfo{Name: name, Source: Raw(source)},
	}}
	for _, change := range changes {
		change(manifest)
	}
	return manifest
}

// Remote makes a stand-alone Manifest install into the runtime of an access Secret.
func Remote(kyma string) func(*v1beta2.Manifest) {
	return func(manifest *v1beta2.Manifest) {
		manifest.Spec.Remote = true
		metav1.SetMetaDataLabel(&manifest.ObjectMeta, v1beta2.LabelKymaName, kyma)
	}
}

// WithResource gives a Manifest a default CR.
func WithResource(resource *unstructured.Unstructured) func(*v1beta2.Manifest) {
	return func(manifest *v1beta2.Manifest) { manifest.Spec.Resource = resource }
}

// Raw returns a value as the API holds it in fields that allow any value.
func Raw(value any) runtime.RawExtension {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%T cannot be written as JSON: %v", value, err))
	}
	return runtime.RawExtension{Raw: data}
}

func inHub(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name}
}

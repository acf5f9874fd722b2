package module

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Follows returns the channel that a Kyma follows for a module, by the spec that counted last: the one that was merged with its runtime's,
// else the hub's. ok is false when it does not have the module, pins a version of it, has the
// version of a release, or does not have it managed.
func Follows(kyma *v1beta2.Kyma, module string) (channel string, ok bool) {
	if last := kyma.Status.LastSeen; Synced(kyma) && last != nil && last.Runtime != nil {
		for i := range last.Runtime.Modules {
			if entry := &last.Runtime.Modules[i]; entry.Name == module {
				if kyma.Spec.Release != "" && entry.Channel == "" {
					return "", false
				}
				return followed(entry.Channel, last.Runtime.Channel, entry.Version, entry.Managed)
			}
		}
		return "", false
	}
	for i := range kyma.Spec.Modules {
		if entry := &kyma.Spec.Modules[i]; entry.Name == module {
			if FollowsRelease(kyma, entry) {
				return "", false
			}
			return followed(entry.Channel, kyma.Spec.Channel, entry.Version, entry.Managed)
		}
	}
	return "", false
}

func followed(own, common, version string, managed *bool) (channel string, ok bool) {
	if version != "" || managed != nil && !*managed {
		return "", false
	}
	return cmp.Or(own, common, v1beta2.DefaultChannel), true
}

// SkipsWindows reports whether upgrades with downtime of a Kyma may start at any time, by the spec that counted last.
func SkipsWindows(kyma *v1beta2.Kyma) bool {
	if last := kyma.Status.LastSeen; Synced(kyma) && last != nil && last.Runtime != nil {
		return last.Runtime.SkipMaintenanceWindows
	}
	return kyma.Spec.SkipMaintenanceWindows
}

// RefusedChannel returns the reason for which rules 2 to 11 of Resolve refuse a Kyma what a channel of a module offers, empty when they do
// not. Of the Snapshot they need the Kyma, the module's release, the template that the channel leads to, and the restricted modules. With
// an empty channel the module is a mandatory one, for which fewer rules count.
func RefusedChannel(w Snapshot, module, channel string) string {
	if refused := refusedChannel(w, module, channel); refused != nil {
		return rules[refused.rule].Reason
	}
	return ""
}

func refusedChannel(w Snapshot, module, channel string) *refusal {
	release := w.Releases[module]
	switch {
	case channel == "" && release == nil:
		return refuse(ruleReleaseMissing, "module", module, "namespace", w.Kyma.Namespace)
	case channel == "":
		_, refused := componentNamed(release)
		if refused == nil && release.Spec.Mandatory != nil {
			_, refused = templateAt(w, module, release.Spec.Mandatory.Version)
		}
		return refused
	}
	found, refused := requested(w, moduleRequest{Module: module, Channel: channel})
	if refused == nil {
		_, refused = templateOf(w, module, found.Version)
	}
	if refused == nil {
		refused = restriction(w, release, module)
	}
	return refused
}

// TemplateName returns the name of the ModuleTemplate of a module's version.
func TemplateName(module, version string) string { return templateName(module, version) }

// ContentOf returns the part of a Manifest's spec that a component version decides: what is fetched and installed.
func ContentOf(version string, component Component) *v1beta2.ManifestSpec {
	return &v1beta2.ManifestSpec{
		Version:            version,
		Install:            v1beta2.InstallInfo{Name: installName, Source: runtime.RawExtension{Raw: encodeSource(component.Source)}},
		LocalizedImages:    component.LocalizedImages,
		AdditionalInstalls: component.Extras.Additional,
		Config:             component.Extras.Config,
		CRDs:               component.Extras.CRDs,
	}
}

// IsRuntimeCopy reports whether a Kyma is the one that a manager keeps in a runtime which is a hub at the same time: it must not be
// managed.
func IsRuntimeCopy(kyma *v1beta2.Kyma) bool {
	return kyma.Name == v1beta2.RuntimeKymaName && kyma.Namespace == v1beta2.RuntimeNamespace &&
		kyma.Labels[v1beta2.LabelManagedBy] == v1beta2.ManagedByKyma && strings.Contains(kyma.Annotations[v1beta2.AnnotationOwnedBy], "/")
}

// WindowGroup holds the labels of a Kyma that decide about its maintenance windows: Kymas of the same group have the same windows.
type WindowGroup [4]string

// WindowGroupOf returns the group of a Kyma with these labels.
func WindowGroupOf(labels map[string]string) WindowGroup {
	return WindowGroup{labels[labelGlobalAccount], labels[labelPlan], labels[labelRegion], labels[labelPlatformRegion]}
}

// InstalledComponent returns what a Manifest installs as the component that it was made from: what stands in for a component that is not
// read.
func InstalledComponent(manifest *v1beta2.Manifest) Component {
	source, ok := sourceOf(manifest)
	if !ok {
		return Component{}
	}
	spec := &manifest.Spec
	extras := Extras{Additional: spec.AdditionalInstalls, Config: spec.Config, CRDs: spec.CRDs}
	return Component{Source: source, LocalizedImages: spec.LocalizedImages, Extras: extras, Requires: noted(manifest)}
}

package packaging

import (
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Unsatisfiable returns why no Kyma that follows a channel could have a version with these requirements, one sentence for each module that
// it needs in vain: the module is not released, or the channel of the same name, or the mandatory module, has a version out of range. A
// module that does not have the channel is no reason: a Kyma can have it from another one. releases returns nil for a module that is not
// released.
func Unsatisfiable(
	channel string, requires []requirements.Requirement, releases func(module string) *v1beta2.ModuleReleaseMeta,
) (why []string) {
	for _, one := range requires {
		if one.Module == "" {
			continue
		}
		release := releases(one.Module)
		if release == nil {
			why = append(why, fmt.Sprintf("it needs %s, of which there is no ModuleReleaseMeta", one))
			continue
		}
		version, where := OfferedIn(release, channel), "channel "+channel+" of "+one.Module+" offers"
		if release.Spec.Mandatory != nil {
			where = one.Module + " is mandatory in version"
		}
		if version != "" && !requirements.Accepts([]requirements.Requirement{one}, one.Module, version) {
			why = append(why, fmt.Sprintf("it needs %s, and %s %s", one, where, version))
		}
	}
	return why
}

// OfferedIn returns the version of a module that the Kymas of a channel get, empty where the release does not have the channel.
func OfferedIn(release *v1beta2.ModuleReleaseMeta, channel string) string {
	if release.Spec.Mandatory != nil {
		return release.Spec.Mandatory.Version
	}
	if at := indexOf(release.Spec.Channels, channel); at >= 0 {
		return release.Spec.Channels[at].Version
	}
	return ""
}

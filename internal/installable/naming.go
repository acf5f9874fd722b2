package installable

import (
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// maxRelease is the maximum length of a Helm release name.
const maxRelease = 53

// ReleaseName returns the release name that templates see: the installation's name, or the module's name for its first installation, which
// has no name of its own.
func ReleaseName(module, install string) string {
	name := install
	if name == descriptor.ResourceManifest && module != "" {
		name = module
	}
	if len(name) > maxRelease {
		name = name[:maxRelease]
	}
	return strings.TrimRight(name, "-.")
}

// GeneratedName returns the name of the Secret with what the charts of a Manifest, or of a direct installation, have generated.
func GeneratedName(installation string) string {
	const suffix, limit = ".generated", 253
	if len(installation) > limit-len(suffix) {
		installation = strings.TrimRight(installation[:limit-len(suffix)], "-.")
	}
	return installation + suffix
}

// ConfigName returns the name of an installation in a config layer that names these installations. The first one of a module is always
// called raw-manifest, so the config layer may use the module's own name instead.
func ConfigName(named []string, module, install string) string {
	if install == descriptor.ResourceManifest && !slices.Contains(named, install) && slices.Contains(named, module) {
		return module
	}
	return install
}

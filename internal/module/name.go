package module

import (
	"hash/fnv"
	"strconv"
	"strings"
)

// maxNameLength keeps a name usable as a label value (63) with upstream's margin of one.
const maxNameLength = 62

// ManifestName is upstream's name of the Manifest that installs a module: "<kyma>-<last segment of the component name>-<hash>", with the
// 32-bit FNV-1 (not 1a) hash of component and module name as a decimal number, cut to 62 characters. A cut name may have lost its hash;
// Resolve refuses the second module of a Kyma that would get the same name.
func ManifestName(kyma, ocmName, module string) string {
	hash := fnv.New32()
	_, _ = hash.Write([]byte(ocmName + module))
	last := ocmName[strings.LastIndex(ocmName, "/")+1:]
	name := kyma + "-" + last + "-" + strconv.FormatUint(uint64(hash.Sum32()), 10)
	if len(name) > maxNameLength {
		name = strings.TrimRight(name[:maxNameLength], "-")
	}
	return name
}

// templateName returns the name of the ModuleTemplate of a module's version.
func templateName(module, version string) string { return module + "-" + version }

package communitycatalog

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/Masterminds/semver/v3"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Limits for one object of a catalog. An API server accepts 1.5 MiB, and users see all of these texts.
const (
	maxObject = 1 << 20
	maxName   = 253
	maxText   = 2048
	maxNamed  = 64
)

var (
	// moduleName and moduleVersion are the formats that the definition of ModuleTemplates accepts.
	moduleName    = regexp.MustCompile(`^[a-z]{3,}(-[a-z]{3,})*$`)
	moduleVersion = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-zA-Z-][0-9a-zA-Z-]*)?$`)
	// looseName is the minimum format of a module's name, since it becomes part of names, addresses and labels.
	looseName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
)

// The maximum lengths in the definition of ModuleTemplates.
const (
	maxModule  = 64
	maxVersion = 32
)

// check returns why an item cannot be used at all. seen has the items that were checked before.
func (i *item) check(seen map[string]string) error {
	text, err := json.Marshal(i.object.Object)
	switch {
	case err != nil:
		return wrong("", "cannot be read: %v", err)
	case len(text) > maxObject:
		return wrong("", "it has more than %d bytes, which no API server takes", maxObject)
	case len(i.object.GetName()) > maxName:
		return wrong("metadata.name", "it has more than %d characters", maxName)
	}
	if i.release != nil {
		return i.checkRelease(seen)
	}
	return i.checkTemplate(seen)
}

func (i *item) checkTemplate(seen map[string]string) error {
	module, version := i.template.ModuleName(), i.template.ModuleVersion()
	switch {
	case module == "":
		return wrong("spec.moduleName", "is missing: name the module")
	case len(module) > maxModule || !looseName.MatchString(module):
		return wrong("spec.moduleName", "%q is no name of a module: use lower-case letters with dashes between words", short(module))
	case version == "":
		return wrong("spec.version", "is missing: set the version that it describes")
	case len(version) > maxText:
		return wrong("spec.version", "it has more than %d characters", maxText)
	}
	if _, err := semver.NewVersion(version); err != nil {
		return wrong("spec.version", "%q is no version: write MAJOR.MINOR.PATCH", short(version))
	}
	if err := once(seen, module+" "+version, i.object.GetName(), "spec.version"); err != nil {
		return err
	}
	return checkTexts(&i.template.Spec)
}

// once refuses a duplicate.
func once(seen map[string]string, what, name, field string) error {
	if before, again := seen[what]; again {
		return wrong(field, "%s is described by %s already: keep one of them", what, short(before))
	}
	seen[what] = name
	return nil
}

// checkTexts limits the texts that users see.
func checkTexts(spec *v1beta2.ModuleTemplateSpec) error {
	bounded := func(field string, named []v1beta2.Named) error {
		if len(named) > maxNamed {
			return wrong(field, "it has %d entries and %d are accepted", len(named), maxNamed)
		}
		for i, one := range named {
			if len(one.Name) > maxText || len(one.Link) > maxText {
				return wrong(fmt.Sprintf("%s[%d]", field, i), "it has more than %d characters", maxText)
			}
		}
		return nil
	}
	if err := bounded("spec.resources", spec.Resources); err != nil {
		return err
	}
	if len(spec.AssociatedResources) > maxNamed {
		return wrong("spec.associatedResources", "it has %d entries and %d are accepted", len(spec.AssociatedResources), maxNamed)
	}
	info := spec.Info
	if info == nil {
		return nil
	}
	switch {
	case len(info.Repository) > maxText:
		return wrong("spec.info.repository", "it has more than %d characters", maxText)
	case len(info.Documentation) > maxText:
		return wrong("spec.info.documentation", "it has more than %d characters", maxText)
	}
	return bounded("spec.info.icons", info.Icons)
}

func (i *item) checkRelease(seen map[string]string) error {
	name := i.release.Name
	switch {
	case len(name) > maxModule || !looseName.MatchString(name):
		return wrong("metadata.name", "%q is no name of a module", short(name))
	case i.release.Spec.ModuleName != "" && i.release.Spec.ModuleName != name:
		return wrong("spec.moduleName", "%q is not the name of the object, %q", short(i.release.Spec.ModuleName), name)
	case len(i.release.Spec.Channels) > maxNamed:
		return wrong("spec.channels", "it has %d entries and %d are accepted", len(i.release.Spec.Channels), maxNamed)
	}
	for at, c := range i.release.Spec.Channels {
		if len(c.Channel) > maxText || len(c.Version) > maxText {
			return wrong(fmt.Sprintf("spec.channels[%d]", at), "it has more than %d characters", maxText)
		}
	}
	return once(seen, "release "+name, name, "metadata.name")
}

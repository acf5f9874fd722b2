package communitycatalog

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// template checks one template by itself.
func (l *linter) template(e *entry) {
	l.identity(e)
	l.links(e)
	l.texts(e)
	l.labels(e)
	l.data(e)
	if e.template.Spec.Manager == nil {
		l.warn(e, RuleOperator, "spec.manager", "is missing: without it the running version is unknown, and the operator is not deleted last",
			"name group, version, kind, namespace and name of the operator's Deployment or StatefulSet")
	}
	if len(e.template.Spec.AssociatedResources) == 0 && e.template.Spec.Data != nil {
		l.warn(e, RuleKinds, "spec.associatedResources", "is missing: what users made with the module is left behind when it is deleted",
			"list group, version and kind of what users make, the default custom resource's kind among them")
	}
}

// identity checks names and version.
func (l *linter) identity(e *entry) {
	spec := &e.template.Spec
	module, version := spec.ModuleName, spec.Version
	if module == "" {
		l.err(e, RuleRequired, "spec.moduleName", "is missing", "name the module")
	} else if len(module) > maxModule || !moduleName.MatchString(module) {
		l.err(e, RuleName, "spec.moduleName", fmt.Sprintf("a ModuleTemplate does not take %q", module),
			"use words of at least 3 lower-case letters with dashes between them")
	}
	switch _, err := semver.StrictNewVersion(version); {
	case version == "":
		l.err(e, RuleRequired, "spec.version", "is missing", "set the version that the template describes")
	case err != nil:
		l.err(e, RuleVersion, "spec.version", fmt.Sprintf("%q is no semantic version", version),
			"write major.minor.patch, such as 1.2.3, without v")
	case len(version) > maxVersion || !moduleVersion.MatchString(version):
		l.err(e, RuleVersion, "spec.version", fmt.Sprintf("a ModuleTemplate does not take %q", version),
			"use at most 32 characters, and after a dash one word that begins with a letter, such as 1.2.3-rc1")
	}
	if module == "" || version == "" {
		return
	}
	want := module + "-" + version
	if name := e.template.Name; name != want {
		l.err(e, RuleName, "metadata.name", fmt.Sprintf("%q is not %q, by which it is looked for", name, want), "rename it")
	}
	if e.template.Namespace != "" {
		l.warn(e, RuleName, "metadata.namespace", "sets the namespace, which is chosen at installation", "remove it")
	}
	l.fileName(e, module, want+yamlEnd)
}

// fileName compares the names of a file and its folder with the content.
func (l *linter) fileName(e *entry, folder, file string) {
	if e.loose {
		return
	}
	if is := path.Base(e.file); is != file {
		l.err(e, RuleFileName, "", fmt.Sprintf("the file is called %s and holds what belongs into %s", is, file),
			"rename it, or correct what is in it")
	}
	if is := path.Base(path.Dir(e.file)); is != folder {
		l.err(e, RuleFileName, "", fmt.Sprintf("the folder is called %s and the module %s", is, folder), "move it to "+Root+"/"+folder)
	}
}

// links checks the links of the template.
func (l *linter) links(e *entry) {
	spec := &e.template.Spec
	link, _ := linkOf(e.template)
	if link == "" {
		l.err(e, RuleRequired, "spec.resources", "there is no link rawManifest: the module cannot be installed",
			"add {name: rawManifest, link: https://...}")
	}
	for i, named := range spec.Resources {
		field := fmt.Sprintf("spec.resources[%d].link", i)
		if l.link(e, field, named.Link) {
			l.moving(e, field, named.Link)
		}
	}
	digest, told := e.template.Annotations[v1beta2.AnnotationRawManifestDigest]
	field := "metadata.annotations[" + v1beta2.AnnotationRawManifestDigest + "]"
	switch {
	case link == "":
	case !told:
		l.warn(e, RuleDigest, "metadata.annotations", "the content of rawManifest is not pinned: it can be changed unnoticed",
			"add "+v1beta2.AnnotationRawManifestDigest+": sha256:..., as sha256sum prints it")
	case !digestPattern.MatchString(digest):
		l.err(e, RuleDigest, field, "is no digest", "write sha256: and 64 hex digits in lower case")
	}
}

// link checks one link, and reports whether it can be followed.
func (l *linter) link(e *entry, field, link string) bool {
	parsed, err := url.Parse(link)
	const fix = "write a link that begins with https://"
	switch {
	case link == "":
		l.err(e, RuleRequired, field, "is missing", fix)
	case err != nil:
		l.err(e, RuleLink, field, "is no link", fix)
	case parsed.User != nil:
		l.err(e, RuleLink, field, "is a link with a login in it", "remove the part before the @")
	case parsed.Scheme == "http":
		l.err(e, RuleLink, field, "is a link without encryption", "use https")
	case parsed.Scheme != "https" || parsed.Hostname() == "":
		l.err(e, RuleLink, field, "is no https link with a host", fix)
	default:
		return true
	}
	return false
}

// movingParts are parts of paths whose content changes.
var movingParts = []string{"main", "master", "latest", "HEAD", "nightly", "edge", "develop"}

// moving warns of links to a branch or to the latest release.
func (l *linter) moving(e *entry, field, link string) {
	parsed, err := url.Parse(link)
	if err != nil {
		return
	}
	for part := range strings.SplitSeq(parsed.Path, "/") {
		if slices.Contains(movingParts, part) {
			l.warn(e, RuleMovingLink, field, fmt.Sprintf("%q in it leads to something else tomorrow", part),
				"link to what belongs to the version, such as a file of its release")
			return
		}
	}
}

// texts checks the texts for users.
func (l *linter) texts(e *entry) {
	info := e.template.Spec.Info
	if info == nil {
		l.warn(e, RuleDocumentation, "spec.info", "is missing: users do not learn what the module is for",
			"add repository, documentation and icons")
		return
	}
	if info.Documentation == "" {
		l.warn(e, RuleDocumentation, "spec.info.documentation", "is missing", "link to the documentation")
	} else {
		l.link(e, "spec.info.documentation", info.Documentation)
	}
	if info.Repository == "" {
		l.warn(e, RuleDocumentation, "spec.info.repository", "is missing", "link to the source code")
	} else {
		l.link(e, "spec.info.repository", info.Repository)
	}
	if len(info.Icons) == 0 {
		l.warn(e, RuleIcon, "spec.info.icons", "is missing", "add {name: module-icon, link: https://...}")
	}
	for i, icon := range info.Icons {
		l.link(e, fmt.Sprintf("spec.info.icons[%d].link", i), icon.Link)
	}
}

// labels checks labels and annotations that tools use, and fields that have no effect.
func (l *linter) labels(e *entry) {
	t := e.template
	if label := t.Labels[v1beta2.LabelModuleName]; label != t.Spec.ModuleName {
		l.warn(e, RuleLabel, "metadata.labels["+v1beta2.LabelModuleName+"]", "is not the module's name, by which older tools look for it",
			"set it to "+t.Spec.ModuleName)
	}
	if _, claimed := t.Labels[v1beta2.LabelManagedBy]; claimed {
		l.err(e, RuleLabel, "metadata.labels["+v1beta2.LabelManagedBy+"]",
			"claims the module for the lifecycle manager, which does not manage it", "remove it")
	}
	for _, made := range []string{AnnotationSource, AnnotationUpdated, AnnotationVersion, AnnotationExpires} {
		if _, there := t.Annotations[made]; there && !e.loose {
			l.warn(e, RuleLabel, "metadata.annotations["+made+"]", "is written when the catalog is built", "remove it")
		}
	}
	if t.Spec.Mandatory {
		l.err(e, RuleDeprecated, "spec.mandatory", "no module of a catalog comes by itself", "remove it")
	}
	if t.Spec.Channel != "" {
		l.warn(e, RuleDeprecated, "spec.channel", "has no effect: channels stand in a ModuleReleaseMeta", "remove it")
	}
}

// together checks all entries for conflicts between them.
func (l *linter) together() {
	versions, icons := map[string]*entry{}, map[string]*entry{}
	for _, e := range l.entries {
		if e.template == nil {
			continue
		}
		module := e.template.ModuleName()
		if what := module + " " + e.template.ModuleVersion(); versions[what] != nil {
			l.err(e, RuleDuplicate, "spec.version", fmt.Sprintf("%s is in %s already", what, versions[what].file), "keep one of them")
		} else {
			versions[what] = e
		}
		l.icons(e, module, icons)
	}
	for _, e := range l.entries {
		if e.release != nil {
			l.release(e, versions)
		}
	}
}

// icons warns of icons that another module uses.
func (l *linter) icons(e *entry, module string, icons map[string]*entry) {
	if e.template.Spec.Info == nil {
		return
	}
	for i, icon := range e.template.Spec.Info.Icons {
		other := icons[icon.Link]
		if other == nil {
			icons[icon.Link] = e
		} else if name := other.template.ModuleName(); name != module {
			l.warn(e, RuleIcon, fmt.Sprintf("spec.info.icons[%d].link", i), "is the icon of module "+name+" too: users cannot tell them apart",
				"give the module its own icon")
		}
	}
}

// release checks the channels of a module.
func (l *linter) release(e *entry, versions map[string]*entry) {
	name := e.release.Name
	l.fileName(e, name, name+yamlEnd)
	for i, c := range e.release.Spec.Channels {
		if versions[name+" "+c.Version] == nil {
			l.err(e, RuleRelease, fmt.Sprintf("spec.channels[%d].version", i),
				fmt.Sprintf("channel %s offers version %s, of which there is no template", c.Channel, c.Version),
				"add its template, or correct the version")
		}
	}
}

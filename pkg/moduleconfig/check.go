package moduleconfig

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

var (
	channelPattern = regexp.MustCompile(`^[a-z]{3,32}$`)
	kindPattern    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)
	// drivePattern matches the beginning of an absolute path of Windows.
	drivePattern = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
	// templateVersion and templateModule are the patterns in the definition of ModuleTemplates.
	templateVersion = regexp.MustCompile(`^\d+\.\d+\.\d+(-[a-zA-Z-][0-9a-zA-Z-]*)?$`)
	templateModule  = regexp.MustCompile(`^[a-z]{3,}(-[a-z]{3,})*$`)

	renderers   = []string{"helm-chart", "kustomize", "bundle"}
	readinesses = []string{"Workloads", "ModuleCR", "Both"}

	// oldKeys exist only in the old CLI, newKeys were added later.
	oldKeys = []string{"channel", "resourceName", "customStateCheck"}
	newKeys = []string{
		"repository", "documentation", "icons", "team", "manager", "associatedResources", "resources", "requiresDowntime",
		"securityScanEnabled", "renderer", "readiness", "allowCRDChanges", "images", "values", "targetNamespace", "repositoryTag", "requires",
		"rollbackTo",
	}
)

// maxTemplateVersion is the maximum length of the version in a ModuleTemplate, minModule the minimum length of a module's name.
const (
	maxTemplateVersion = 32
	minModule          = 3
)

// dialect returns the old CLI's when the file has a key that exists only there and none that was added later.
func (c *Config) dialect() Dialect {
	there := func(key string) bool { _, ok := c.at[key]; return ok }
	if slices.ContainsFunc(oldKeys, there) && !slices.ContainsFunc(newKeys, there) {
		return OldCLI
	}
	return Modulectl
}

// check judges the configuration as a whole. Links, kinds and state checks were judged one by one while they were read.
func (r *reader) check(c *Config) {
	r.checkRequired(c)
	r.checkName(c)
	r.checkVersion(c)
	r.location(c, "manifest", c.Manifest)
	r.location(c, "defaultCR", c.DefaultCR)
	r.location(c, "values", c.Values)
	r.web(c, "repository", c.Repository)
	r.web(c, "documentation", c.Documentation)
	r.checkMetadata(c)
	r.checkStates(c)
	if c.Channel != "" && !channelPattern.MatchString(c.Channel) {
		r.failAt(c, RuleChannel, "channel", quoted(c.Channel)+" is not a valid channel", "use 3 to 32 lower-case letters")
	}
	r.namespace(c, "namespace", c.Namespace)
	r.namespace(c, "targetNamespace", c.TargetNamespace)
	if c.RepositoryTag != "" {
		r.warnAt(c, RuleIgnored, "repositoryTag", "has no effect here: the component version notes the commit of the git repository",
			"leave it to the pipeline that reads it, or remove it")
	}
	r.checkResourceName(c)
	r.choice(c, "renderer", c.Renderer, renderers)
	r.choice(c, "readiness", c.Readiness, readinesses)
	for i, rule := range c.AllowCRDChanges {
		r.choice(c, fmt.Sprintf("allowCRDChanges[%d]", i), rule, crdsafety.Rules())
	}
	r.checkRequires(c)
	r.checkRollback(c)
}

// checkRollback judges the versions that can take over from this one, by what the operator reads them with.
func (r *reader) checkRollback(c *Config) {
	if _, err := moduleversion.Satisfies(c.Version, c.RollbackTo); err != nil {
		r.failAt(c, RuleRollback, "rollbackTo", quoted(c.RollbackTo)+" is no range of versions: "+err.Error(), `write it like ">=1.2.0 <2"`)
	}
}

// namespace judges the name of an optional namespace.
func (r *reader) namespace(c *Config, field, value string) {
	if value != "" && len(validation.IsDNS1123Label(value)) > 0 {
		r.failAt(c, RuleNamespace, field, quoted(value)+" is not a valid namespace", "use lower-case letters, digits and dashes between them")
	}
}

// checkResourceName judges the name that the old CLI gave ModuleTemplates. The operator finds them by another name.
func (r *reader) checkResourceName(c *Config) {
	switch {
	case c.ResourceName == "":
	case len(validation.IsDNS1123Subdomain(c.ResourceName)) > 0:
		r.failAt(c, RuleName, "resourceName", quoted(c.ResourceName)+" is not a valid object name",
			"use lower-case letters, digits, and dashes and dots between them")
	default:
		r.warnAt(c, RuleIgnored, "resourceName", "has no effect: a ModuleTemplate is called MODULE-VERSION, by which the operator finds it",
			"remove it")
	}
}

// member is a field of an object and its value.
type member struct{ key, value string }

// checkRequired: both dialects require name, version and manifest; the old one a channel, the other what users need to know about a module.
func (r *reader) checkRequired(c *Config) {
	want := []member{{"name", c.Name}, {"version", c.Version}, {"manifest", c.Manifest}}
	if c.Dialect == OldCLI {
		want = append(want, member{"channel", c.Channel})
	} else {
		want = append(want, member{"repository", c.Repository}, member{"documentation", c.Documentation})
	}
	for _, m := range want {
		if m.value == "" {
			r.missing(c, m.key, "add it")
		}
	}
	if c.Dialect == OldCLI {
		return
	}
	if len(c.Icons) == 0 {
		r.missing(c, "icons", "add at least one icon, with name and link")
	}
	if c.Team == "" && c.SecurityScanEnabled {
		r.missing(c, "team", "name the team that answers for security, or set securityScanEnabled: false")
	}
}

// missing notes that a field is missing, unless its value was refused already.
func (r *reader) missing(c *Config, field, fix string) {
	if !slices.ContainsFunc(r.findings, func(f diagnostics.Finding) bool { return f.Field == field }) {
		r.failAt(c, RuleRequired, field, "is missing", fix)
	}
}

func (r *reader) checkName(c *Config) {
	if c.Name == "" {
		return
	}
	if err := descriptor.CheckIdentity(c.Name, "0.0.0"); err != nil {
		r.failAt(c, RuleName, "name", quoted(c.Name)+" is not a valid component name",
			"use a domain, a slash and a path in lower case, such as kyma-project.io/module/notes")
		return
	}
	module := c.ModuleName()
	switch {
	case len(module) < minModule || len(validation.IsDNS1035Label(module)) > 0:
		r.failAt(c, RuleName, "name", "its last part, "+quoted(module)+", is not a DNS label of 3 to 63 characters",
			"use lower-case letters, digits and dashes, and begin with a letter")
	case !templateModule.MatchString(module):
		r.warnAt(c, RuleTemplate, "name", fmt.Sprintf("a ModuleTemplate does not take the module's name %s", quoted(module)),
			"use words of at least 3 lower-case letters with dashes between them")
	}
}

// checkVersion removes a leading "v" in files of the old CLI, which allowed it.
func (r *reader) checkVersion(c *Config) {
	if c.Version == "" {
		return
	}
	if without, has := strings.CutPrefix(c.Version, "v"); has && c.Dialect == OldCLI {
		r.warnAt(c, RuleVersion, "version", "begins with v, which is left out", "write "+quoted(without))
		c.Version = without
	}
	switch _, err := semver.StrictNewVersion(c.Version); {
	case err != nil:
		r.failAt(c, RuleVersion, "version", quoted(c.Version)+" is not a semantic version", "write major.minor.patch, such as 1.2.3, without v")
	case len(c.Version) > maxTemplateVersion || !templateVersion.MatchString(c.Version):
		r.warnAt(c, RuleTemplate, "version", fmt.Sprintf("a ModuleTemplate does not take the version %s", quoted(c.Version)),
			"use at most 32 characters, and after a dash one word that begins with a letter, such as 1.2.3-rc1")
	}
}

// location judges a field that holds a link or a path.
func (r *reader) location(c *Config, field, value string) {
	if IsURL(value) {
		r.web(c, field, value)
		return
	}
	switch {
	case strings.HasPrefix(value, "/"), strings.HasPrefix(value, `\`), drivePattern.MatchString(value):
		r.failAt(c, RulePath, field, quoted(value)+" is an absolute path", "write it relative to this file")
	case strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }):
		r.failAt(c, RulePath, field, quoted(value)+" is not a valid path", "remove the control characters")
	}
}

// web judges an optional link.
func (r *reader) web(c *Config, field, value string) {
	if problem, fix := badLink(value); value != "" && problem != "" {
		r.failAt(c, RuleLink, field, problem, fix)
	}
}

// link judges a link of a list or mapping, which is required.
func (r *reader) link(node *yaml.Node, field, value string) {
	if value == "" {
		r.failIn(node, RuleRequired, field, "is missing", "add an https link")
		return
	}
	if problem, fix := badLink(value); problem != "" {
		r.failIn(node, RuleLink, field, problem, fix)
	}
}

// badLink returns why a text is not an https link. A login is not repeated.
func badLink(value string) (problem, fix string) {
	const asHTTPS = "write a link that begins with https://"
	parsed, err := url.Parse(value)
	switch {
	case err != nil:
		return "is not a valid link", asHTTPS
	case parsed.User != nil:
		return "is a link with a login in it", "remove the part before the @"
	case parsed.Scheme == "http":
		return quoted(value) + " is a link without encryption", "use https"
	case parsed.Scheme != "https":
		return quoted(value) + " is not an https link", asHTTPS
	case parsed.Hostname() == "":
		return quoted(value) + " is a link without a host", asHTTPS
	default:
		return "", ""
	}
}

func (r *reader) checkMetadata(c *Config) {
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		field := join("labels", key)
		if errs := validation.IsQualifiedName(key); len(errs) > 0 {
			r.failAt(c, RuleMetadata, field, "is not a valid label name", errs[0])
		}
		if errs := validation.IsValidLabelValue(c.Labels[key]); len(errs) > 0 {
			r.failAt(c, RuleMetadata, field, quoted(c.Labels[key])+" is not a valid label value", errs[0])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Annotations)) {
		if errs := validation.IsQualifiedName(strings.ToLower(key)); len(errs) > 0 {
			r.failAt(c, RuleMetadata, join("annotations", key), "is not a valid annotation name", errs[0])
		}
	}
}

// choice judges a field that must have one of a few values.
func (r *reader) choice(c *Config, field, value string, values []string) {
	if value == "" || slices.Contains(values, value) {
		return
	}
	fix := "use one of " + strings.Join(values, ", ")
	if near := closest(value, values); near != "" {
		fix = "did you mean " + near + "?"
	}
	r.failAt(c, RuleChoice, field, quoted(value)+" is not known here", fix)
}

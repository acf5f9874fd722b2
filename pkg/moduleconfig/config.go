package moduleconfig

import (
	"path"
	"strconv"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Config is the content of a module configuration: the fields of the old CLI and of modulectl, and our own.
type Config struct {
	// File is the name that was passed to Parse.
	File string
	// Dialect is the tool for which the file was written, which determines the required fields.
	Dialect Dialect

	// Name is the OCM component name, such as kyma-project.io/module/notes.
	Name string
	// Version is a semantic version without a leading "v".
	Version string
	// Manifest is an https URL or a path relative to the file: a YAML file, or a folder for the other renderers.
	Manifest string
	// DefaultCR is an https URL or a relative path too; empty when the module has none.
	DefaultCR string
	// Repository and Documentation are https URLs.
	Repository    string
	Documentation string
	// Icons and Resources are https links, in the order of the file.
	Icons     []Link
	Resources []Link
	// Team is responsible for the module's security findings.
	Team string
	// Labels and Annotations are those of the ModuleTemplate.
	Labels      map[string]string
	Annotations map[string]string
	// Manager is the object that runs the module's operator; nil when there is none.
	Manager *Manager
	// AssociatedResources are the kinds that users create with the module.
	AssociatedResources []Kind
	RequiresDowntime    bool
	Internal            bool
	Beta                bool
	// Mandatory is from the old CLI: the module is in every cluster.
	Mandatory bool
	// SecurityScanEnabled is true unless the file sets it to false.
	SecurityScanEnabled bool

	// Channel is the channel of the version; the old CLI requires it.
	Channel string
	// RepositoryTag is the tag of Repository that the pipelines of Kyma build from. It has no effect, which a finding reports.
	RepositoryTag string
	// ResourceName is the name that the old CLI gave the ModuleTemplate. It has no effect, which a finding reports.
	ResourceName string
	// Namespace is that of the ModuleTemplate.
	Namespace string
	// CustomStateCheck maps values in the default CR to states.
	CustomStateCheck []StateCheck

	// Renderer is how the manifest is rendered: helm-chart, kustomize or bundle; empty for plain YAML.
	Renderer string
	// Values is an https URL or a relative path of a file with the values of a chart; empty when there is none.
	Values string
	// InlineValues are values of a chart that the configuration itself holds, in YAML; nil when it holds none.
	InlineValues []byte
	// TargetNamespace is the namespace of objects that name none, and of a chart's release; empty for the usual one.
	TargetNamespace string
	// Readiness is Workloads, ModuleCR or Both; empty for the default.
	Readiness string
	// AllowCRDChanges names rules of CRD safety that an upgrade to this version may break.
	AllowCRDChanges []string
	// RollbackTo is a range of versions, each of which can take over from this one; empty where the module does not go back by itself.
	RollbackTo string
	// Images are images that the module needs and that its manifest does not name.
	Images []string
	// Requires lists what a cluster must have before this version is installed: modules, definitions, a version of Kubernetes.
	Requires []requirements.Requirement

	at map[string]position
}

// Dialect is the tool whose rules a file follows.
type Dialect string

// The dialects: the `create module` of the old CLI, and modulectl with our additions.
const (
	OldCLI    Dialect = "old-cli"
	Modulectl Dialect = "modulectl"
)

// Link is an https link with a name.
type Link struct {
	Name string
	Link string
}

// Kind is a kind of the Kubernetes API.
type Kind struct {
	Group   string
	Version string
	Kind    string
}

// Manager is the object that runs the module's operator.
type Manager struct {
	Kind

	Name string
	// Namespace may be empty, which matches any.
	Namespace string
}

// StateCheck maps a value in the default CR to a state.
type StateCheck struct {
	JSONPath    string
	Value       string
	MappedState string
}

// position is the place of a field in the file.
type position struct{ line, column int }

// ModuleName returns the last segment of the component's name.
func (c *Config) ModuleName() string {
	return path.Base(c.Name)
}

// Position returns the place of a field in the file, such as icons[0].link; that of its nearest parent when the field is absent; 0 and 0
// when unknown.
func (c *Config) Position(field string) (line, column int) {
	for field != "" {
		if at, ok := c.at[field]; ok {
			return at.line, at.column
		}
		cut := strings.LastIndexAny(field, ".[")
		if cut < 0 {
			break
		}
		field = field[:cut]
	}
	return 0, 0
}

// IsURL reports whether a manifest, default CR or values file is a link rather than a path.
func IsURL(location string) bool { return strings.Contains(location, "://") }

// LinkField returns the field of an icon or a resource, given its position in [Config.Icons] or [Config.Resources]: in the file they are a
// list or a mapping.
func (c *Config) LinkField(list string, index int, link Link) string {
	field := join(list, link.Name)
	if _, isMapping := c.at[field]; isMapping {
		return field
	}
	return list + "[" + strconv.Itoa(index) + "].link"
}

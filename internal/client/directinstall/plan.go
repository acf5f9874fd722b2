package directinstall

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Access is the access to registries and web servers. It is component.Access without the dependency on the OCM library.
type Access struct {
	// Credentials returns the login for a host; nil means anonymous.
	Credentials func(ctx context.Context, host string) (auth.Credential, error)
	// Policy returns the settings of a host; nil means the defaults.
	Policy func(host string) content.HostPolicy
	// Mapping is how component names become repositories; empty means descriptor.URLPath.
	Mapping descriptor.Mapping
	// PlainHTTP uses http instead of https, for every host. Otherwise Policy decides that for each host; the addresses in templates do not.
	PlainHTTP bool
}

// Component names a component version in a registry.
type Component struct {
	// Registry is host[:port][/path]; a scheme in front of it is ignored.
	Registry string
	// Name of the component; empty means that of Plan.Release.
	Name string
	// Version of the component; empty means that of Plan.Template.
	Version string
}

// Plan is the desired state of a module in a cluster. Template and Config are required.
type Plan struct {
	// Config connects to the cluster.
	Config *rest.Config
	// Template is the module in one version. A template with a namespace is an object in the cluster, and its deletion is noticed.
	Template *v1beta2.ModuleTemplate
	// Origin is the catalog that Template came from, for the record; nil means none.
	Origin *modulestatus.Origin
	// Release is the module's ModuleReleaseMeta, if it has one: such a module can be managed.
	Release *v1beta2.ModuleReleaseMeta

	// Sources are the content itself, if the caller has it. They take precedence over Component, and Component over the template's link.
	Sources []installer.Source
	// Component locates the content; nil means the descriptor in the template, or its link rawManifest.
	Component *Component
	// Access to the registry or the link.
	Access Access
	// Signatures returns the signature policy of a component, and for "" that of content in no component; nil requires nothing.
	Signatures func(component string) *descriptor.SignaturePolicy
	// Store is a folder that keeps the fetched content; empty means a temporary one for the call.
	Store string

	// DefaultCR creates the template's default custom resource with the first installation; CR creates the given one instead.
	DefaultCR bool
	CR        *unstructured.Unstructured

	// Unmanaged accepts that a module that a Kyma could manage is installed without one.
	Unmanaged bool
	// AllowDowngrade accepts a version below the installed one.
	AllowDowngrade bool
	// AllowOtherContent accepts changed content under the same version.
	AllowOtherContent bool
	// Adopt takes over existing objects that no installation owns, such as those that kubectl, Helm or a Kyma installed and let go of.
	Adopt bool

	// Wait is how long to wait until everything is ready; 0 means not at all. When the rest is ready, the default custom resource is created,
	// and the objects that a new version no longer has are deleted: without Wait by a later call.
	Wait time.Duration
	// DryRun writes nothing: Report.Differences has the changes.
	DryRun bool
	// Progress receives each object as it is processed; may be nil.
	Progress func(installer.ObjectReport)
}

// Report is the result of a call.
type Report struct {
	// Module is its name, Type its type.
	Module string
	Type   modulestatus.Type
	// Version is the requested version; Previous is the version that was installed before, if any.
	Version, Previous string
	// Changed reports whether objects were written or deleted.
	Changed bool
	// Report of pkg/installer: state, reason and message, the objects, and the content to which the sources were resolved.
	installer.Report
	// Differences are what a dry run would change.
	Differences []apply.Difference
	// Blocking are the objects that block the deletion of the module; a dry run of Delete returns those that Cascade would delete first.
	Blocking []Resource
}

// Resource is an object that a user created with a module.
type Resource struct {
	inventory.ID
	// Version of its kind under which it was read, and UID of the object itself.
	Version, UID string
	// Deleting reports whether it is being deleted, and Finalizers are those that hold it.
	Deleting   bool
	Finalizers []string
}

// Removal describes a deletion. Config and Module are required.
type Removal struct {
	// Config connects to the cluster.
	Config *rest.Config
	// Module is its name.
	Module string
	// Keep lets go of the module instead of deleting it: everything that it consists of stays, without an owner, and only the record goes.
	// What users made with the module does not block that.
	Keep bool
	// Cascade deletes the objects of Previewed, waits until they are gone, and then continues. Any other object blocks the deletion.
	Cascade bool
	// Previewed are the Resources that Preview returned.
	Previewed []Resource
	// Wait is how long to wait until everything is gone; 0 means a single pass.
	Wait time.Duration
	// DryRun deletes nothing: the Report names the objects that would be deleted, or with Keep let go of.
	DryRun bool
	// Progress receives each object as it is processed; may be nil.
	Progress func(installer.ObjectReport)
}

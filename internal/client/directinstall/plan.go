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

// Access is how to get into registries and web servers. It is component.Access, without the OCM library behind it.
type Access struct {
	// Credentials returns what to log in with at host; nil means anonymous.
	Credentials func(ctx context.Context, host string) (auth.Credential, error)
	// Policy returns what is special about a host; nil means nothing.
	Policy func(host string) content.HostPolicy
	// Mapping is how component names become repositories; empty means descriptor.URLPath.
	Mapping descriptor.Mapping
	// PlainHTTP speaks http instead of https, to every host. Without it, Policy says so of a host; addresses in templates do not.
	PlainHTTP bool
}

// Component names a component version in a registry.
type Component struct {
	// Registry is host[:port][/path]; a scheme in front of it counts for nothing.
	Registry string
	// Name of the component; empty means that of Plan.Release.
	Name string
	// Version of the component; empty means that of Plan.Template.
	Version string
}

// Plan is what a cluster is to have. Template and Config are required.
type Plan struct {
	// Config reaches the cluster.
	Config *rest.Config
	// Template is the module in one version. One with a namespace lies in the cluster: it is missed there when it is gone.
	Template *v1beta2.ModuleTemplate
	// Origin is the catalog that Template came from, for the record; nil means none.
	Origin *modulestatus.Origin
	// Release is the module's ModuleReleaseMeta, where it has one: such a module can be managed.
	Release *v1beta2.ModuleReleaseMeta

	// Sources are the content itself, if the caller has it. They come before Component, and that before the template's link.
	Sources []installer.Source
	// Component is where the content lies; nil means what the descriptor in the template says, or its link rawManifest.
	Component *Component
	// Access to registry or link.
	Access Access
	// Signatures returns what is asked of the signatures of a component, and by "" of what is part of none; nil asks for nothing.
	Signatures func(component string) *descriptor.SignaturePolicy
	// Store is a folder that keeps what is fetched; empty means one that lasts as long as the call.
	Store string

	// DefaultCR creates the template's default custom resource with the first installation; CR creates this one instead.
	DefaultCR bool
	CR        *unstructured.Unstructured

	// Unmanaged accepts that a module which a Kyma could manage is installed without one.
	Unmanaged bool
	// AllowDowngrade accepts a version below the installed one.
	AllowDowngrade bool
	// AllowOtherContent accepts other content than before under the same version.
	AllowOtherContent bool
	// Adopt takes over existing objects without an owner mark.
	Adopt bool

	// Wait is how long to wait until everything is ready; 0 means not at all. The default custom resource is created when the rest is
	// ready, and what a new version drops goes then: without Wait by a later call.
	Wait time.Duration
	// DryRun writes nothing: Report.Differences says what would be written.
	DryRun bool
	// Progress is told of objects as it happens; may be nil.
	Progress func(installer.ObjectReport)
}

// Report is what a call found and did.
type Report struct {
	// Module is its name, Type whose it is.
	Module string
	Type   modulestatus.Type
	// Version was requested; Previous is the one that was installed before, if any.
	Version, Previous string
	// Changed reports whether objects were written or deleted.
	Changed bool
	// Report of the engine: state, reason and message, the objects, and which content the sources were resolved to.
	installer.Report
	// Differences are what a dry run would change.
	Differences []apply.Difference
	// Blocking are the objects that keep the module from being deleted; those that a dry run of Delete would delete first with Cascade.
	Blocking []Resource
}

// Resource is an object that a user created with a module.
type Resource struct {
	inventory.ID
	// Version of its kind under which it is read, and UID of the object itself.
	Version, UID string
	// Deleting reports whether it is on its way out, and Finalizers what it waits for.
	Deleting   bool
	Finalizers []string
}

// Removal is what to delete. Config and Module are required.
type Removal struct {
	// Config reaches the cluster.
	Config *rest.Config
	// Module is its name.
	Module string
	// Cascade deletes the objects of Previewed, waits until they are gone, and then continues. Everything else blocks.
	Cascade bool
	// Previewed are Resources as Preview told them.
	Previewed []Resource
	// Wait is how long to wait until everything is gone; 0 means that one pass is made.
	Wait time.Duration
	// DryRun deletes nothing: the Report names what would be deleted.
	DryRun bool
	// Progress is told of objects as it happens; may be nil.
	Progress func(installer.ObjectReport)
}

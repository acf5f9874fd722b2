package modulestatus

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Module is one module as lists show it. The names of the JSON fields are a contract.
type Module struct {
	Name string `json:"name"`
	// Kyma that has the module, as NAMESPACE/NAME; empty for a module without one.
	Kyma string `json:"kyma,omitempty"`
	Type Type   `json:"type"`
	// State is the whole in one word: the worst of module and installation.
	State State `json:"state"`
	// Since is when it was Ready last, or was made or asked for; nil for one that is Ready and where nothing tells.
	Since *metav1.Time `json:"-"`
	// Channel that the version comes from; empty for a pinned version and for modules without a channel.
	Channel string `json:"channel,omitempty"`
	// ChannelOverridden reports whether the module follows another channel than its Kyma.
	ChannelOverridden bool         `json:"channelOverridden"`
	Version           Version      `json:"version"`
	Module            Condition    `json:"module"`
	Installation      Installation `json:"installation"`
	// Managed is false for what the lifecycle manager does not look after.
	Managed bool                         `json:"managed"`
	Policy  v1beta2.CustomResourcePolicy `json:"policy,omitempty"`
	Beta    bool                         `json:"beta"`
	// Mandatory modules come by themselves.
	Mandatory bool `json:"mandatory"`
	// Maintenance is true while an upgrade waits for a maintenance window.
	Maintenance bool `json:"maintenance"`
	// Suspended reports whether the lifecycle manager was told to leave the module, or its Kyma, alone for a while.
	Suspended bool   `json:"suspended,omitempty"`
	Signed    Signed `json:"signed"`
	// Resource is the module's own custom resource: the default one, or the worst of those that there are.
	Resource *Ref `json:"resource,omitempty"`
	// Template that the version was taken from, and TemplateVersion is the version that it describes: it may be refused while
	// another one runs.
	Template        *Key   `json:"template,omitempty"`
	TemplateVersion string `json:"-"`
	// Manifest that installs the module, or Record of a direct installation.
	Manifest *Key `json:"manifest,omitempty"`
	Record   *Key `json:"record,omitempty"`
	// Origin is the address of the catalog that a direct installation came from.
	Origin string `json:"origin,omitempty"`
}

// Type says who looks after a module.
type Type string

// The types.
const (
	// Managed modules are an entry of a Kyma.
	Managed Type = "managed"
	// Manageable modules are offered by a release or marked as managed by the lifecycle manager, and not in a Kyma.
	Manageable Type = "manageable"
	// Community modules are all others.
	Community Type = "community"
)

// State is how a module's custom resources, or the whole, stand.
type State string

// The states, from good to bad; see worse.
const (
	Ready         State = "Ready"
	Unmanaged     State = "Unmanaged"
	NotConfigured State = "NotConfigured"
	Processing    State = "Processing"
	Deleting      State = "Deleting"
	Unknown       State = "Unknown"
	Warning       State = "Warning"
	Error         State = "Error"
)

// Condition is how a module's custom resources stand.
type Condition struct {
	State   State  `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Phase is how the installation of a module stands.
type Phase string

// The phases of an installation.
const (
	NotInstalled Phase = "NotInstalled"
	Installing   Phase = "Installing"
	Installed    Phase = "Installed"
	Upgrading    Phase = "Upgrading"
	// Removing is called Deleting, as the state of the same name.
	Removing Phase = "Deleting"
	Failed   Phase = "Failed"
	// LetGo is called Unmanaged: the objects keep running, unmanaged.
	LetGo Phase = "Unmanaged"
	// Orphaned objects have no template any more.
	Orphaned Phase = "Orphaned"
	// Obscure is called Unknown: it could not be read, and the message says why.
	Obscure Phase = "Unknown"
)

// Installation is how the installation of a module stands.
type Installation struct {
	State   Phase  `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Progress counts objects, applied of all, such as "3/7", while something is under way.
	Progress string `json:"progress,omitempty"`
	// BlockedBy says what keeps a deletion from continuing.
	BlockedBy []string `json:"blockedBy,omitempty"`
	// Warning reports whether it runs, but not as it was requested.
	Warning bool `json:"warning,omitempty"`
	// Unready reports whether all of it was brought up, and an object of it or its custom resource is not ready now.
	Unready bool `json:"unready,omitempty"`
}

// Version of a module: what is requested, what runs, what could be had.
type Version struct {
	Desired   string `json:"desired,omitempty"`
	Installed string `json:"installed,omitempty"`
	// Running is the version of the object that runs the module's operator, where that is another one than Installed.
	Running   string `json:"running,omitempty"`
	Available string `json:"available,omitempty"`
	// Outdated reports whether Available is newer than Installed.
	Outdated bool `json:"outdated"`
	// Mismatch reports whether Installed is not Desired.
	Mismatch bool `json:"mismatch"`
}

// Signed says whether the content of a module was verified.
type Signed struct {
	// State is one of Verified, Missing, Invalid, Untrusted, Revoked, Incomplete, and Unknown when nothing here tells.
	State string `json:"state"`
	// By names the signers: the subjects of their certificates, or the fingerprints of their keys.
	By string `json:"by,omitempty"`
	// Message says why the state is not Verified.
	Message string `json:"message,omitempty"`
	// Digest is that of the part of the component's descriptor that is signed.
	Digest string `json:"digest,omitempty"`
	// Signers made the signatures, and At is when that was found out.
	Signers []v1beta2.SignerStatus `json:"signers,omitempty"`
	At      *metav1.Time           `json:"at,omitempty"`
}

// The states of Signed.
const (
	SignatureVerified  = "Verified"
	SignatureMissing   = "Missing"
	SignatureInvalid   = "Invalid"
	SignatureUntrusted = "Untrusted"
	// SignatureRevoked: the key that signed was revoked.
	SignatureRevoked = "Revoked"
	// SignatureIncomplete: the signature holds and does not cover everything that is installed.
	SignatureIncomplete = "Incomplete"
	SignatureUnknown    = "Unknown"
)

// Ref points to an object of any kind.
type Ref struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// String returns how the reference is written in messages: "Sample kyma-system/default".
func (r Ref) String() string { return r.Kind + " " + Key{r.Namespace, r.Name}.String() }

// Key is the name of an object whose kind is clear.
type Key struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String is NAMESPACE/NAME, or NAME without a namespace.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

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
	// State is the overall state: the worst of module and installation.
	State State `json:"state"`
	// Since is when it was last Ready, or was created or requested; nil if it is Ready or the time is unknown.
	Since *metav1.Time `json:"-"`
	// Channel that the version comes from; empty for a pinned version and for modules without a channel.
	Channel string `json:"channel,omitempty"`
	// Release is the KymaRelease that says which version it has; empty where a channel or its entry does.
	Release string `json:"release,omitempty"`
	// ChannelOverridden reports whether the module follows another channel than its Kyma.
	ChannelOverridden bool         `json:"channelOverridden"`
	Version           Version      `json:"version"`
	Module            Condition    `json:"module"`
	Installation      Installation `json:"installation"`
	// Managed is false for modules that the lifecycle manager does not manage.
	Managed bool                         `json:"managed"`
	Policy  v1beta2.CustomResourcePolicy `json:"policy,omitempty"`
	Beta    bool                         `json:"beta"`
	// HasValues reports whether the module's entry in the Kyma sets values.
	HasValues bool `json:"hasValues,omitempty"`
	// Mandatory modules are installed automatically.
	Mandatory bool `json:"mandatory"`
	// Maintenance is true while an upgrade waits for a maintenance window.
	Maintenance bool `json:"maintenance"`
	// Offered is the version that waits until a rollout lets the Kyma have it; empty if none does.
	Offered string `json:"offered,omitempty"`
	// Pending is the version that waits for consent, and what it asks for; nil if none does.
	Pending *v1beta2.PendingVersion `json:"pending,omitempty"`
	// ConsentHere reports whether the consent of the user of this very Kyma is missing.
	ConsentHere bool `json:"consentHere,omitempty"`
	// Suspended reports whether a label suspends the reconciliation of the module or its Kyma.
	Suspended bool   `json:"suspended,omitempty"`
	Signed    Signed `json:"signed"`
	// Resource is the module's own custom resource: the default one, or the worst of several.
	Resource *Ref `json:"resource,omitempty"`
	// Template of the version, and TemplateVersion is the version that it describes: that may be refused while another one runs.
	Template        *Key   `json:"template,omitempty"`
	TemplateVersion string `json:"-"`
	// Manifest that installs the module, or Record of a direct installation.
	Manifest *Key `json:"manifest,omitempty"`
	Record   *Key `json:"record,omitempty"`
	// Origin is the address of the catalog that a direct installation came from.
	Origin string `json:"origin,omitempty"`
	// Cause is why it is not Ready. Only what explains single modules fills it in.
	Cause *Cause `json:"cause,omitempty"`
}

// Type is the kind of management of a module.
type Type string

// The types.
const (
	// Managed modules have an entry in a Kyma.
	Managed Type = "managed"
	// Manageable modules are offered by a release or marked as managed by the lifecycle manager, and are not in a Kyma.
	Manageable Type = "manageable"
	// Community modules are all others.
	Community Type = "community"
)

// State is the state of a module or of its custom resources.
type State string

// The states, roughly from good to bad; severity has the order.
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

// Condition is the state of a module's custom resources.
type Condition struct {
	State   State  `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Phase is the phase of a module's installation.
type Phase string

// The phases of an installation.
const (
	NotInstalled Phase = "NotInstalled"
	Installing   Phase = "Installing"
	Installed    Phase = "Installed"
	Upgrading    Phase = "Upgrading"
	// Removing has the value Deleting, like the state of that name.
	Removing Phase = "Deleting"
	Failed   Phase = "Failed"
	// LetGo has the value Unmanaged: the objects keep running without management.
	LetGo Phase = "Unmanaged"
	// Orphaned objects no longer have a template.
	Orphaned Phase = "Orphaned"
	// Obscure has the value Unknown: the installation could not be read, and the message gives the reason.
	Obscure Phase = "Unknown"
)

// Installation is the state of a module's installation.
type Installation struct {
	State   Phase  `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Progress is the number of applied objects and of all objects, such as "3/7", during a change.
	Progress string `json:"progress,omitempty"`
	// BlockedBy lists what blocks a deletion.
	BlockedBy []string `json:"blockedBy,omitempty"`
	// Warning reports whether the module runs, but not as requested.
	Warning bool `json:"warning,omitempty"`
	// Unready reports whether everything was applied, but an object or the custom resource is not ready now.
	Unready bool `json:"unready,omitempty"`
}

// Version has the requested, the installed and the available version of a module.
type Version struct {
	Desired   string `json:"desired,omitempty"`
	Installed string `json:"installed,omitempty"`
	// Running is the version of the object that runs the module's operator, if it differs from Installed.
	Running   string `json:"running,omitempty"`
	Available string `json:"available,omitempty"`
	// Outdated reports whether Available is newer than Installed.
	Outdated bool `json:"outdated"`
	// Mismatch reports whether Installed differs from Desired.
	Mismatch bool `json:"mismatch"`
}

// Signed is the result of the signature verification of a module's content.
type Signed struct {
	// State is one of Verified, Missing, Invalid, Untrusted, Revoked, Incomplete, and Unknown if there is no result.
	State string `json:"state"`
	// By names the signers: the subjects of their certificates, or the fingerprints of their keys.
	By string `json:"by,omitempty"`
	// Message is why the state is not Verified.
	Message string `json:"message,omitempty"`
	// Digest is the digest of the signed part of the component descriptor.
	Digest string `json:"digest,omitempty"`
	// Signers made the signatures, and At is the time of the verification.
	Signers []v1beta2.SignerStatus `json:"signers,omitempty"`
	At      *metav1.Time           `json:"at,omitempty"`
}

// The states of Signed.
const (
	SignatureVerified  = "Verified"
	SignatureMissing   = "Missing"
	SignatureInvalid   = "Invalid"
	SignatureUntrusted = "Untrusted"
	// SignatureRevoked: the signing key was revoked.
	SignatureRevoked = "Revoked"
	// SignatureIncomplete: the signature is valid, but does not cover all installed content.
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

// String returns the reference as written in messages: "Sample kyma-system/default".
func (r Ref) String() string { return r.Kind + " " + Key{r.Namespace, r.Name}.String() }

// Key is the name of an object whose kind is known.
type Key struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String returns NAMESPACE/NAME, or NAME without a namespace.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

package modulestatus

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// The record of a direct installation is that of pkg/installer, with a label and an annotation of ours.
const (
	// LabelDirect is on every Secret of the record; its value is the name of the module.
	LabelDirect = v1beta2.OperatorPrefix + "direct-install"
	// AnnotationDirect holds a DirectNote as JSON.
	AnnotationDirect = v1beta2.OperatorPrefix + "direct-install"
	// DirectNamespace is the namespace of the records.
	DirectNamespace = v1beta2.RuntimeNamespace
)

// DirectNote is the part of a direct installation's record besides the inventory: everything that status and deletion require when template
// and source are gone.
type DirectNote struct {
	// Version that is installed, or being installed when it is not Complete.
	Version string `json:"version"`
	// Before is the version that was complete before; empty at the first installation.
	Before string `json:"before,omitempty"`
	// Complete reports whether everything of Version was applied and became ready at least once.
	Complete bool `json:"complete,omitempty"`
	// Deleting reports that the deletion of the module was requested.
	Deleting bool `json:"deleting,omitempty"`
	// Disowning reports that the module is being let go of: what it consists of stays, and the record goes.
	Disowning bool `json:"disowning,omitempty"`
	// Trouble is the error of the last installation; empty when it succeeded.
	Trouble string `json:"trouble,omitempty"`
	// Type of the module when it was installed.
	Type Type `json:"type"`
	// Unmanaged reports that a manageable module was installed without the lifecycle manager on purpose.
	Unmanaged bool `json:"unmanaged,omitempty"`
	// Channel that offered the version, if any.
	Channel string `json:"channel,omitempty"`
	// Template that was installed.
	Template Key `json:"template,omitzero"`
	// Source is the origin of the content, such as a component reference or a link, with its digest.
	Source string `json:"source,omitempty"`
	// Origin is the catalog that Template came from; nil without one, and in older records.
	Origin *Origin `json:"origin,omitempty"`
	// Signed is the result of the signature verification.
	Signed Signed `json:"signed,omitzero"`
	// Manager is the object that runs the module's operator.
	Manager *v1beta2.Manager `json:"manager,omitempty"`
	// Resource is the default custom resource.
	Resource *Ref `json:"resource,omitempty"`
	// Associated are the kinds of objects that users create with the module.
	Associated []metav1.GroupVersionKind `json:"associatedResources,omitempty"`
	// StateChecks map values in the default custom resource to its state.
	StateChecks []v1beta2.CustomStateCheck `json:"customStateCheck,omitempty"`
}

// Direct is a module that was installed without the lifecycle manager, as its record describes it.
type Direct struct {
	DirectNote
	// Module by name.
	Module string
	// Record is the Secret with the index of the record.
	Record Key
	// Inventory lists the installed objects; an entry without a hash is only planned.
	Inventory []inventory.Entry
	// Unreadable is why the record cannot be read; empty when it can.
	Unreadable string
}

// Labels returns the labels of the record of a direct installation.
func (DirectNote) Labels(module string) map[string]string {
	return map[string]string{LabelDirect: module}
}

// Annotations returns the annotations of the record of a direct installation.
func (n DirectNote) Annotations() (map[string]string, error) {
	text, err := json.Marshal(n)
	return map[string]string{AnnotationDirect: string(text)}, err
}

// DirectOf reads the module and the DirectNote of a record. The caller adds the inventory.
func DirectOf(record metav1.Object) Direct {
	d := Direct{
		Module: record.GetLabels()[LabelDirect],
		Record: Key{Namespace: record.GetNamespace(), Name: record.GetName()},
	}
	text := record.GetAnnotations()[AnnotationDirect]
	if err := json.Unmarshal([]byte(text), &d.DirectNote); err != nil {
		d.Unreadable = fmt.Sprintf("annotation %s of Secret %s is no JSON: %v", AnnotationDirect, d.Record, err)
	}
	return d
}

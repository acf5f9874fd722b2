package installable

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// A module is installed by a Manifest or directly, and each of them marks objects under a key of its own. So each must also know the mark
// of the other: what that one has is not without an owner.
const (
	// DirectPrefix precedes the name of a module in the name of its direct installation.
	DirectPrefix = "module-"
	// FieldManagerDirect is the field manager of direct installations.
	FieldManagerDirect = "kyma-direct"
)

// DirectOwner returns the owner mark of a direct installation.
func DirectOwner(module string) string { return v1beta2.RuntimeNamespace + "/" + DirectPrefix + module }

// ClaimedDirectly says, for a Manifest, which direct installation an object belongs to; "" for none. Marks of other installations of
// pkg/installer do not count: they are those of operators, whose objects a later version of a module may bring itself.
func ClaimedDirectly(object *unstructured.Unstructured) string {
	module, direct := strings.CutPrefix(object.GetAnnotations()[installer.DefaultOwnerKey], DirectOwner(""))
	if !direct {
		return ""
	}
	return fmt.Sprintf("module %[1]q, which was installed directly (kyma add %[1]s --adopt hands it over to a Kyma, and kyma delete %[1]s "+
		"--keep-resources lets go of it)", module)
}

// ClaimedByManifest says, for a direct installation, which Manifest an object belongs to; "" for none. A Manifest that lets go of an object
// leaves its owner mark there, and takes away the label.
func ClaimedByManifest(object *unstructured.Unstructured) string {
	owner := object.GetAnnotations()[v1beta2.AnnotationOwnedBy]
	if owner == "" || object.GetLabels()[v1beta2.LabelManagedBy] != v1beta2.ManagedByKyma {
		return ""
	}
	return fmt.Sprintf("the Manifest %q (kyma delete --keep-resources takes its module out of the Kyma and lets go of it)", owner)
}

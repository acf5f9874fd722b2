package module

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

const (
	kindKyma     = "Kyma"
	kindManifest = "Manifest"
	kindTemplate = "ModuleTemplate"
	// installName is the component's resource that holds the module's objects, and upstream's name of the installation.
	installName = "raw-manifest"
)

// wanted returns the Manifest that a verdict with a template requires, complete for a server-side apply. An existing one keeps its name,
// even when the component was renamed: another name would mean another owner of all installed objects.
func wanted(kyma *v1beta2.Kyma, v *Verdict) *v1beta2.Manifest {
	manifest := &v1beta2.Manifest{
		TypeMeta: metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: kindManifest},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       kyma.Namespace,
			Name:            ManifestName(kyma.Name, v.ComponentName, v.Module),
			Labels:          wantedLabels(kyma, v),
			Annotations:     wantedAnnotations(kyma, v),
			OwnerReferences: []metav1.OwnerReference{ownerReference(kyma)},
			Finalizers:      []string{v1beta2.FinalizerManifest, v1beta2.FinalizerLabelRemoval},
		},
	}
	if have := v.Manifest; have != nil {
		manifest.Name, manifest.UID, manifest.ResourceVersion = have.Name, have.UID, have.ResourceVersion
		if plan := have.Annotations[v1beta2.AnnotationPlan]; plan != "" && have.Status.ObservedGeneration <= 0 {
			manifest.Annotations[v1beta2.AnnotationPlan] = plan // it names what an interrupted pass may have applied
		}
		// Finalizers are set at creation only. Afterwards an apply repeats those that are left: it would remove one that it did not name.
		manifest.Finalizers = slices.DeleteFunc(manifest.Finalizers, func(finalizer string) bool {
			return !slices.Contains(have.Finalizers, finalizer)
		})
	}
	manifest.Spec = wantedSpec(kyma, v, manifest.Name)
	return manifest
}

func wantedLabels(kyma *v1beta2.Kyma, v *Verdict) map[string]string {
	labels := map[string]string{
		v1beta2.LabelKymaName:   kyma.Name,
		v1beta2.LabelModuleName: v.Module,
		v1beta2.LabelManagedBy:  v1beta2.ManagedByLifecycleManager,
	}
	if v.Channel != "" {
		labels[v1beta2.LabelChannel] = v.Channel
	}
	if v.Mandatory {
		labels[v1beta2.LabelMandatoryModule] = v1beta2.EnabledValue
	}
	if controller := v.Template.Labels[v1beta2.LabelControllerName]; controller != "" {
		labels[v1beta2.LabelControllerName] = controller
	}
	return labels
}

func wantedAnnotations(kyma *v1beta2.Kyma, v *Verdict) map[string]string {
	annotations := map[string]string{
		v1beta2.AnnotationOCMComponentName: v.ComponentName,
		v1beta2.AnnotationFQDN:             v.ComponentName,
	}
	annotateBack(v, annotations)
	annotateDeadline(kyma, v, annotations)
	annotateReadiness(kyma, v, annotations)
	if v.Manual {
		annotations[v1beta2.AnnotationUpgradeStrategy] = string(v1beta2.UpgradeManual)
	}
	if len(v.Requires) > 0 {
		annotations[v1beta2.AnnotationRequires] = requirements.FormatList(v.Requires)
	}
	return annotations
}

func ownerReference(kyma *v1beta2.Kyma) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion:         v1beta2.GroupVersion.String(),
		Kind:               kindKyma,
		Name:               kyma.Name,
		UID:                kyma.UID,
		Controller:         &yes,
		BlockOwnerDeletion: &yes,
	}
}

func wantedSpec(kyma *v1beta2.Kyma, v *Verdict, name string) v1beta2.ManifestSpec {
	return v1beta2.ManifestSpec{
		Remote:               kyma.Spec.Remote == nil || *kyma.Spec.Remote,
		CustomResourcePolicy: cmp.Or(v.Policy, v1beta2.CustomResourcePolicyCreateAndDelete),
		Version:              v.Version,
		Install: v1beta2.InstallInfo{
			Name:   installName,
			Source: runtime.RawExtension{Raw: encodeSource(v.Source)},
		},
		Resource:           defaultResource(v, name),
		LocalizedImages:    slices.Clone(v.LocalizedImages),
		Manager:            v.Template.Spec.Manager.DeepCopy(),
		AdditionalInstalls: slices.Clone(v.Extras.Additional),
		Config:             v.Extras.Config.DeepCopy(),
		CRDs:               v.Extras.CRDs.DeepCopy(),
		AllowCRDChanges:    allowedChanges(v),
		CustomStateCheck:   slices.Clone(v.Template.Spec.CustomStateCheck),
		KymaValues:         v.Values.DeepCopy(),

		AssociatedResources: slices.Clone(v.Template.Spec.AssociatedResources),
		ServiceAccountName:  installingAccount(kyma, v),
	}
}

// installingAccount returns the ServiceAccount that installs a module: the Kyma's, which says for whom it is installed, before the
// template's. Mandatory modules are no request of the Kyma.
func installingAccount(kyma *v1beta2.Kyma, v *Verdict) string {
	if v.Mandatory {
		return v.Template.Spec.ServiceAccountName
	}
	return cmp.Or(kyma.Spec.ServiceAccountName, v.Template.Spec.ServiceAccountName)
}

// allowedChanges returns the CRD safety rules that an upgrade may break according to the template or the Kyma's entry, each once.
func allowedChanges(v *Verdict) []v1beta2.CRDRule {
	allowed := slices.Concat(v.Template.Spec.AllowCRDChanges, v.AllowCRDChanges)
	slices.Sort(allowed)
	return slices.Compact(allowed)
}

// defaultResource returns the module's default CR, nil when it has none. The policy Ignore does not matter here: the CR is not created
// then, but objects of its kind must be looked for before the module is removed, or a user's custom resources would be deleted with their
// definition.
func defaultResource(v *Verdict, manifest string) *unstructured.Unstructured {
	data := v.Template.Spec.Data
	if data == nil || len(data.Object) == 0 {
		return nil
	}
	resource := data.DeepCopy()
	resource.SetName(cmp.Or(resource.GetName(), manifest))
	if v.Template.Annotations[v1beta2.AnnotationIsClusterScoped] == v1beta2.EnabledValue {
		unstructured.RemoveNestedField(resource.Object, "metadata", "namespace")
	} else {
		resource.SetNamespace(cmp.Or(resource.GetNamespace(), v1beta2.RuntimeNamespace))
	}
	return resource
}

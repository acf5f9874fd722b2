package directinstall

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// fieldManager is the field manager of direct installations.
	fieldManager = installable.FieldManagerDirect
	// prefix distinguishes installations of modules from other installations of pkg/installer in the same namespace.
	prefix = installable.DirectPrefix
	// patience is how long it may take to record a failure, which is done even after the caller gave up.
	patience = 10 * time.Second
	// maxTrouble is the maximum length of that record.
	maxTrouble = 1024
)

// job is one call about one module.
type job struct {
	module  string
	cluster *installer.Cluster
	record  *installer.Record // nil when the module is not installed
	note    modulestatus.DirectNote
}

// open connects to the cluster and reads the record.
func open(ctx context.Context, config *rest.Config, module string) (*job, error) {
	if len(validation.IsDNS1035Label(module)) > 0 {
		return nil, refuse(ReasonPlanInvalid, "%q is no name of a module: it has lower case letters, digits and '-'", module)
	}
	cluster, err := installer.Connect(config)
	if err != nil {
		return nil, refuse(ReasonPlanInvalid, "%w", err)
	}
	j := &job{module: module, cluster: cluster}
	return j, j.read(ctx)
}

func (j *job) read(ctx context.Context) error {
	record, err := installer.Recorded(ctx, j.installation())
	if err != nil || record == nil {
		return err
	}
	told := modulestatus.DirectOf(&metav1.ObjectMeta{Labels: record.Labels, Annotations: record.Annotations})
	if told.Unreadable != "" {
		return refuse(installer.ReasonInventoryUnreadable, "module %s: %s", j.module, told.Unreadable)
	}
	j.record, j.note = record, told.DirectNote
	return nil
}

// installation returns an Installation that only identifies the module.
func (j *job) installation() installer.Installation {
	return installer.Installation{
		Name: prefix + j.module, Namespace: modulestatus.DirectNamespace, Cluster: j.cluster, FieldManager: fieldManager,
		RecordLabels: j.note.Labels(j.module), Claim: installable.ClaimedByManifest, Predecessors: []string{v1beta2.FieldManagerModule},
	}
}

// owner returns the owner mark of a module's objects.
func owner(module string) string { return installable.DirectOwner(module) }

// installed returns the last version that was complete.
func (j *job) installed() string {
	if j.record == nil || j.note.Complete {
		return j.note.Version
	}
	return j.note.Before
}

// identify returns the module and the version of a Plan.
func identify(plan *Plan) (module, version string, err error) {
	template := plan.Template
	if plan.Config == nil || template == nil {
		return "", "", refuse(ReasonPlanInvalid, "a Plan needs Config and Template")
	}
	module, version = template.ModuleName(), template.Spec.Version
	if module == "" {
		return "", version, refuse(ReasonPlanInvalid, "the ModuleTemplate %s names no module: set spec.moduleName", template.Name)
	}
	if _, err := semver.NewVersion(version); err != nil {
		return module, version, refuse(ReasonPlanInvalid, "the ModuleTemplate %s has no version that can be compared (%q): set spec.version",
			template.Name, version)
	}
	return module, version, nil
}

// annotate writes to the record the version that is being installed, and, once it is ready, that it is complete.
func (c *installing) annotate(inst *installer.Installation) error {
	spec := &c.plan.Template.Spec
	note := modulestatus.DirectNote{
		Version: c.version, Complete: true, Type: c.kind, Unmanaged: c.kind == modulestatus.Manageable,
		Source: c.loaded.source, Origin: c.plan.Origin, Signed: c.loaded.signed, Manager: spec.Manager,
		Associated: spec.AssociatedResources, StateChecks: spec.CustomStateCheck,
	}
	if of := c.plan.Template; of.Namespace != "" { // a template from a file is in no cluster, so it cannot be missing
		note.Template = modulestatus.Key{Namespace: of.Namespace, Name: of.Name}
	}
	if data := spec.Data; data != nil {
		note.Resource = &modulestatus.Ref{
			APIVersion: data.GetAPIVersion(), Kind: data.GetKind(), Namespace: data.GetNamespace(), Name: data.GetName(),
		}
	}
	var err error
	if inst.RecordWhenReady, err = note.Annotations(); err != nil {
		return err
	}
	if c.note.Complete && c.note.Version == note.Version && c.note.Source == note.Source {
		return nil // restoring the same version is no new installation
	}
	note.Complete, note.Before = false, c.installed()
	for _, gvk := range c.note.Associated { // objects that users made with the previous version block a deletion as well
		if !slices.Contains(note.Associated, gvk) {
			note.Associated = append(slices.Clone(note.Associated), gvk)
		}
	}
	inst.RecordAnnotations, err = note.Annotations()
	return err
}

// trouble records why an installation failed. It returns the given error, joined with one that prevented the record.
func (c *installing) trouble(ctx context.Context, failed error) error {
	if failed == nil || c.plan.DryRun || ReasonOf(failed) == installer.ReasonRecordConflict {
		return failed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	now := &job{module: c.module, cluster: c.cluster}
	if err := now.read(ctx); err != nil || now.record == nil {
		return failed // it is more useful than the error of the read
	}
	text := failed.Error()
	now.note.Trouble = text[:min(len(text), maxTrouble)]
	annotations, err := now.note.Annotations()
	if err != nil {
		return errors.Join(failed, err)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err == nil {
		secrets := c.cluster.Dynamic.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(modulestatus.DirectNamespace)
		_, _ = secrets.Patch(ctx, "manifest."+prefix+c.module, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	}
	return failed
}

// others returns the records of other modules that are installed directly.
func (j *job) others(ctx context.Context) (map[string]*installer.RecordOf, error) {
	var secrets corev1.SecretList
	if err := j.list(ctx, &secrets); err != nil {
		return nil, err
	}
	records := installer.Records(secrets.Items)
	others := make(map[string]*installer.RecordOf, len(records))
	for i := range records {
		if records[i].Owner != owner(j.module) {
			others[records[i].Owner] = &records[i]
		}
	}
	return others, nil
}

// share lets modules have objects in common, such as a definition or a namespace: the first module owns them, and when it is deleted, it
// hands them over to one of the others.
func (j *job) share(ctx context.Context, inst *installer.Installation) error {
	others, err := j.others(ctx)
	if err != nil {
		return err
	}
	inst.Relation = relation(others)
	inst.Successor = func(id inventory.ID) string {
		heirs := make([]string, 0, len(others))
		for mark, other := range others {
			if slices.ContainsFunc(other.Entries, func(entry inventory.Entry) bool { return entry.ID == id }) {
				heirs = append(heirs, mark)
			}
		}
		if len(heirs) == 0 {
			return ""
		}
		return slices.Min(heirs)
	}
	return nil
}

// ours reports whether an owner mark is that of a direct installation.
func ours(mark string) bool { return strings.HasPrefix(mark, owner("")) }

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

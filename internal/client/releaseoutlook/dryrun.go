package releaseoutlook

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimedryrun"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Answer is what a cluster says to a version by dry runs, against what stands there.
type Answer struct {
	// Kyma whose cluster was asked.
	Kyma string `json:"kyma"`
	// Objects that would be created, changed or refused; Unchanged counts the others.
	Objects   []Answered `json:"objects,omitempty"`
	Unchanged int        `json:"unchanged"`
	Refused   int        `json:"refused"`
	// Caveats say how the version is rendered otherwise than by the lifecycle manager; those of versioncontent.Version.
	Caveats []string `json:"-"`
}

// Answered is what a cluster would do with one object.
type Answered struct {
	inventory.ID

	Change apply.Change           `json:"change"`
	Fields []releasepreview.Field `json:"fields,omitempty"`
	// Note explains the change, or why it would be refused.
	Note string `json:"note,omitempty"`
}

// Runtime is a Kyma whose cluster is asked.
type Runtime struct {
	Hub       client.Client
	HubConfig *rest.Config
	Kyma      *v1beta2.Kyma
}

// Ask asks the cluster of a Kyma what it would do with a version, by dry runs: nothing is written. It renders charts for that cluster.
func Ask(
	ctx context.Context, at Runtime, loader *versioncontent.Loader, release *v1beta2.ModuleReleaseMeta, template *v1beta2.ModuleTemplate,
) (Answer, error) {
	made := Answer{Kyma: client.ObjectKeyFromObject(at.Kyma).String()}
	config, err := runtimeaccess.Cluster(ctx, at.Hub, at.HubConfig, at.Kyma)
	if err != nil {
		return made, err
	}
	manifest, err := ManifestOf(ctx, at.Hub, at.Kyma, release.Name)
	if err != nil {
		return made, err
	}
	if manifest == nil {
		manifest = &v1beta2.Manifest{}
		manifest.Namespace = at.Kyma.Namespace
		manifest.Name = module.ManifestName(at.Kyma.Name, release.Spec.OCMComponentName, release.Name)
		manifest.Spec.Manager = template.Spec.Manager
	}
	known, err := versioncontent.CapabilitiesOf(config)
	if err != nil {
		return made, fmt.Errorf("the runtime of Kyma %s does not say what it serves: %w", made.Kyma, err)
	}
	next := NextManifest(ctx, at.Hub, at.Kyma, release.Name, manifest)
	version, err := loader.WithCapabilities(known).LoadFor(ctx, release, template, next)
	if err != nil {
		return made, err
	}
	found, err := runtimedryrun.Ask(ctx, runtimedryrun.Question{
		Config: config, Module: release.Name, Manifest: manifest, Objects: version.Objects, AllowCRDChanges: template.Spec.AllowCRDChanges,
	})
	if err != nil {
		return made, fmt.Errorf("the dry run in the runtime of Kyma %s: %w", made.Kyma, err)
	}
	made.Caveats = version.Caveats
	made.add(found, fielddiff.SecretsOf(version.Secrets...))
	return made, nil
}

// add adds what the cluster said, without the values of Secrets of the hub, which it cannot tell from others.
func (a *Answer) add(found []apply.Difference, secrets fielddiff.Secrets) {
	for _, difference := range found {
		if difference.Change == apply.ChangeUnchanged || difference.Change == "" {
			a.Unchanged++
			continue
		}
		if difference.Change == apply.ChangeRefused {
			a.Refused++
		}
		one := Answered{ID: difference.ID, Change: difference.Change, Note: difference.Note}
		if difference.Err != nil {
			one.Note = difference.Err.Error()
		}
		one.Note = secrets.Hide(one.Note)
		for _, field := range difference.Fields {
			shown := releasepreview.Field{Path: field.Path, From: secrets.Hide(field.From), To: secrets.Hide(field.To)}
			one.Fields = append(one.Fields, shown)
		}
		a.Objects = append(a.Objects, one)
	}
}

// ManifestOf returns the Manifest of a module of a Kyma; nil when there is none. Who may only get what the status names can, too.
func ManifestOf(ctx context.Context, hub client.Reader, kyma *v1beta2.Kyma, name string) (*v1beta2.Manifest, error) {
	if status := modulestatus.StatusOf(kyma, name); status != nil && status.Manifest != nil && status.Manifest.Name != "" {
		named := &v1beta2.Manifest{}
		err := hub.Get(ctx, client.ObjectKey{Namespace: kyma.Namespace, Name: status.Manifest.Name}, named)
		if err == nil && named.DeletionTimestamp == nil {
			return named, nil
		}
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("the Manifest of module %s cannot be read: %w", name, err)
		}
	}
	var found v1beta2.ManifestList
	err := hub.List(ctx, &found, client.InNamespace(kyma.Namespace),
		client.MatchingLabels{v1beta2.LabelKymaName: kyma.Name, v1beta2.LabelModuleName: name})
	if err != nil {
		return nil, fmt.Errorf("the Manifest of module %s cannot be read: %w", name, err)
	}
	for i := range found.Items {
		if m := &found.Items[i]; m.DeletionTimestamp == nil && module.KymaName(m) == kyma.Name {
			return m, nil
		}
	}
	return nil, nil //nolint:nilnil // it is not installed
}

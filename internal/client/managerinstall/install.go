package managerinstall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

const (
	// recordName and recordNamespace identify the inventory, which is not in the installed namespace, since that is deleted in the end.
	recordName      = "lifecycle-manager"
	recordNamespace = metav1.NamespaceSystem
	fieldManager    = "kyma-install"
	definitionKind  = "CustomResourceDefinition"
	goneInterval    = 500 * time.Millisecond
	// mostNamed is how many objects a message names; the rest are counted.
	mostNamed = 5
)

// Installation describes what Install installs.
type Installation struct {
	Config *rest.Config
	// Objects are those of Render, or some of them.
	Objects []*unstructured.Unstructured
	// AllowCRDChanges names the rules of pkg/crdsafety that a change of a definition may break.
	AllowCRDChanges []string
	// Wait is how long to wait until everything is ready; 0 means not at all.
	Wait time.Duration
}

// Install makes the cluster hold the objects. A repetition changes nothing.
func Install(ctx context.Context, i Installation) (installer.Report, error) {
	return installer.Install(ctx, i.declared())
}

// Diff returns what Install would change.
func Diff(ctx context.Context, i Installation) ([]apply.Difference, error) {
	return installer.Diff(ctx, i.declared())
}

func (i Installation) declared() installer.Installation {
	inst := record(i.Config)
	inst.Wait, inst.AllowCRDChanges = i.Wait, i.AllowCRDChanges
	// Objects that "make deploy" or kubectl created have no owner, and are taken over.
	inst.Ownership = apply.AdoptIfUnowned
	var others []*unstructured.Unstructured
	for _, object := range i.Objects {
		if object.GetKind() == definitionKind {
			inst.CRDs = append(inst.CRDs, object)
		} else {
			others = append(others, object)
		}
	}
	inst.Sources = []installer.Source{installer.Objects("lifecycle-manager", others...)}
	return inst
}

// record returns the installation as the inventory identifies it.
func record(config *rest.Config) installer.Installation {
	return installer.Installation{Name: recordName, Namespace: recordNamespace, Config: config, FieldManager: fieldManager}
}

// Leftover lists the remaining objects of one of our kinds.
type Leftover struct {
	// Kind of the objects, and their names as namespace/name.
	Kind  string
	Names []string
}

// String returns text for a sentence: 2 Kymas (a/b, c/d).
func (l Leftover) String() string {
	names := strings.Join(l.Names[:min(len(l.Names), mostNamed)], ", ")
	if len(l.Names) > mostNamed {
		names += ", ..."
	}
	plural := "s"
	if len(l.Names) == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d %s%s (%s)", len(l.Names), l.Kind, plural, names)
}

// kinds are ours, in the order of their deletion: each is deleted while the objects that its deletion requires still exist.
var kinds = []string{"Kyma", "KymaRelease", "Manifest", "ModuleReleaseMeta", "ModuleRollout", "ModuleTemplate"}

// InUseError reports that definitions with remaining objects are not removed.
type InUseError struct{ Objects []Leftover }

// Error names the objects.
func (e *InUseError) Error() string {
	return "the cluster still has " + leftoverText(e.Objects) + ", which would go with their definitions"
}

func leftoverText(all []Leftover) string {
	words := make([]string, len(all))
	for i := range all {
		words[i] = all[i].String()
	}
	return strings.Join(words, ", ")
}

// Objects returns the objects of our kinds in a cluster. A kind that is not served has none; one that may not be read is an error.
func Objects(ctx context.Context, c client.Reader) ([]Leftover, error) {
	var found []Leftover
	for _, kind := range kinds {
		names, err := namesOf(ctx, c, kind)
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			found = append(found, Leftover{Kind: kind, Names: names})
		}
	}
	return found, nil
}

func namesOf(ctx context.Context, c client.Reader, kind string) ([]string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind + "List"))
	err := c.List(ctx, list)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot see whether there is a %s: %w", kind, err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Namespace+"/"+list.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}

// Removal describes what Uninstall removes.
type Removal struct {
	Config *rest.Config
	Client client.Client
	// Cascade first deletes the objects of our kinds: Kymas with their modules, while the manager still runs.
	Cascade bool
	// Wait is how long to wait for each kind, and for the manager.
	Wait time.Duration
	// Report receives what Uninstall is waiting for.
	Report func(key, state, text string)
}

// Uninstall removes what Install installed.
//
//  1. objects of our kinds block it with an *InUseError, and nothing changes
//  2. with Cascade, the running manager deletes them kind by kind, each before the next
//  3. the manager, its rights and the definitions are removed
func Uninstall(ctx context.Context, r Removal) (installer.Report, error) {
	objects, err := Objects(ctx, r.Client)
	if err != nil {
		return installer.Report{}, err
	}
	if len(objects) > 0 && !r.Cascade {
		return installer.Report{}, &InUseError{Objects: objects}
	}
	for _, left := range objects {
		if err := r.cascade(ctx, left.Kind); err != nil {
			return installer.Report{}, err
		}
	}
	inst := record(r.Config)
	inst.Wait = r.Wait
	return installer.Uninstall(ctx, inst)
}

// cascade deletes the objects of one kind and waits until they are gone.
func (r Removal) cascade(ctx context.Context, kind string) error {
	last := &InUseError{}
	err := wait.PollUntilContextTimeout(ctx, goneInterval, max(r.Wait, goneInterval), true, func(ctx context.Context) (bool, error) {
		names, err := namesOf(ctx, r.Client, kind)
		if err != nil || len(names) == 0 {
			return err == nil, err
		}
		last.Objects = []Leftover{{Kind: kind, Names: names}}
		r.Report(strings.ToLower(kind), "Deleting", leftoverText(last.Objects))
		return false, r.deleteAll(ctx, kind, names)
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("%w: they are being deleted, and not gone after %s; does the manager run?", errors.Join(last, err), r.Wait)
	}
	return err
}

func (r Removal) deleteAll(ctx context.Context, kind string, names []string) error {
	for _, key := range names {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind))
		object.Namespace, object.Name, _ = strings.Cut(key, "/")
		if err := r.Client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("cannot delete %s %s: %w", kind, key, err)
		}
	}
	return nil
}

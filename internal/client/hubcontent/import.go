package hubcontent

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// parallel is how many objects are written at a time.
const parallel = 8

// ImportOptions say how content is brought to a hub.
type ImportOptions struct {
	// Overwrite replaces objects that differ; without it, one that differs refuses the import before anything is written.
	Overwrite bool
	// TakeOver is the hub that the Kymas take their runtimes over from; empty: they take over none.
	TakeOver string
	// Suspended leaves everything suspended that the manager acts on. The next import without it ends that.
	Suspended bool
	// DryRun writes nothing.
	DryRun bool
	// Progress is told how far a phase of the import is; may be nil.
	Progress func(phase string, done, total int)
}

// Item is what became of one object.
type Item struct {
	ID

	Action Action `json:"action"`
	// Fields are those that differ.
	Fields []string `json:"fields,omitempty"`
	// TakesOver is true for a Kyma that was told to take its runtime over.
	TakesOver bool `json:"takesOver,omitempty"`
}

// ConflictError means that a hub has objects that differ from those of an import.
type ConflictError struct{ Items []Item }

// Error names the first of them.
func (e *ConflictError) Error() string {
	named := make([]string, len(e.Items))
	for i, item := range e.Items {
		named[i] = fmt.Sprintf("%s (%s)", item.ID, fewest(item.Fields))
	}
	return "the hub has other content, so nothing was written: " + fewest(named)
}

// importing is one run of Import.
type importing struct {
	ImportOptions
	client client.Client
	steps  []*step
	// uids are the UIDs of Kymas and ModuleRollouts here, by what they were there. They are read only once the waves are written.
	uids map[string]string
}

// Import brings content to a hub:
//
//  1. It is compared with what the hub has. What differs, or a right that is missing, refuses everything before anything is written.
//  2. Its objects are written wave after wave, and those that the manager acts on are suspended and marked.
//  3. Those get their status.
//  4. The suspension ends: of each Kyma and its Manifests, then of rollouts.
//
// The next import continues from the marks. The result says what became of each object, or what would.
func Import(ctx context.Context, c client.Client, content *Content, options ImportOptions) ([]Item, error) {
	live, err := readLive(ctx, c, content)
	if err != nil {
		return nil, err
	}
	sortObjects(content.Objects)
	i := &importing{ImportOptions: options, client: c, uids: map[string]string{}}
	if i.steps, err = compile(content, live); err != nil {
		return nil, err
	}
	if err := i.decide(ctx); err != nil {
		return nil, err
	}
	items := i.items()
	if differing := slices.DeleteFunc(slices.Clone(items), func(item Item) bool { return item.Action != Differs }); len(differing) > 0 {
		return items, &ConflictError{differing}
	}
	if err := i.checkRights(ctx); err != nil || i.DryRun {
		return items, err
	}
	return items, i.write(ctx)
}

// readLive reads what the hub has of the content: our kinds page by page, the others by name.
func readLive(ctx context.Context, from client.Reader, content *Content) (map[ID]*unstructured.Unstructured, error) {
	live, listed := map[ID]*unstructured.Unstructured{}, map[ID]bool{}
	for _, o := range content.Objects {
		kind := o.GroupVersionKind()
		if kind.Group == corev1.GroupName {
			found, err := getOne(ctx, from, kind, client.ObjectKeyFromObject(o))
			if apierrors.IsForbidden(err) && kind.Kind == kindNamespace {
				found, err = o.DeepCopy(), nil // those who may not see namespaces do not make any
			}
			if err != nil {
				return nil, err
			}
			if found != nil {
				live[idOf(o)] = found
			}
			continue
		}
		if of := (ID{Kind: kind.Kind, Namespace: o.GetNamespace()}); !listed[of] {
			listed[of] = true
			found, err := listAll(ctx, from, kind, []string{o.GetNamespace()})
			if err != nil {
				return nil, err
			}
			for _, object := range found {
				live[idOf(object)] = object
			}
		}
	}
	return live, nil
}

// decide sets all actions.
func (i *importing) decide(ctx context.Context) error {
	for _, s := range i.steps {
		s.decide(i.Overwrite)
		if len(s.differs) > 0 && s.live.GetDeletionTimestamp() == nil && !s.strayed() {
			same, err := i.defaulted(ctx, s)
			if err != nil {
				return err
			}
			if same {
				s.differs, s.action = nil, Unchanged
				if isPending(s.live) {
					s.action = Continued
				}
			}
		}
		s.takesOver = i.takeOver(s)
	}
	return nil
}

// defaulted reports whether an object differs by nothing but the defaults of a definition: the API server is asked what it would make of
// it. What it refuses differs.
func (i *importing) defaulted(ctx context.Context, s *step) (bool, error) {
	if s.want.GroupVersionKind().Group == corev1.GroupName {
		return false, nil
	}
	merged := merge(s.want, s.live)
	if err := i.client.Update(ctx, merged, client.DryRunAll, client.FieldOwner(fieldManager)); err != nil {
		return false, ctx.Err()
	}
	return len(differences(merged, s.live)) == 0, nil
}

// takeOver returns the hub that a Kyma takes its runtime over from. One that is active does so only where the runtime is another hub's.
func (i *importing) takeOver(s *step) string {
	if i.Suspended || s.id.Kind != kindKyma || !isRemote(s.want) || !synced(s.want) {
		return ""
	}
	if s.pending() || s.live != nil && readyReason(s.live) == v1beta2.ReasonRuntimeClaimed {
		return i.TakeOver
	}
	return ""
}

func readyReason(o *unstructured.Unstructured) string {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, condition := range all {
		if fields, ok := condition.(map[string]any); ok && fields["type"] == v1beta2.ConditionReady {
			reason, _ := fields["reason"].(string)
			return reason
		}
	}
	return ""
}

func (i *importing) items() []Item {
	items := make([]Item, 0, len(i.steps))
	for _, s := range i.steps {
		items = append(items, Item{ID: s.id, Action: s.action, Fields: s.differs, TakesOver: s.takesOver != ""})
	}
	return items
}

// write carries out the steps.
func (i *importing) write(ctx context.Context) error {
	for at, w := range waves {
		var of []*step
		for _, s := range i.steps {
			if is, _ := waveOf(s.want); is == at && s.writes() {
				of = append(of, s)
			}
		}
		if err := i.each(ctx, w.name, of, i.put); err != nil {
			return err
		}
		for _, s := range i.steps {
			if from := originOf(s.want).uid; s.live != nil && from != "" && (s.id.Kind == kindKyma || s.id.Kind == kindRollout) {
				i.uids[from] = string(s.live.GetUID())
			}
		}
	}
	pending := i.filter(func(s *step) bool { return s.pending() && s.want.Object["status"] != nil })
	if err := i.each(ctx, "statuses", pending, i.putStatus); err != nil || i.Suspended {
		return err
	}
	return i.release(ctx)
}

// filter returns the steps that a function chooses.
func (i *importing) filter(chosen func(*step) bool) []*step {
	return slices.DeleteFunc(slices.Clone(i.steps), func(s *step) bool { return !chosen(s) })
}

// each does something about some steps, several at a time. The first failure ends it.
func (i *importing) each(ctx context.Context, phase string, steps []*step, do func(context.Context, *step) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	var done atomic.Int64
	for _, s := range steps {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(ctx, s); err != nil {
				return err
			}
			if now := int(done.Add(1)); i.Progress != nil {
				i.Progress(phase, now, len(steps))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("%s, %d of %d done: %w", phase, done.Load(), len(steps), err)
	}
	return nil
}

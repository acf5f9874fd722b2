package installer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// AnnotationSkipDeleteHooks with the value "true" on the Secret of a record lets Uninstall run no hooks. A caller sets it by
// Installation.RecordAnnotations.
const AnnotationSkipDeleteHooks = "operator.kyma-project.io/skip-delete-hooks"

// maxRemoval bounds the hooks of the removal in a record, which share a Secret with its entries.
const maxRemoval = 256 << 10

// release is what the record says of the hooks of a source.
type release struct {
	Source   string         `json:"source"`
	Progress hooks.Progress `json:"progress"`
	// Removal has the objects of the hooks of the removal, so that this needs no source.
	Removal json.RawMessage `json:"removal,omitempty"`
}

func (r release) equal(other release) bool {
	return r.Source == other.Source && r.Progress == other.Progress && bytes.Equal(r.Removal, other.Removal)
}

// removal returns the hooks of the removal.
func (r release) removal() (hooks.Set, error) {
	if len(r.Removal) == 0 {
		return nil, nil
	}
	var objects []*unstructured.Unstructured
	if err := json.Unmarshal(r.Removal, &objects); err != nil {
		return nil, fmt.Errorf("the hooks of the removal of source %s cannot be read", r.Source)
	}
	return hooks.Of(objects), nil
}

// progressIn returns what some releases say of the hooks of a source, nil when that is nothing.
func progressIn(releases []release, source string) *hooks.Progress {
	at := slices.IndexFunc(releases, func(r release) bool { return r.Source == source })
	if at < 0 {
		return nil
	}
	progress := releases[at].Progress
	return &progress
}

// beginReleases finds out how far the hooks of what is declared have got.
func (c *call) beginReleases(ctx context.Context) error {
	var begun engine.Releases
	var recorded []release
	size := 0
	for i := range c.parts {
		part, set := &c.parts[i], hooks.Of(c.order.Hooks[i])
		declared := slices.Concat(slices.Concat(part.Steps...), part.Hooks)
		name := hooks.ReleaseOf(part.Namespace, declared)
		installed, err := c.installedBefore(ctx, i)
		if err != nil {
			return err
		}
		progress := set.Begin(c.progressOf(part.Name), name, hooks.Situation{Installed: installed})
		if progress == nil {
			continue
		}
		begun = append(begun, &engine.Release{Name: part.Name, Part: i, Set: set, Progress: *progress})
		known := release{Source: part.Name, Progress: *progress}
		if objects := set.OfDeletion(); len(objects) > 0 {
			if known.Removal, err = json.Marshal(objects); err != nil {
				return invalidContent("the hooks of the removal of source %s cannot be written as JSON: %w", part.Name, err)
			}
		}
		recorded, size = append(recorded, known), size+len(known.Removal)
	}
	if size > maxRemoval {
		return &content.Error{Reason: content.ReasonContentTooLarge, Err: fmt.Errorf(
			"the hooks of the removal have %d bytes, and the record holds %d at most: make their objects smaller", size, maxRemoval)}
	}
	c.releases, c.record.releases = begun, recorded
	return nil
}

// progressOf returns how far the hooks of a source have got, nil where it had none. What was removed in part is installed anew.
func (c *call) progressOf(source string) *hooks.Progress {
	known := progressIn(c.record.releases, source)
	if known != nil && known.Event.OfDeletion() {
		return &hooks.Progress{Revision: known.Revision, Event: hooks.PreInstall}
	}
	return known
}

// installedBefore reports whether objects that a part declares were installed before its hooks are known of: by this installation, when
// the part had none, or by another installer, whose place this one takes.
func (c *call) installedBefore(ctx context.Context, part int) (bool, error) {
	recorded := c.declaredBefore(part)
	if recorded || len(c.order.Hooks[part]) == 0 || c.inst.Ownership == apply.Prevent || c.progressOf(c.parts[part].Name) != nil {
		return recorded, nil
	}
	return c.order.TakesOver(ctx, part, c.adoptable)
}

// declaredBefore reports whether this installation has applied objects that a part declares.
func (c *call) declaredBefore(part int) bool {
	return slices.ContainsFunc(c.record.entries, func(entry inventory.Entry) bool {
		return entry.Hash != "" && !entry.IsHook() && c.order.Declares(entry.ID) && c.order.Stage(entry.ID).Part == part
	})
}

// adoptable reports whether an object is there to be taken over. One that another owner has is refused when its turn comes, with all
// others.
func (c *call) adoptable(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	live, err := c.read(ctx, object.GroupVersionKind(), inventory.IDOf(object))
	if err != nil || live == nil {
		return false, err
	}
	adopts, _ := c.options().Adopts(live)
	return adopts, nil
}

// beginRemoval takes the hooks of the removal from the record.
func (c *call) beginRemoval() error {
	c.releases = nil
	if c.record.marks.annotations[AnnotationSkipDeleteHooks] == "true" {
		return nil
	}
	for i, known := range c.record.releases {
		set, err := known.removal()
		if err != nil {
			return c.record.unreadable(c.record.name, err)
		}
		if len(set) > 0 {
			c.releases = append(c.releases, &engine.Release{Name: known.Source, Part: i, Set: set, Progress: known.Progress})
		}
	}
	return nil
}

// noteReleases puts into the record how far the hooks have got.
func (c *call) noteReleases() {
	noted := slices.Clone(c.record.releases)
	for i := range noted {
		for _, release := range c.releases {
			if release.Name == noted[i].Source {
				noted[i].Progress = release.Progress
			}
		}
	}
	c.record.releases = noted
}

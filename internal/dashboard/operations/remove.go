package operations

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// remove plans to delete a module: from its Kyma, or where it was installed directly.
//
//  1. A mandatory module is not deleted.
//  2. A module that only the runtime's user requests must be deleted there.
//  3. A module that the Kyma requests, or still has, is deleted by the Kyma.
//  4. A module that is installed directly, in the cluster of the Kyma or in the user's own, is deleted directly.
//  5. Any other module is gone.
func (p *planner) remove(ctx context.Context) (*plan, error) {
	if p.deed.Kyma == "" {
		at, err := p.where(ctx, "")
		if err != nil {
			return nil, err
		}
		return p.removeDirectly(ctx, at)
	}
	s, err := p.open(ctx, p.deed.Kyma)
	if err != nil {
		return nil, err
	}
	name := p.deed.Module
	switch {
	case s.Offers[name].Mandatory:
		return &plan{way: string(modulestatus.Blocked), refused: refuse(WhyRefused, "module %s is mandatory: every Kyma has it", name)}, nil
	case s.Theirs(name):
		return &plan{way: string(modulestatus.Blocked), refused: refuse(WhyRefused,
			"Kyma %s does not ask for module %s: the user of its runtime does, and must delete it there, in Kyma %s/%s",
			s.Key(), name, v1beta2.RuntimeNamespace, v1beta2.RuntimeKymaName)}, nil
	case s.Has(name), s.StatusOf(name) != nil:
		return p.removeEntry(ctx, s)
	}
	c, err := s.modules(ctx)
	switch {
	case err == nil:
	case runtimeaccess.ReasonOf(err) != "": // no cluster that is visible from here has it
		return gone(name), nil
	default:
		return nil, err
	}
	return p.removeDirectly(ctx, &place{cluster: c, scene: s})
}

func gone(name string) *plan {
	step, why := modulestatus.NextToDelete(modulestatus.DeleteInput{Module: name})
	return &plan{way: string(step), why: why}
}

// removeEntry plans to remove a module from a Kyma, with the modules that need it if those were named, and with the objects that users made
// with them if those were shown.
func (p *planner) removeEntry(ctx context.Context, s *hubContext) (*plan, error) {
	name, leaving := p.deed.Module, p.departure(s)
	made := &plan{elsewhere: !s.Here(), dependents: leaving.dependents}
	c, err := s.modules(ctx)
	var found []Blocking
	var unread []modulestatus.Unread
	switch {
	case err == nil:
		found, unread = s.madeWith(ctx, c, leaving.names)
	case runtimeaccess.ReasonOf(err) == "" || s.Here():
		return nil, err
	case p.deed.Cascade:
		made.way = string(modulestatus.Blocked)
		return made.refuse(refuse(WhyBlocked, "the users' objects of module %s cannot be deleted with it: %s", name, err)), nil
	default:
		made.warnings = append(made.warnings, fmt.Sprintf("the users' objects of the module cannot be listed: %s. The lifecycle manager "+
			"looks for it in the runtime, and removes the module only when its custom resources are gone", err))
	}
	p.decide(made, modulestatus.DeleteInput{Module: name, Managed: true, Unread: unread}, found)
	if leaving.refused != nil {
		made.refused = leaving.refused
	}
	if made.refusal() != "" {
		return made, nil
	}
	for _, one := range leaving.names {
		made.warnings = append(made.warnings, s.aboutPolicy(one)...)
	}
	if len(found) > 0 {
		made.steps = append(made.steps, p.cascade(s, c, leaving.names, found))
	}
	change := &change{hubContext: s, ask: waitfor.Options{Timeout: p.options.Patience}, edit: func(spec *v1beta2.KymaSpec) error {
		for _, one := range leaving.names {
			kymaedit.Disable(spec, one)
		}
		return nil
	}, wants: func(*v1beta2.KymaSpec) (wants []waitfor.Expectation) {
		for _, one := range leaving.names {
			wants = append(wants, waitfor.Expectation{Module: one, Gone: true})
		}
		return wants
	}}
	title := "Remove " + few(leaving.names) + " from Kyma " + p.deed.Kyma
	steps := change.steps(title, "Wait until the lifecycle manager has removed it")
	if !p.start {
		removed, warnings := s.removals(ctx, leaving.names)
		made.warnings = append(made.warnings, warnings...)
		steps[len(steps)-1].try = func(context.Context) ([]Change, error) { return removed, nil }
	}
	made.steps = append(made.steps, steps...)
	return made, nil
}

// aboutPolicy explains what happens to the default custom resource.
func (s *hubContext) aboutPolicy(name string) []string {
	entry := kymaedit.Entry(&s.Asked, name)
	switch {
	case entry == nil:
		return nil
	case !kymaedit.IsManaged(entry):
		return []string{fmt.Sprintf("%s is not managed: all of its objects stay in the cluster", name)}
	case entry.CustomResourcePolicy == v1beta2.CustomResourcePolicyIgnore:
		return []string{fmt.Sprintf("the policy of %s is Ignore: its custom resources are yours, and are not deleted with it", name)}
	}
	return []string{fmt.Sprintf("the policy of %s is CreateAndDelete: the lifecycle manager deletes its default custom resource, too", name)}
}

// decide gets the next step from the flowchart of package modulestatus, and records what blocks it.
func (p *planner) decide(made *plan, leaving modulestatus.DeleteInput, found []Blocking) {
	leaving.Resources, leaving.Cascade = refs(found), p.deed.Cascade
	next, why := modulestatus.NextToDelete(leaving)
	made.way, made.why, made.blocking = string(next), inWords(why), found
	if next == modulestatus.Blocked {
		made.refused = blocked(found, "module %s cannot be deleted: %s", leaving.Module, made.why)
	}
	if next == modulestatus.DeleteResources && p.start {
		if left := notShown(found, p.deed.Previewed); len(left) > 0 {
			made.refused = blocked(left, "module %s cannot be deleted: these objects came after the preview: %s", leaving.Module, listed(left))
		}
	}
}

// listed names some objects.
func listed(blocking []Blocking) string {
	var names []string
	for i := range blocking {
		names = append(names, blocking[i].Ref.String())
	}
	return few(names)
}

// cascade returns the step that deletes the shown objects, each by its UID, and waits until all of them are gone. Newer objects stay, and
// end the operation: the operator must be there for them.
func (p *planner) cascade(s *hubContext, c *cluster, names []string, found []Blocking) step {
	return step{
		title: fmt.Sprintf("Delete the users' objects of %s", few(names)),
		try: func(ctx context.Context) ([]Change, error) {
			all := []Change{}
			for i := range found {
				change := Change{Object: found[i].Ref, Change: apply.ChangeDelete, Fields: []Field{}}
				if err := c.delete(ctx, &found[i], client.DryRunAll); err != nil {
					change.Change, change.Error = apply.ChangeRefused, errorText(err)
				}
				all = append(all, change)
			}
			return all, nil
		},
		do: func(ctx context.Context, r *reporter) error {
			if err := c.deleteAll(ctx, r, found, p.options.Patience); err != nil {
				return err
			}
			left, unread := s.madeWith(ctx, c, names)
			if len(unread) > 0 {
				return refuse(WhyBlocked, "what the module would leave behind cannot be seen: %s", unread[0].Message())
			}
			if len(left) > 0 {
				return blocked(left, "these objects came after the preview: %s", listed(left))
			}
			return nil
		},
	}
}

// delete deletes one object, unless another one has replaced it.
func (c *cluster) delete(ctx context.Context, b *Blocking, options ...client.DeleteOption) error {
	object := &unstructured.Unstructured{} // the response for an object with finalizers is the whole object, not only metadata
	object.SetAPIVersion(b.Ref.APIVersion)
	object.SetKind(b.Ref.Kind)
	object.SetNamespace(b.Ref.Namespace)
	object.SetName(b.Ref.Name)
	err := c.Delete(ctx, object, append(options, client.Preconditions{UID: &b.UID})...)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) { // gone; another one of its name was not shown
		return nil
	}
	return err
}

func (c *cluster) deleteAll(ctx context.Context, r *reporter, found []Blocking, patience time.Duration) error {
	var leaving []waitfor.Object
	names := map[string]modulestatus.Ref{}
	for i := range found {
		ref := found[i].Ref
		if err := c.delete(ctx, &found[i]); err != nil {
			r.object(ref, "Failed", errorText(err))
			return err
		}
		object := waitfor.Object{
			Kind: schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind), Key: client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name},
			UID: found[i].UID,
		}
		names[object.String()] = ref
		leaving = append(leaving, object)
		r.object(ref, string(v1beta2.StateDeleting), "")
	}
	limited, done := context.WithTimeout(ctx, patience)
	defer done()
	last := waitfor.Progress{}
	err := waitfor.AwaitGone(limited, c.WithWatch, leaving, func(line waitfor.Progress) {
		last = line
		r.object(names[line.Key], string(line.State), line.Text)
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return refuse(WhyBlocked, "%s is still there after %s: %s", last.Key, patience, last.Text)
	}
	return err
}

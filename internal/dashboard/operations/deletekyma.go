package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize/english"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// deleteKyma plans to delete a Kyma with all its modules:
//
//  1. one that is gone already is no failure, so that the operation can be resumed
//  2. the copy that a hub keeps is not deleted here: the hub would write it again
//  3. what users made with its modules is listed: the deletion waits until they have deleted it
//  4. the user types the name of the Kyma
func (p *planner) deleteKyma(ctx context.Context) (*plan, error) {
	s, err := p.open(ctx, p.deed.Kyma)
	made := &plan{way: wayItself}
	if ReasonOf(err) == WhyNotFound {
		made.way, made.why = string(modulestatus.Gone), err.Error()
		return made, nil
	}
	if err != nil {
		return nil, err
	}
	if modulestatus.IsCopy(s.Kyma) {
		return made.refuse(refuse(WhyRefused, "Kyma %s is the copy that a hub keeps here: delete the Kyma on the hub", s.Key())), nil
	}
	made.confirm = s.Kyma.Name
	made.why = "its modules are removed first, and then the Kyma; " + s.leavesBehind()
	if s.Kyma.DeletionTimestamp != nil {
		made.confirm, made.why = "", "it is being deleted already"
	}
	s.warnOfDeletion(ctx, made)
	made.elsewhere = !s.Here()
	made.steps = []step{
		{title: "Delete the Kyma " + p.deed.Kyma, try: s.tryDelete, do: s.doDelete},
		{title: "Wait until the Kyma is gone", do: func(ctx context.Context, r *reporter) error { return s.awaitGone(ctx, r, p) }},
	}
	return made, nil
}

// leavesBehind says what becomes of the cluster.
func (s *hubContext) leavesBehind() string {
	if s.Here() {
		return "the cluster itself stays"
	}
	return "the cluster itself and its access Secret stay"
}

// warnOfDeletion fills in what stays, and what the deletion waits for.
func (s *hubContext) warnOfDeletion(ctx context.Context, made *plan) {
	var unmanaged []string
	for i := range s.Asked.Modules {
		if m := &s.Asked.Modules[i]; !kymaedit.IsManaged(m) {
			unmanaged = append(unmanaged, m.Name)
		}
	}
	if len(unmanaged) > 0 {
		made.warnings = append(made.warnings, fmt.Sprintf("%s: not managed, so that what they installed stays in the cluster", few(unmanaged)))
	}
	c, err := s.modules(ctx)
	if err != nil {
		made.warnings = append(made.warnings, s.unreachableDeletion(err))
		return
	}
	var names []string
	for i := range s.Kyma.Status.Modules {
		name := s.Kyma.Status.Modules[i].Name
		found, unread := s.made(ctx, c, name)
		if len(found) > 0 {
			names = append(names, name)
		}
		made.blocking = append(made.blocking, found[:min(len(found), mostBlocking)]...)
		for _, one := range unread {
			made.warn([]string{fmt.Sprintf("not everything that users made with %s is known: %s", name, one.Message())})
		}
	}
	if len(names) > 0 {
		var objects []string
		for i := range made.blocking {
			objects = append(objects, made.blocking[i].Ref.String())
		}
		made.warnings = append(made.warnings, fmt.Sprintf("the deletion waits until users have deleted what they made with %s: %s",
			few(names), few(objects)))
	}
}

// mostBlocking bounds how many objects of users a deletion lists for each module.
const mostBlocking = 20

// unreachableDeletion says what a deletion does without the cluster.
func (s *hubContext) unreachableDeletion(err error) string {
	switch runtimeaccess.ReasonOf(err) {
	case v1beta2.ReasonAccessSecretNotFound:
		return "nothing leads to its cluster: what runs there stays there"
	case runtimeaccess.WhyForbidden:
		return "you may not read its access Secret, so that it is not known here what users made with its modules: the deletion waits for that"
	}
	return fmt.Sprintf("its cluster cannot be looked at (%s): the deletion waits for it; if the cluster is gone, delete the access Secret",
		err)
}

// tryDelete shows what a deletion removes: the Kyma, and the modules that are there.
func (s *hubContext) tryDelete(ctx context.Context) ([]Change, error) {
	if s.Kyma.DeletionTimestamp == nil {
		if err := s.remove(ctx, client.DryRunAll); err != nil {
			return nil, err
		}
	}
	changes := []Change{{Object: kymaRef(s.Kyma), Change: apply.ChangeDelete, Fields: []Field{}}}
	for i := range s.Kyma.Status.Modules {
		m := &s.Kyma.Status.Modules[i]
		if entry := kymaedit.Entry(&s.Asked, m.Name); entry != nil && !kymaedit.IsManaged(entry) {
			continue
		}
		changes = append(changes, Change{
			Object: modulestatus.Ref{Kind: modulestatus.KindModule, Name: strings.TrimSpace(m.Name + " " + m.Version)},
			Change: apply.ChangeDelete, Fields: []Field{},
		})
	}
	return changes, nil
}

func (s *hubContext) doDelete(ctx context.Context, r *reporter) error {
	if err := s.remove(ctx); err != nil {
		return err
	}
	r.object(kymaRef(s.Kyma), string(v1beta2.StateDeleting), "")
	return nil
}

// remove deletes the very Kyma that was looked at; one that is gone is no error.
func (s *hubContext) remove(ctx context.Context, options ...client.DeleteOption) error {
	options = append(options, client.Preconditions{UID: &s.Kyma.UID})
	err := s.Delete(ctx, &v1beta2.Kyma{ObjectMeta: s.Kyma.ObjectMeta}, options...)
	return s.explain(client.IgnoreNotFound(err))
}

// awaitGone waits until the Kyma is gone. After that time, the error says what holds it.
func (s *hubContext) awaitGone(ctx context.Context, r *reporter, p *planner) error {
	bounded, done := context.WithTimeout(ctx, p.options.Patience)
	defer done()
	message := ""
	err := s.follow(bounded, func(kyma *v1beta2.Kyma) (bool, error) {
		if kyma == nil || kyma.UID != s.Kyma.UID {
			r.object(kymaRef(s.Kyma), string(waitfor.StateGone), "")
			return true, nil
		}
		if ready := meta.FindStatusCondition(kyma.Status.Conditions, v1beta2.ConditionReady); ready != nil {
			message = ready.Message
		}
		left := len(kyma.Status.Modules)
		r.say(strings.TrimSpace(english.Plural(left, "module is", "modules are") + " left"))
		r.object(kymaRef(kyma), string(v1beta2.StateDeleting), message)
		return false, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return refuse(WhyRefused, "Kyma %s is not gone after %s: %s; the deletion continues in the cluster, and resuming waits for it", s.Key(),
			p.options.Patience, message)
	}
	return err
}

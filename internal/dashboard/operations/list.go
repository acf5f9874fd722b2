package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// AccessChecker reports whether a user may do something.
type AccessChecker func(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error)

// entry is an operation, and what else is known of it.
type entry struct {
	Operation
	elsewhere bool
	here      []string
	// bare reports whether it was read from a record, which holds no custom resources.
	bare bool
}

// lost returns why an operation cannot be resumed by any user, and what to do instead; "" if it can.
func (known *entry) lost() string {
	if known.Deed.Kind == Connect {
		return fmt.Sprintf("the kubeconfig that %q needs is kept nowhere: connect the Kyma again with the kubeconfig", known.Title)
	}
	if !known.bare || !known.Deed.custom() {
		return ""
	}
	return fmt.Sprintf("the configuration that %q needs is not recorded, since it may be secret, and the dashboard that knew it has ended: "+
		"start it again with the configuration", known.Title)
}

// of returns why an operation failed, for the end of another sentence. The reason of an interruption or cancellation adds nothing there.
func of(op Operation) string {
	if op.State != Failed || op.Message == "" {
		return ""
	}
	return " (it failed: " + op.Message + ")"
}

// known returns all operations, of this server and of others, in no order:
//
//  1. recorded operations, as the record describes them
//  2. for those that this server carries out, its memory, which is newer, unless another server has written the record since
//  3. operations that are not recorded; one whose record is gone was removed from the list elsewhere
func (e *Engine) known() []entry {
	all := map[string]entry{}
	e.mutex.Lock()
	own := maps.Clone(e.own)
	e.mutex.Unlock()
	now := e.now()
	if e.records != nil {
		for _, r := range e.records.all() {
			all[r.ID] = entry{r.read(now, e.lapse), r.Elsewhere, r.Here, true}
			l, theirs := own[r.ID], r.Holder != e.holder
			atIt := r.State == Running && !r.lapsed(now, e.lapse)
			if l != nil && (!theirs || l.state() == Running && !atIt || l.wroteAfter(r.version)) {
				all[r.ID] = entry{l.operation(), l.elsewhere, l.here, false}
			}
		}
	}
	for id, l := range own {
		op := l.operation()
		gone := e.records != nil && e.records.store.HasSynced() && l.isRecorded() && op.Finished != nil && now.Sub(*op.Finished) > farewell
		if _, there := all[id]; !there && !gone {
			all[id] = entry{op, l.elsewhere, l.here, false}
		}
	}
	return slices.Collect(maps.Values(all))
}

func (e *Engine) mine(id string) *activeOperation {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.own[id]
}

// newest sorts operations of this server, newest first.
func newest(own map[string]*activeOperation) []*activeOperation {
	return slices.SortedFunc(maps.Values(own), func(a, b *activeOperation) int {
		return cmp.Or(b.op.Created.Compare(a.op.Created), cmp.Compare(a.op.ID, b.op.ID))
	})
}

// List returns the operations that the user may see, newest first.
func (e *Engine) List(ctx context.Context, as Actor) ([]Operation, error) {
	all := []Operation{}
	for _, known := range e.known() {
		sees, err := e.sees(ctx, as, &known.Operation)
		if err != nil {
			return nil, err
		}
		if sees {
			all = append(all, e.redactedFor(ctx, as, known))
		}
	}
	slices.SortFunc(all, func(a, b Operation) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID)) })
	return all, nil
}

// Get returns one operation; it is not found for users who may not see it.
func (e *Engine) Get(ctx context.Context, as Actor, id string) (Operation, error) {
	known, err := e.find(ctx, as, id)
	if err != nil {
		return Operation{}, err
	}
	return e.redactedFor(ctx, as, known), nil
}

func (e *Engine) find(ctx context.Context, as Actor, id string) (entry, error) {
	for _, known := range e.known() {
		if known.ID != id {
			continue
		}
		sees, err := e.sees(ctx, as, &known.Operation)
		if err != nil {
			return entry{}, err
		}
		if sees {
			return known, nil
		}
	}
	return entry{}, refuse(WhyNotFound, "there is no operation %.40q, or you may not see it", id)
}

// sees reports whether a user may see an operation: the user who started it may, and users who may read what it is about.
func (e *Engine) sees(ctx context.Context, as Actor, op *Operation) (bool, error) {
	if op.User == as.Name {
		return true, nil
	}
	return as.all(ctx, op.Deed.rights("get"))
}

// redactedFor returns an operation as a user may see it: its objects are shown to the user who started it and to users who may do the
// same, and objects in a runtime only to those of them who may read its access Secret.
func (e *Engine) redactedFor(ctx context.Context, as Actor, known entry) Operation {
	op, lost := known.Operation, known.lost()
	mayDo, err := as.all(ctx, op.Deed.rights("patch"))
	undone := op.State == Interrupted || op.State == Failed || op.State == Cancelled
	if undone && lost != "" {
		op.Message = lost + of(op)
	}
	op.Access = Access{
		Resume: undone && lost == "" && err == nil && mayDo,
		Cancel: op.State == Running && (op.User == as.Name || err == nil && mayDo),
	}
	if op.User != as.Name && (err != nil || !mayDo) {
		return op.outlined()
	}
	if !known.elsewhere {
		return op
	}
	var secrets []authorizationv1.ResourceAttributes
	for _, kyma := range op.Deed.kymas() {
		namespace, _, _ := strings.Cut(kyma, "/")
		secrets = append(secrets, authorizationv1.ResourceAttributes{Verb: "list", Resource: "secrets", Namespace: namespace})
	}
	if sees, err := as.all(ctx, secrets); err != nil || !sees {
		return op.outlined()
	}
	return op
}

// outlined returns an operation without details about objects: a user who may see a Kyma may see its modules, but not what users made
// with them. Sentences name such objects, too: only the first word of each step is left, which names the kind of step.
func (op Operation) outlined() Operation {
	op.Objects = slices.DeleteFunc(slices.Clone(op.Objects), func(o Object) bool {
		return o.Ref.Kind != modulestatus.KindModule && o.Ref.Kind != "Kyma"
	})
	op.Steps = slices.Clone(op.Steps)
	for i := range op.Steps {
		op.Steps[i].Title, _, _ = strings.Cut(op.Steps[i].Title, " ")
		op.Steps[i].Message = ""
	}
	op.Message, op.Deed.Confirmation, op.Changes = "", "", nil
	op.Deed.Previewed, op.Deed.Object = nil, nil
	op.Deed.Modules = slices.Clone(op.Deed.Modules)
	for i := range op.Deed.Modules {
		op.Deed.Modules[i].Resource = nil
	}
	return op
}

// rights returns the permissions for a request, by verb: get to see it, patch to carry it out. Those in a runtime are checked there.
func (d *Request) rights(verb string) []authorizationv1.ResourceAttributes {
	if verb != "get" && isOfKyma(d.Kind) {
		return d.rightsOfKyma()
	}
	var all []authorizationv1.ResourceAttributes
	need := func(group, resource, key string) {
		namespace, name, _ := strings.Cut(key, "/")
		all = append(all, authorizationv1.ResourceAttributes{
			Verb: verb, Group: group, Resource: resource, Namespace: namespace, Name: name,
		})
	}
	for _, kyma := range d.kymas() {
		need(v1beta2.GroupVersion.Group, "kymas", kyma)
	}
	if d.Rollout != "" {
		need(v1beta2.GroupVersion.Group, "modulerollouts", d.Rollout)
	}
	if d.Action == RolloutAbort && d.Version != "" { // it also sets the channel back
		need(v1beta2.GroupVersion.Group, "modulereleasemetas", d.Rollout)
	}
	if d.Release != "" {
		if verb == "patch" {
			verb = "update"
		}
		need(v1beta2.GroupVersion.Group, "modulereleasemetas", d.Release)
	}
	without := slices.ContainsFunc(d.Items, func(i Item) bool { return i.Kyma == "" })
	if len(all) == 0 || without { // modules that are installed directly: their records are Secrets
		need("", "secrets", modulestatus.DirectNamespace)
	}
	return all
}

// all reports whether the user has all permissions.
func (a Actor) all(ctx context.Context, rights []authorizationv1.ResourceAttributes) (bool, error) {
	for _, right := range rights {
		allowed, err := a.may(ctx, right)
		if err != nil || !allowed {
			return false, err
		}
	}
	return true, nil
}

// needs returns an error if the user lacks a permission.
func (a Actor) needs(ctx context.Context, deed *Request, title string) error {
	allowed, err := a.all(ctx, deed.rights("patch"))
	if err == nil && !allowed {
		err = refuse(WhyForbidden, "%s lacks the permission for %q: ask an administrator of the cluster for it", a.Name, title)
	}
	return err
}

// may reviews the access to the whole namespace before that to one name: the answer is the same for every object in it, and remembered
// once.
func (a Actor) may(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
	if what.Name != "" && what.Namespace != "" {
		all := what
		all.Name = ""
		if allowed, err := a.ask(ctx, all); allowed || err != nil {
			return allowed, err
		}
	}
	return a.ask(ctx, what)
}

func (a Actor) ask(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
	if a.May != nil {
		return a.May(ctx, what)
	}
	if a.Config == nil {
		return false, errors.New("there is no requesting user")
	}
	access, err := authorizationv1client.NewForConfig(a.Config)
	if err != nil {
		return false, err
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}
	review, err = access.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	return err == nil && review.Status.Allowed, err
}

// isOfKyma reports whether a request creates, connects or deletes a Kyma, for which other permissions are needed than for its edits.
func isOfKyma(kind Kind) bool { return kind == Create || kind == Connect || kind == DeleteKyma }

// rightsOfKyma returns the permissions to carry out such a request.
func (d *Request) rightsOfKyma() []authorizationv1.ResourceAttributes {
	namespace, name, _ := strings.Cut(d.Kyma, "/")
	kyma := authorizationv1.ResourceAttributes{Group: v1beta2.GroupVersion.Group, Resource: "kymas", Namespace: namespace}
	var all []authorizationv1.ResourceAttributes
	switch d.Kind {
	case Create:
		kyma.Verb = "create"
		all = append(all, kyma)
	case DeleteKyma:
		kyma.Verb, kyma.Name = "delete", name
		all = append(all, kyma)
	default: // a connection writes its Secret only
	}
	if d.Kubeconfig == nil {
		return all
	}
	for _, verb := range []string{"list", "create", "patch"} {
		all = append(all, authorizationv1.ResourceAttributes{Verb: verb, Resource: "secrets", Namespace: namespace})
	}
	return all
}

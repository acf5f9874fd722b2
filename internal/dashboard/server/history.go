package server

import (
	"context"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/history"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// historyList is a part of what happened to a Kyma or to one of its modules.
type historyList struct {
	List[history.Entry]

	// Horizon says how far back each source reaches.
	Horizon []string `json:"horizon"`
	// Who lists everything that the filter can be.
	Who []string `json:"who"`
}

// horizon says how far back the sources reach. Nothing is concluded about what lies behind it.
var horizon = []string{
	"Operations: the last hundred that this cluster's dashboards carried out.",
	"Edits: the last one of each client; the cluster records neither its user nor what was there before.",
	"Revisions: the last three of a module, the last that succeeded, and the last that failed.",
	"Conditions: when each became what it is now.",
	"Events: as long as the cluster keeps them, usually for an hour.",
	"Rollouts: the waves of the present version of the channel.",
}

// kymaHistory answers GET /api/v1/kymas/{ns}/{name}/history.
func (s *Server) kymaHistory(ctx context.Context, u *User, r *http.Request) (any, error) {
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	key := modulestatus.Key{Namespace: r.PathValue("ns"), Name: r.PathValue("name")}
	at, is := now.kymaAt[key]
	if !is {
		return nil, now.noKyma(u, key)
	}
	h := &historyOf{Server: s, user: u, now: now, kyma: &now.in.Kymas[at], unread: now.unread}
	for i := range now.modules {
		if m := &now.modules[i]; m.Kyma == key.String() {
			h.modules = append(h.modules, m)
		}
	}
	return h.answer(ctx, r)
}

// moduleHistory answers GET /api/v1/modules/{ns}/{kyma}/{name}/history.
func (s *Server) moduleHistory(ctx context.Context, u *User, r *http.Request) (any, error) {
	o, err := s.named(ctx, u, r)
	if err != nil {
		return nil, err
	}
	h := &historyOf{
		Server: s, user: u, now: o.now, kyma: o.kyma, modules: []*modulestatus.Module{o.module}, module: o.module.Name, unread: o.now.unread,
	}
	return h.answer(ctx, r)
}

// historyOf collects what happened to a Kyma, or to one module of it.
type historyOf struct {
	*Server

	user *User
	now  *snapshot
	// kyma is nil for a module whose Kyma is gone.
	kyma    *v1beta2.Kyma
	modules []*modulestatus.Module
	// module is the one that is asked for; empty for all.
	module string
	unread []Unread
}

func (h *historyOf) answer(ctx context.Context, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query, "kind", "who"); err != nil {
		return nil, err
	}
	p, err := pageOf(query)
	if err != nil {
		return nil, err
	}
	done, err := h.operations(ctx)
	if err != nil {
		return nil, err
	}
	all := history.Merge(kymaedit.FieldManager, done, h.edits(ctx), h.reported(), h.rollouts(), h.events(ctx))
	who := []string{}
	for i := range all {
		if all[i].Who != "" {
			who = append(who, all[i].Who)
		}
	}
	slices.Sort(who)
	all = slices.DeleteFunc(all, func(e history.Entry) bool {
		text := strings.ToLower(strings.Join([]string{e.What, e.Who, e.Module, e.Object, e.Reason, e.State}, " "))
		return !chosen(query, "kind", string(e.Kind)) || !chosen(query, "who", e.Who) || !p.has(text)
	})
	return historyList{List: listOf(all, p, h.unread), Horizon: horizon, Who: slices.Compact(who)}, nil
}

// id returns NAMESPACE/NAME of the Kyma, also of one that is gone.
func (h *historyOf) id() string {
	if h.kyma != nil {
		return keyOfKyma(h.kyma)
	}
	return h.modules[0].Kyma
}

// operations returns the operations about it that the user may see.
func (h *historyOf) operations(ctx context.Context) ([]history.Entry, error) {
	if h.tasks == nil {
		return nil, nil
	}
	list, err := h.tasks.List(ctx, actor(h.user))
	if err != nil {
		return nil, acted(err)
	}
	var all []history.Entry
	for i := range list {
		op := &list[i]
		if !op.Deed.Concerns(h.id(), h.module) {
			continue
		}
		e := history.Entry{
			At: op.Created, Kind: history.Operation, What: op.Title, Who: op.User, WhoIs: history.User, Module: op.Deed.Module,
			State: string(op.State), OperationID: op.ID, Fields: fieldsWritten(op, h.id()),
		}
		if op.Finished != nil {
			e.End = *op.Finished
		}
		all = append(all, e)
	}
	return all, nil
}

// fieldsWritten returns what an operation has changed in the Kyma.
func fieldsWritten(op *operations.Operation, kyma string) []history.Field {
	var all []history.Field
	for i := range op.Changes {
		c := &op.Changes[i]
		if c.Object.Kind != "Kyma" || c.Object.Namespace+"/"+c.Object.Name != kyma {
			continue
		}
		for _, f := range c.Fields {
			all = append(all, history.Field(f))
		}
	}
	return all
}

// edits returns which clients wrote the Kyma. The shared watches keep no managed fields, so it is read for that.
func (h *historyOf) edits(ctx context.Context) []history.Entry {
	if h.kyma == nil {
		return nil
	}
	beyond(ctx)
	found, err := recalled(ctx, h.user, "managed fields "+h.id(), func(ctx context.Context) (*v1beta2.Kyma, error) {
		kyma := &v1beta2.Kyma{}
		return kyma, h.user.Client.Get(ctx, client.ObjectKeyFromObject(h.kyma), kyma)
	})
	if err != nil {
		h.unread = withUnread(h.unread, "Kyma", h.kyma.Namespace, err)
		return nil
	}
	return history.OfManagedFields("Kyma "+h.id(), h.module, found.ManagedFields)
}

// reported returns conditions and revisions.
func (h *historyOf) reported() []history.Entry {
	var all []history.Entry
	if h.kyma != nil && h.module == "" {
		all = history.OfConditions("", "Kyma "+h.id(), h.kyma.Status.Conditions)
	}
	for _, m := range h.modules {
		manifest := manifestOf(&h.now.in, m.Manifest)
		if manifest == nil {
			continue
		}
		object := "Manifest " + manifest.Namespace + "/" + manifest.Name
		all = append(all, history.OfRevisions(m.Name, object, manifest.Status.Revisions)...)
		all = append(all, history.OfConditions(m.Name, object, manifest.Status.Conditions)...)
	}
	return all
}

// rollouts returns the waves of the rollouts that may have moved its modules.
func (h *historyOf) rollouts() []history.Entry {
	var all []history.Entry
	for _, m := range h.modules {
		namespace, _, _ := strings.Cut(m.Kyma, "/")
		for i := range h.now.rollouts.in.Rollouts {
			if r := &h.now.rollouts.in.Rollouts[i]; r.Namespace == namespace && r.Name == m.Name {
				all = append(all, history.OfRollout(namespace+"/"+m.Name, m.Name, m.Channel, r)...)
			}
		}
	}
	return all
}

// events returns the events of the Kyma and the Manifests.
func (h *historyOf) events(ctx context.Context) []history.Entry {
	var about []modulestatus.Ref
	modules := map[string]string{}
	if h.kyma != nil && h.module == "" {
		about = append(about, modulestatus.Ref{Kind: "Kyma", Namespace: h.kyma.Namespace, Name: h.kyma.Name})
	}
	for _, m := range h.modules {
		for _, ref := range refsOf(m) {
			about = append(about, ref)
			modules[objectOf(ref)] = m.Name
		}
	}
	found, err := events(ctx, h.user, about)
	if err != nil {
		h.unread = withUnread(h.unread, "Event", "", err)
		return nil
	}
	var all []history.Entry
	for i := range found {
		e, object := &found[i], objectOf(found[i].Object)
		entry := history.Entry{
			At: e.Last, Kind: history.Event, What: e.Message, Object: object, Module: modules[object], Reason: e.Reason,
			Who: e.source, Count: e.Count,
		}
		if entry.Who != "" {
			entry.WhoIs = history.Component
		}
		if e.Type == corev1.EventTypeWarning {
			entry.State = e.Type
		}
		if entry.Count == 1 {
			entry.Count = 0
		}
		all = append(all, entry)
	}
	return all
}

// objectOf writes an object as history does.
func objectOf(ref modulestatus.Ref) string { return ref.Kind + " " + ref.Namespace + "/" + ref.Name }

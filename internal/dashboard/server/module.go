package server

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// moduleDetail is the page of one module.
type moduleDetail struct {
	Module        modulestatus.Module         `json:"module"`
	Why           []Why                       `json:"why"`
	Tree          *modulestatus.Node          `json:"tree"`
	Events        []Event                     `json:"events"`
	Versions      []modulestatus.OfferVersion `json:"versions"`
	Channels      []modulestatus.OfferChannel `json:"channels"`
	Links         []v1beta2.Named             `json:"links"`
	Documentation string                      `json:"documentation,omitempty"`
	// Timeline has what the module was asked to be, the newest first.
	Timeline []revisionLine `json:"timeline"`
	// Waits is the version that waits for its rollout.
	Waits *moduleWait `json:"waits"`
	// Consent is the version that waits for consent, and Strategy is how the module follows its channel.
	Consent  *moduleConsent  `json:"consent"`
	Strategy *moduleStrategy `json:"strategy"`
	// Needs is what the module needs, and NeededBy are the modules of the Kyma that need it.
	Needs    *needs   `json:"needs"`
	NeededBy []string `json:"neededBy"`
	// Fixes are the buttons that remove the cause for which it is not as it was asked for.
	Fixes []fixAct `json:"fixes"`
	// Way is how it can go back, or try again what it went back from.
	Way    moduleWay    `json:"way"`
	Access moduleAccess `json:"access"`
	Flow   moduleFlow   `json:"flow"`
	Unread []Unread     `json:"unread"`
}

type moduleAccess struct {
	Edit    bool `json:"edit"`
	Delete  bool `json:"delete"`
	Runtime bool `json:"runtime"`
}

type moduleFlow struct {
	Delete flowStep `json:"delete"`
}

type flowStep struct {
	Step modulestatus.Step `json:"step"`
	Why  string            `json:"why,omitempty"`
}

// one is a module that a request names, and the data around it.
type one struct {
	now    *snapshot
	module *modulestatus.Module
	in     modulestatus.Inputs
	kyma   *v1beta2.Kyma
}

// named finds the module of a request: /modules/{ns}/{kyma}/{name}, or /direct/{name}.
func (s *Server) named(ctx context.Context, u *User, r *http.Request) (*one, error) {
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	key := modulestatus.Key{Namespace: r.PathValue("ns"), Name: r.PathValue("kyma")}
	of, name := "", r.PathValue("name")
	if key.Name != "" {
		of = key.String()
	}
	m := now.module(of, name)
	if m == nil {
		if key.Name != "" && (now.forbiddenKind("Kyma") || now.forbiddenKind("Manifest")) {
			return nil, mayNotRead(u, "the modules of Kyma "+clip(of, 200))
		}
		where := "without a Kyma"
		if of != "" {
			where = "in Kyma " + clip(of, 200)
		}
		return nil, fail(http.StatusNotFound, WhyNotFound, "there is no module %s %s", clip(name, 100), where)
	}
	found := &one{now: now, module: m, in: now.around(key)}
	if len(found.in.Kymas) == 1 {
		found.kyma = &found.in.Kymas[0]
	}
	return found, nil
}

func (s *Server) module(ctx context.Context, u *User, r *http.Request) (any, error) {
	o, err := s.named(ctx, u, r)
	if err != nil {
		return nil, err
	}
	d := moduleDetail{
		Module: *o.module, Events: []Event{}, Versions: []modulestatus.OfferVersion{}, Channels: []modulestatus.OfferChannel{},
		Links:  []v1beta2.Named{},
		Unread: o.now.unread, Access: s.moduleAccess(ctx, u, o), Waits: o.waits(),
	}
	d.history(o)
	d.consent(o)
	d.needs(ctx, s, u, o)
	d.fixes(ctx, s, u, o)
	d.offered(o)
	d.sourced(s.sourceOf(ctx, u, o))
	in, err := s.near(ctx, u, o.in, o.module)
	if err != nil {
		d.Unread = withUnread(d.Unread, "Runtime", o.module.Kyma, err)
		d.Access.Runtime = false
	} else {
		d.Unread = append(slices.Clip(d.Unread), unreadObjects(&in)...)
	}
	d.Module.Cause = s.causeOf(ctx, u, o, &in, err)
	d.Tree = treeOf(in, o.module)
	d.Why = whyNot(&o.in, o.now.kymas, o.module, d.Tree)
	if d.Events, err = events(ctx, u, append(refsOf(o.module), s.besides(o, &in)...)); err != nil {
		d.Events, d.Unread = []Event{}, withUnread(d.Unread, "Event", "", err)
	}
	d.Flow.Delete = s.leaving(ctx, u, o)
	return d, nil
}

// besides returns the objects of a module that are on the hub itself, so that their events are shown.
func (*Server) besides(o *one, in *modulestatus.Inputs) []modulestatus.Ref {
	if o.kyma != nil && !modulestatus.Here(o.kyma) {
		return nil
	}
	return modulestatus.ObjectsOf(in, o.module)
}

// offered fills in what the catalog offers for the module.
func (d *moduleDetail) offered(o *one) {
	namespace, _, _ := strings.Cut(o.module.Kyma, "/")
	if o.module.Template != nil {
		namespace = o.module.Template.Namespace
	}
	offer := o.now.offer(namespace, o.module.Name)
	if offer == nil {
		return
	}
	d.Documentation = offer.Documentation
	d.Versions = append(d.Versions, offer.Versions...)
	d.Channels = append(d.Channels, offer.Channels...)
	for i := range offer.Versions {
		v := &offer.Versions[i]
		if o.module.Template != nil && v.Template == *o.module.Template {
			d.Links = append(d.Links, v.Links...)
		}
	}
}

// treeOf returns the tree of one module, nil if there is none.
func treeOf(in modulestatus.Inputs, m *modulestatus.Module) *modulestatus.Node {
	for _, root := range modulestatus.Tree(in, m.Name) {
		if root.Kind == modulestatus.KindModule && m.Kyma == "" {
			return &root
		}
		for i := range root.Children {
			if root.Kind == "Kyma" && (modulestatus.Key{Namespace: root.Namespace, Name: root.Name}).String() == m.Kyma {
				return &root.Children[i]
			}
		}
	}
	return nil
}

func unreadObjects(in *modulestatus.Inputs) []Unread {
	var all []Unread
	for _, u := range unreadOf(in, nil) {
		if !strings.HasSuffix(u.Kind, "."+ownGroup) {
			all = append(all, u)
		}
	}
	return all
}

// moduleAccess returns which buttons a user gets. For modules without a Kyma, access to the records decides.
func (s *Server) moduleAccess(ctx context.Context, u *User, o *one) moduleAccess {
	if o.kyma == nil {
		return moduleAccess{
			Edit:   u.may(ctx, "patch", "", "secrets", modulestatus.DirectNamespace, ""),
			Delete: u.may(ctx, "delete", "", "secrets", modulestatus.DirectNamespace, ""), Runtime: true,
		}
	}
	edit := u.may(ctx, "patch", ownGroup, "kymas", o.kyma.Namespace, o.kyma.Name)
	return moduleAccess{
		Edit: edit && !o.module.Mandatory, Delete: edit && !o.module.Mandatory,
		Runtime: modulestatus.Here(o.kyma) || u.may(ctx, "list", "", "secrets", o.kyma.Namespace, ""),
	}
}

// leaving returns the next step of deleting the module, as far as it can be determined without searching for the objects made with it:
// the preview of the deletion searches for them.
func (*Server) leaving(_ context.Context, _ *User, o *one) flowStep {
	l := modulestatus.DeleteInput{Module: o.module.Name, Managed: o.module.Kyma != "" && !o.module.Mandatory, Direct: o.module.Record != nil}
	step, why := modulestatus.NextToDelete(l)
	if o.module.Mandatory {
		why = "mandatory modules are installed automatically and removed with their release"
	}
	return flowStep{step, why}
}

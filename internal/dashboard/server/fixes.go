package server

import (
	"context"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// mostFixed bounds how many buttons the page of a Kyma has for its modules.
const mostFixed = 30

// fixAct is a button that removes the cause for which a module or a Kyma is not as it was asked for.
type fixAct struct {
	Kind  kymaedit.FixKind `json:"kind"`
	Title string           `json:"title"`
	// Module that it is about; empty for the Kyma itself.
	Module string `json:"module,omitempty"`
	// Deed is nil where a user must bring something, as for a connection, or look at another page, as for a deletion.
	Deed    *operations.Request `json:"deed"`
	Allowed bool                `json:"allowed"`
	Why     string              `json:"why,omitempty"`
}

// fixes fills in what helps a module.
func (d *moduleDetail) fixes(ctx context.Context, s *Server, u *User, o *one) {
	d.Fixes = []fixAct{}
	if o.kyma == nil || o.module.State == modulestatus.Ready && o.module.Pending == nil {
		return
	}
	d.Fixes = fixActs(o.now.standOf(o.kyma), o.module, manifestOf(&o.in, o.module.Manifest), s.kymaAccess(ctx, u, o.kyma))
}

// fixes fills in what helps the Kyma and its modules, each button of the Kyma itself once.
func (d *kymaDetail) fixes(now *snapshot, kyma *v1beta2.Kyma) {
	d.Fixes = []fixAct{}
	own := kymaedit.StandOf(kyma)
	for _, fix := range own.KymaFixes(d.Kyma.Reason) {
		d.Fixes = append(d.Fixes, fixActOf(fix, d.id(), "", d.Access))
	}
	var stand *kymaedit.KymaContext
	for i := range d.Modules {
		m := &d.Modules[i]
		if m.State == modulestatus.Ready && m.Pending == nil {
			continue
		}
		if stand == nil { // the catalog is gone through only where it is needed
			stand = now.standOf(kyma)
		}
		for _, act := range fixActs(stand, m, manifestOf(&now.in, m.Manifest), d.Access) {
			known := act.Module == "" && slices.ContainsFunc(d.Fixes, func(f fixAct) bool { return f.Kind == act.Kind })
			if !known && len(d.Fixes) < mostFixed {
				d.Fixes = append(d.Fixes, act)
			}
		}
	}
}

func (d *kymaDetail) id() string { return d.Kyma.Namespace + "/" + d.Kyma.Name }

// fixActs returns the buttons that help a module.
func fixActs(stand *kymaedit.KymaContext, m *modulestatus.Module, manifest *v1beta2.Manifest, access kymaAccess) []fixAct {
	all := []fixAct{}
	var history []v1beta2.Revision
	if manifest != nil {
		history = manifest.Status.Revisions
	}
	for _, fix := range stand.Fixes(m, history) {
		all = append(all, fixActOf(fix, stand.Key().String(), m.Name, access))
	}
	return all
}

// fixActOf returns the button of a fix.
func fixActOf(fix kymaedit.Fix, kyma, module string, access kymaAccess) fixAct {
	act := fixAct{Kind: fix.Kind, Title: fix.Title, Module: module, Allowed: access.Edit}
	deed := operations.Request{Kyma: kyma, Module: module}
	switch fix.Kind {
	case kymaedit.FixChannel, kymaedit.FixVersion:
		deed.Kind, deed.Channel, deed.Version = operations.Channel, fix.Channel, fix.Version
	case kymaedit.FixApprove:
		deed.Kind, deed.Target = operations.Approve, fix.Reference
	case kymaedit.FixRetry:
		deed.Kind = operations.Retry
	case kymaedit.FixAdd:
		deed = operations.Request{Kind: operations.Add, Kyma: kyma}
		for _, wish := range fix.Add {
			deed.Modules = append(deed.Modules, operations.Wanted{Name: wish.Name, Channel: wish.Channel})
		}
	case kymaedit.FixResume:
		act.Module, deed = "", operations.Request{Kind: operations.Resume, Kyma: kyma}
	case kymaedit.FixConnect:
		act.Module, act.Allowed = "", access.Connect
	case kymaedit.FixDelete:
	}
	if deed.Kind != "" {
		act.Deed = &deed
	}
	switch {
	case act.Allowed:
	case fix.Kind == kymaedit.FixConnect:
		act.Why = "You may not write Secrets in the namespace of the Kyma. Ask an administrator of the cluster for permission."
	default:
		act.Why = "You may not change the Kyma. Ask an administrator of the cluster for permission."
	}
	return act
}

package edit

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/view"
)

// Stand is a Kyma and what can be had beside it: what the command line and the dashboard decide on before they edit.
type Stand struct {
	Kyma *v1beta2.Kyma
	// Asked is what the Kyma asks for, together with the user of its runtime.
	Asked v1beta2.KymaSpec
	// Releases and Templates are those of the Kyma's namespace, and Offers what they come to.
	Releases  []v1beta2.ModuleReleaseMeta
	Templates []v1beta2.ModuleTemplate
	Offers    map[string]Offer
}

// StandOf is a Kyma of whose catalog nothing is known yet.
func StandOf(kyma *v1beta2.Kyma) Stand { return Stand{Kyma: kyma, Asked: view.Effective(kyma)} }

// Load reads what can be had: the releases and templates beside the Kyma. In a runtime that is its catalog. A cluster that does not know
// one of the kinds has none of it.
func (s *Stand) Load(ctx context.Context, reader client.Reader) error {
	var releases v1beta2.ModuleReleaseMetaList
	var templates v1beta2.ModuleTemplateList
	for _, list := range []client.ObjectList{&releases, &templates} {
		if err := reader.List(ctx, list, client.InNamespace(s.Kyma.Namespace)); err != nil && !unserved(err) {
			return err
		}
	}
	s.Releases, s.Templates = releases.Items, templates.Items
	s.Offers = Offers(s.Releases, s.Templates)
	return nil
}

// unserved says that a cluster does not have a kind at all.
func unserved(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// Key names the Kyma.
func (s *Stand) Key() client.ObjectKey { return client.ObjectKeyFromObject(s.Kyma) }

// Here says whether the modules of the Kyma are in the cluster that it was read from.
func (s *Stand) Here() bool { return view.Here(s.Kyma) }

// Has says whether the Kyma asks for a module.
func (s *Stand) Has(name string) bool { return Entry(&s.Asked, name) != nil }

// Theirs says whether only the user of the runtime asks for a module: the Kyma itself has no entry that could be taken out.
func (s *Stand) Theirs(name string) bool { return s.Has(name) && Entry(&s.Kyma.Spec, name) == nil }

// StatusOf is what the Kyma says of a module, nil when that is nothing.
func (s *Stand) StatusOf(name string) *v1beta2.ModuleStatus {
	for i := range s.Kyma.Status.Modules {
		if s.Kyma.Status.Modules[i].Name == name {
			return &s.Kyma.Status.Modules[i]
		}
	}
	return nil
}

// Version is the one that a module's entry in a spec leads to, empty when that is not known here.
func (s *Stand) Version(spec *v1beta2.KymaSpec, name string) string {
	entry := Entry(spec, name)
	switch {
	case entry == nil:
		return ""
	case entry.Version != "":
		return entry.Version
	case entry.Channel != "":
		return s.Offers[name].Channels[entry.Channel]
	}
	return s.Offers[name].Channels[spec.Channel]
}

// Template is that of a module's version, nil when there is none here.
func (s *Stand) Template(name, version string) *v1beta2.ModuleTemplate {
	for i := range s.Templates {
		if view.ModuleOf(&s.Templates[i]) == name && view.VersionOf(&s.Templates[i]) == version {
			return &s.Templates[i]
		}
	}
	return nil
}

// Installed is the template of the version that is installed, or else of the one that is asked for.
func (s *Stand) Installed(name string) *v1beta2.ModuleTemplate {
	if known := s.StatusOf(name); known != nil && known.Version != "" {
		return s.Template(name, known.Version)
	}
	return s.Template(name, s.Version(&s.Asked, name))
}

// Check says whether a wish leads to something. A runtime's catalog shows the versions of channels only, so that a version which it does
// not show may exist all the same: the hub decides.
func (s *Stand) Check(spec *v1beta2.KymaSpec, wish Wish) error {
	err := Check(s.Offers, spec, wish)
	if unknown, is := errors.AsType[*UnknownError](err); is && unknown.What == "version" && view.IsCopy(s.Kyma) {
		return nil
	}
	return err
}

// MayAdd asks the flowchart of package view whether a module goes into the Kyma; why says why not. direct says that it is installed without
// the lifecycle manager where the modules of the Kyma are, community that there are templates of it which nobody manages.
//
//  1. An entry that is there may be another one: the flowchart says where that is not meant.
//  2. What no release offers, and has templates, is a community module.
//  3. What is mandatory, or is not there at all, is the error of Check.
//  4. The flowchart decides, and Check has the last word.
func (s *Stand) MayAdd(wish Wish, direct bool, community func() bool) (way view.Way, why string, err error) {
	err = s.Check(&s.Asked, wish)
	offer, offered := s.Offers[wish.Name]
	asked := view.Wish{Module: wish.Name, Kyma: true, Type: view.Manageable, Direct: direct}
	switch {
	case s.Has(wish.Name):
		asked.Type = view.Managed
	case !offered && community():
		asked.Type = view.Community
	case err != nil || offer.Mandatory:
		return view.NoWay, "", err
	}
	if way, why = view.WayToInstall(asked); way != view.ViaKyma {
		return way, why, nil
	}
	return way, "", err
}

// Goal is what an upgrade brings an entry to; changes is false where there is nothing to do:
//
//  1. what was asked for, if it leads to something and is not lower than what is installed
//  2. an entry that follows a channel is left as it is
//  3. an entry that stays at a version gets the newest that is above it
func (s *Stand) Goal(entry *v1beta2.Module, spec *v1beta2.KymaSpec, wish Wish) (goal Wish, changes bool, err error) {
	goal = Wish{Name: entry.Name, Channel: wish.Channel, Version: wish.Version}
	if goal.Channel == "" && goal.Version == "" {
		if entry.Version == "" {
			return goal, false, nil
		}
		if goal.Version = s.Offers[entry.Name].Newest(entry.Version); goal.Version == "" {
			return goal, false, nil
		}
	}
	if err := s.Check(spec, goal); err != nil {
		return goal, false, err
	}
	return goal, true, s.NotLower(goal)
}

// LowerError is a version below the one that is installed, which the lifecycle manager refuses.
type LowerError struct{ Module, Version, Installed string }

// Error names both versions.
func (e *LowerError) Error() string {
	return fmt.Sprintf("version %s of module %s is lower than %s, which is installed", e.Version, e.Module, e.Installed)
}

// NotLower refuses a version that the lifecycle manager would refuse, with a *LowerError.
func (s *Stand) NotLower(wish Wish) error {
	installed := s.StatusOf(wish.Name)
	if wish.Version == "" || installed == nil || !Lower(wish.Version, installed.Version) {
		return nil
	}
	return &LowerError{wish.Name, wish.Version, installed.Version}
}

package kymaedit

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// KymaContext is a Kyma and what is available beside it: what the command line and the dashboard decide on before they edit.
type KymaContext struct {
	Kyma *v1beta2.Kyma
	// Asked is what the Kyma asks for, together with the user of its runtime.
	Asked v1beta2.KymaSpec
	// Releases and Templates are those of the Kyma's namespace, and Offers what they come to.
	Releases  []v1beta2.ModuleReleaseMeta
	Templates []v1beta2.ModuleTemplate
	Offers    map[string]Offer
}

// StandOf returns a Kyma of whose catalog nothing is known yet.
func StandOf(kyma *v1beta2.Kyma) KymaContext {
	return KymaContext{Kyma: kyma, Asked: modulestatus.Effective(kyma)}
}

// Load reads what is available: the releases and templates beside the Kyma. In a runtime that is its catalog. A cluster that does not know
// one of the kinds has none of it.
func (s *KymaContext) Load(ctx context.Context, reader client.Reader) error {
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

// unserved reports whether a cluster does not have a kind at all.
func unserved(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// Key names the Kyma.
func (s *KymaContext) Key() client.ObjectKey { return client.ObjectKeyFromObject(s.Kyma) }

// Here reports whether the modules of the Kyma are in the cluster that it was read from.
func (s *KymaContext) Here() bool { return modulestatus.Here(s.Kyma) }

// Has reports whether the Kyma asks for a module.
func (s *KymaContext) Has(name string) bool { return Entry(&s.Asked, name) != nil }

// Theirs reports whether only the user of the runtime asks for a module: the Kyma itself has no entry that could be taken out.
func (s *KymaContext) Theirs(name string) bool {
	return s.Has(name) && Entry(&s.Kyma.Spec, name) == nil
}

// StatusOf returns what the Kyma says of a module, nil when that is nothing.
func (s *KymaContext) StatusOf(name string) *v1beta2.ModuleStatus {
	for i := range s.Kyma.Status.Modules {
		if s.Kyma.Status.Modules[i].Name == name {
			return &s.Kyma.Status.Modules[i]
		}
	}
	return nil
}

// Version returns the one that a module's entry in a spec leads to, empty when that is not known here.
func (s *KymaContext) Version(spec *v1beta2.KymaSpec, name string) string {
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

// Template returns that of a module's version, nil when there is none here.
func (s *KymaContext) Template(name, version string) *v1beta2.ModuleTemplate {
	for i := range s.Templates {
		if modulestatus.ModuleOf(&s.Templates[i]) == name && modulestatus.VersionOf(&s.Templates[i]) == version {
			return &s.Templates[i]
		}
	}
	return nil
}

// Installed returns the template of the version that is installed, or else of the one that is requested.
func (s *KymaContext) Installed(name string) *v1beta2.ModuleTemplate {
	if known := s.StatusOf(name); known != nil && known.Version != "" {
		return s.Template(name, known.Version)
	}
	return s.Template(name, s.Version(&s.Asked, name))
}

// Check reports whether a wish leads to something. A runtime's catalog shows the versions of channels only, so that a version which it does
// not show may exist nevertheless: the hub decides.
func (s *KymaContext) Check(spec *v1beta2.KymaSpec, wish ModuleRequest) error {
	err := Check(s.Offers, spec, wish)
	if unknown, is := errors.AsType[*UnknownError](err); is && unknown.What == "version" && modulestatus.IsCopy(s.Kyma) {
		return nil
	}
	return err
}

// MayAdd asks the flowchart of package view whether a module goes into the Kyma; why says why not. direct says that it is installed without
// the lifecycle manager where the modules of the Kyma are, community that there are unmanaged templates of it.
//
//  1. An entry that is there may be another one: the flowchart says where that is not meant.
//  2. What no release offers, and has templates, is a community module.
//  3. What is mandatory, or is not there at all, is the error of Check.
//  4. The flowchart decides, and Check has the last word.
func (s *KymaContext) MayAdd(
	wish ModuleRequest, direct bool, community func() bool,
) (way modulestatus.InstallMethod, why string, err error) {
	err = s.Check(&s.Asked, wish)
	offer, offered := s.Offers[wish.Name]
	asked := modulestatus.InstallInput{Module: wish.Name, Kyma: true, Type: modulestatus.Manageable, Direct: direct}
	switch {
	case s.Has(wish.Name):
		asked.Type = modulestatus.Managed
	case !offered && community():
		asked.Type = modulestatus.Community
	case err != nil || offer.Mandatory:
		return modulestatus.NoWay, "", err
	}
	if way, why = modulestatus.WayToInstall(asked); way != modulestatus.ViaKyma {
		return way, why, nil
	}
	return way, "", err
}

// Goal returns what an upgrade brings an entry to; changes is false where there is nothing to do:
//
//  1. what was requested, if it leads to something and is not lower than what is installed
//  2. an entry that follows a channel is left as it is
//  3. an entry that stays at a version gets the newest that is above it
func (s *KymaContext) Goal(
	entry *v1beta2.Module, spec *v1beta2.KymaSpec, wish ModuleRequest,
) (goal ModuleRequest, changes bool, err error) {
	goal = ModuleRequest{Name: entry.Name, Channel: wish.Channel, Version: wish.Version}
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
func (s *KymaContext) NotLower(wish ModuleRequest) error {
	installed := s.StatusOf(wish.Name)
	if wish.Version == "" || installed == nil || !Lower(wish.Version, installed.Version) {
		return nil
	}
	return &LowerError{wish.Name, wish.Version, installed.Version}
}

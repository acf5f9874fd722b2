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
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// KymaContext is a Kyma and its catalog, on which the command line and the dashboard base their decisions before an edit.
type KymaContext struct {
	Kyma *v1beta2.Kyma
	// Asked is the spec that the Kyma and the user of its runtime request together.
	Asked v1beta2.KymaSpec
	// Releases and Templates are those of the Kyma's namespace, and Offers follow from them.
	Releases  []v1beta2.ModuleReleaseMeta
	Templates []v1beta2.ModuleTemplate
	Offers    map[string]Offer
}

// StandOf returns the context of a Kyma whose catalog is not loaded yet.
func StandOf(kyma *v1beta2.Kyma) KymaContext {
	return KymaContext{Kyma: kyma, Asked: modulestatus.Effective(kyma)}
}

// Load reads the catalog: the releases and templates in the Kyma's namespace. In a runtime, those are the catalog of that runtime. A
// cluster that does not serve one of the kinds has no objects of it.
func (s *KymaContext) Load(ctx context.Context, reader client.Reader) error {
	var err error
	if s.Releases, s.Templates, err = readCatalog(ctx, reader, client.InNamespace(s.Kyma.Namespace)); err != nil {
		return err
	}
	s.Offers = Offers(s.Releases, s.Templates)
	return nil
}

// unserved reports whether the cluster does not serve a kind.
func unserved(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// Key returns the key of the Kyma.
func (s *KymaContext) Key() client.ObjectKey { return client.ObjectKeyFromObject(s.Kyma) }

// Here reports whether the modules of the Kyma are in the cluster from which it was read.
func (s *KymaContext) Here() bool { return modulestatus.Here(s.Kyma) }

// Has reports whether the Kyma requests a module.
func (s *KymaContext) Has(name string) bool { return Entry(&s.Asked, name) != nil }

// Theirs reports whether only the user of the runtime requests a module: the Kyma itself has no entry that could be removed.
func (s *KymaContext) Theirs(name string) bool {
	return s.Has(name) && Entry(&s.Kyma.Spec, name) == nil
}

// StatusOf returns the Kyma's status of a module, nil when there is none.
func (s *KymaContext) StatusOf(name string) *v1beta2.ModuleStatus {
	return modulestatus.StatusOf(s.Kyma, name)
}

// Version returns the version that a module's entry in a spec leads to, empty when it is not known here.
func (s *KymaContext) Version(spec *v1beta2.KymaSpec, name string) string {
	entry := Entry(spec, name)
	switch {
	case entry == nil:
		return ""
	case entry.Version != "":
		return entry.Version
	case entry.Channel != "":
		return s.Offers[name].Channels[entry.Channel]
	case spec.Release != "":
		return "" // the release is not read for every Kyma
	}
	return s.Offers[name].Channels[spec.Channel]
}

// Template returns the template of a module's version, nil when there is none here.
func (s *KymaContext) Template(name, version string) *v1beta2.ModuleTemplate {
	for i := range s.Templates {
		if modulestatus.ModuleOf(&s.Templates[i]) == name && s.Templates[i].ModuleVersion() == version {
			return &s.Templates[i]
		}
	}
	return nil
}

// InstalledVersion returns the version of a module that is installed, empty when none is known.
func (s *KymaContext) InstalledVersion(name string) string {
	status := s.StatusOf(name)
	if status == nil {
		return ""
	}
	if status.State == v1beta2.StateReady || status.State == v1beta2.StateWarning {
		return status.Version
	}
	return status.InstalledVersion
}

// Republished reports whether what waits is the installed version, published again with other content. The registry no longer has what is
// installed then.
func (s *KymaContext) Republished(name string) bool {
	pending := modulestatus.PendingOf(s.Kyma, name)
	return pending != nil && pending.Version != "" && pending.Version == s.InstalledVersion(name)
}

// Installed returns the template of the installed version, or else of the requested one.
func (s *KymaContext) Installed(name string) *v1beta2.ModuleTemplate {
	if known := s.StatusOf(name); known != nil && known.Version != "" {
		return s.Template(name, known.Version)
	}
	return s.Template(name, s.Version(&s.Asked, name))
}

// Check reports whether a wish can be fulfilled. A runtime's catalog shows only the versions of channels, so a version that is missing
// there may still exist: the hub decides.
func (s *KymaContext) Check(spec *v1beta2.KymaSpec, wish ModuleRequest) error {
	err := Check(s.Offers, spec, wish)
	if unknown, is := errors.AsType[*UnknownError](err); is && unknown.What == "version" && modulestatus.IsCopy(s.Kyma) {
		return nil
	}
	return err
}

// MayAdd decides with the flowchart of package modulestatus whether a module goes into the Kyma; why gives the reason against it. direct
// means that the module is installed without the lifecycle manager in the cluster of the Kyma's modules; community reports whether there
// are unmanaged templates of it.
//
//  1. An existing entry may be changed: where that is not possible, the flowchart refuses it.
//  2. A module that has templates but no release is a community module.
//  3. A mandatory or unknown module is the error of Check.
//  4. The flowchart decides, and Check is applied last.
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

// Goal returns the target of an upgrade of an entry; changes is false if there is nothing to do:
//
//  1. a requested target that exists and is not lower than the installed version is the goal
//  2. an entry that follows a channel stays as it is
//  3. an entry with a fixed version gets the newest version above it
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

// LowerError is a version below the installed one, which the lifecycle manager refuses.
type LowerError struct{ Module, Version, Installed string }

// Error returns a message with both versions.
func (e *LowerError) Error() string {
	return fmt.Sprintf("version %s of module %s is lower than %s, which is installed", e.Version, e.Module, e.Installed)
}

// NotLower returns a *LowerError for a version that the lifecycle manager would refuse.
func (s *KymaContext) NotLower(wish ModuleRequest) error {
	installed := s.StatusOf(wish.Name)
	if wish.Version == "" || installed == nil || !moduleversion.IsDowngrade(installed.Version, wish.Version) {
		return nil
	}
	return &LowerError{wish.Name, wish.Version, installed.Version}
}

package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/internal/client/resourcetree"
	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
)

// reviewNone is the state of what a version says about an object that it says nothing about.
const reviewNone reviewState = "None"

// wantedObject is what the version of a module says an object should be.
type wantedObject struct {
	State reviewState `json:"state"`
	// Step is what is being done, and Problem why the version cannot be read.
	Step    string      `json:"step,omitempty"`
	Problem *unreadable `json:"problem"`
	Version string      `json:"version,omitempty"`
	// Note says where it comes from, or why there is nothing.
	Note   string         `json:"note,omitempty"`
	Object map[string]any `json:"object"`
	// Difference is in which of its fields the cluster differs, and More counts what is left out; null where there is nothing to compare.
	Difference []resourcetree.Field `json:"difference"`
	More       int                  `json:"more,omitempty"`
}

// renderedObject is one object of a version. Its values must be hidden by hide before it is shown.
type renderedObject struct {
	object *unstructured.Unstructured
	hide   fielddiff.Secrets
	note   string
}

// wanted returns what the version of the module says about an object, as far as it was read, and the values that must not be shown.
func (s *Server) wanted(u *User, o *one, ref modulestatus.Ref, live *unstructured.Unstructured) (*wantedObject, fielddiff.Secrets) {
	m := o.module
	is := &wantedObject{State: reviewNone}
	if made := o.byDefault(); made != nil && m.Resource != nil && resourcetree.IDOf(*m.Resource) == resourcetree.IDOf(ref) {
		is.Version = cmp.Or(m.Version.Installed, m.Version.Desired)
		is.Note = "the default of the version: it is created once, and its user may change it"
		return is.with(&renderedObject{object: made}, live)
	}
	isThis := func(r modulestatus.Ref) bool { return resourcetree.IDOf(r) == resourcetree.IDOf(ref) }
	if !slices.ContainsFunc(modulestatus.ObjectsOf(&o.in, m), isThis) {
		is.Note = describe(ref) + " is not installed by the module: its owner, or a user, made it"
		return is, fielddiff.Secrets{}
	}
	asked := o.installedVersion()
	is.Version = asked.version
	if asked.template == nil && asked.manifest == nil {
		is.Note = "nothing describes version " + asked.version + " any more: there is neither a ModuleTemplate nor a Manifest of it"
		return is, fielddiff.Secrets{}
	}
	got := look(s.jobs, asked.key(u)+" object "+resourcetree.IDOf(ref), u.Name, reviewLasts,
		func(ctx context.Context, say func(string)) (*renderedObject, error) {
			say("reading " + asked.module + " " + asked.version)
			side, err := s.sideOf(s.fetching(ctx), u, asked)
			if err != nil {
				return nil, err
			}
			return renderedIn(side, ref)
		})
	is.State, is.Step = reviewReading, got.step
	switch {
	case !got.done:
		return is, fielddiff.Secrets{}
	case got.err != nil:
		is.State, is.Problem = reviewUnreadable, unread(got.err)
		return is, fielddiff.Secrets{}
	}
	is.Note = got.value.note
	return is.with(got.value, live)
}

// installedVersion returns what is installed of a module, for reading it.
func (o *one) installedVersion() *versionAsked {
	m := o.module
	asked := &versionAsked{module: m.Name, version: cmp.Or(m.Version.Installed, m.Version.Desired), manifest: manifestOf(&o.in, m.Manifest)}
	if o.kyma != nil {
		asked.namespace = o.kyma.Namespace
	} else if m.Template != nil {
		asked.namespace = m.Template.Namespace
	}
	if asked.manifest != nil {
		asked.version = cmp.Or(asked.manifest.Spec.Version, asked.version) // what it says is what is wanted now
		return asked
	}
	asked.template = o.now.templateIn(asked.namespace, m.Name, asked.version)
	asked.release = o.now.release(asked.namespace, m.Name)
	return asked
}

// renderedIn finds an object among those of a version.
func renderedIn(side *releasepreview.Side, ref modulestatus.Ref) (*renderedObject, error) {
	group := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
	at := slices.IndexFunc(side.Objects, func(o *unstructured.Unstructured) bool {
		here := o.GetNamespace() == ref.Namespace || o.GetNamespace() == ""
		return o.GroupVersionKind().GroupKind() == group && o.GetName() == ref.Name && here
	})
	if at < 0 {
		return nil, &unreadable{
			Reason: WhyNotFound,
			Message: fmt.Sprintf("version %s has no %s: it is left from another version, or depends on the cluster",
				clip(side.Version, 100), describe(ref)),
		}
	}
	made := &renderedObject{object: side.Objects[at], hide: fielddiff.SecretsOf(slices.Concat(side.Objects, side.Secrets)...)}
	if len(side.Caveats) > 0 {
		made.note = "it is rendered " + side.Caveats[0]
	}
	return made, nil
}

// with completes an answer by what was rendered, and the difference to what is there.
func (w *wantedObject) with(r *renderedObject, live *unstructured.Unstructured) (*wantedObject, fielddiff.Secrets) {
	w.State = reviewDone
	w.Object, _ = resourcetree.Show(r.object, resourcetree.Options{Hide: r.hide})
	if live != nil {
		w.Difference, w.More = resourcetree.Difference(r.object, live, r.hide)
		if w.Difference == nil {
			w.Difference = []resourcetree.Field{}
		}
	}
	return w, r.hide
}

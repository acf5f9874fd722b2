package task

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/edit"
	"github.com/kyma-project/lifecycle-manager/internal/gather"
	"github.com/kyma-project/lifecycle-manager/internal/view"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// shelf is what can be installed directly: what lies in the cluster, in the hub of its Kyma, and in a source.
type shelf struct {
	at        *place
	templates []v1beta2.ModuleTemplate
	releases  []v1beta2.ModuleReleaseMeta
	types     map[string]view.Type
	// source says where templates without a namespace came from; empty when there are none.
	source string
}

// offered is a module in one version, and whose it is.
type offered struct {
	template *v1beta2.ModuleTemplate
	release  *v1beta2.ModuleReleaseMeta
	kind     view.Type
}

// shelf reads what can be had: from a source, or without one from the cluster, and behind that from the hub that looks after it.
func (p *planner) shelf(ctx context.Context, at *place, source string) (*shelf, error) {
	in, err := gather.Gather(ctx, at.WithWatch, gather.Scope{CatalogOnly: true, Shallow: true})
	if err != nil {
		return nil, err
	}
	for _, unread := range in.Unread {
		if unread.Kind == "ModuleTemplate" && source == "" {
			return nil, refuse(WhyForbidden, "it cannot be seen which modules there are: %s", unread.Message())
		}
	}
	s := &shelf{at: at}
	if at.elsewhere() { // the templates of the hub are in no namespace there
		for i := range at.scene.templates {
			template := at.scene.templates[i].DeepCopy()
			template.Namespace = ""
			in.Templates = append(in.Templates, *template)
		}
		in.Releases = append(in.Releases, at.scene.releases...)
	}
	if source != "" {
		if err := s.read(ctx, p, source, &in); err != nil {
			return nil, err
		}
	} else {
		s.templates = in.Templates
	}
	s.releases, s.types = in.Releases, map[string]view.Type{}
	for _, offer := range view.Catalog(in) {
		s.types[offer.Name] = offer.Type
	}
	return s, nil
}

// read takes the modules of a source alone, and judges them together with what the cluster has: a module of the lifecycle manager is no
// community module since somebody put it into a catalog.
func (s *shelf) read(ctx context.Context, p *planner, source string, in *view.Inputs) error {
	from, catalog, err := p.catalog(ctx, p.as, source)
	if err != nil {
		return err
	}
	for i := range catalog.Templates {
		template := catalog.Templates[i].DeepCopy()
		template.Namespace = ""
		s.templates = append(s.templates, *template)
	}
	s.source = from.URL
	in.Templates = append(in.Templates, s.templates...)
	in.Releases = append(in.Releases, catalog.Releases...)
	return nil
}

// find takes the template of a version, or of the one that a channel offers, or else of the newest that is no pre-release.
func (s *shelf) find(wish edit.Wish) (offered, error) {
	var templates []*v1beta2.ModuleTemplate
	var versions []string
	for i := range s.templates {
		if t := &s.templates[i]; view.ModuleOf(t) == wish.Name {
			templates, versions = append(templates, t), append(versions, view.VersionOf(t))
		}
	}
	if len(templates) == 0 {
		return offered{}, refuse(WhyNotFound, "there is no module %s: %s has no ModuleTemplate of it", wish.Name,
			cmp.Or(s.source, "the cluster"))
	}
	found := offered{kind: cmp.Or(s.types[wish.Name], view.Community)}
	offer := edit.Offer{Module: wish.Name, Channels: map[string]string{}}
	if at := slices.IndexFunc(s.releases, func(r v1beta2.ModuleReleaseMeta) bool { return r.Name == wish.Name }); at >= 0 {
		found.release = &s.releases[at]
		offer = edit.Offers(s.releases[at:at+1], nil)[wish.Name]
	}
	offer.Versions = edit.Newest(versions)
	version := wish.Version
	switch {
	case wish.Channel != "":
		version = offer.Channels[wish.Channel]
	case version == "":
		version = cmp.Or(offer.Newest(""), offer.Versions[0])
	}
	for i, template := range templates {
		if versions[i] == version {
			found.template = template
			return found, nil
		}
	}
	unknown := &edit.UnknownError{What: "version", Name: version, Module: wish.Name, Candidates: offer.Versions}
	if wish.Channel != "" {
		unknown.What, unknown.Name = "channel", wish.Channel
	}
	return offered{}, refuse(WhyNotFound, "%s", unknown)
}

// annotationSource is where busola and upstream's tools note the catalog of a template.
const annotationSource = "source"

// keeps is the step that puts the template of a module of a source into the cluster, so that it is known there what could be had of it; nil
// where it came from the cluster, or where the cluster has no such kind.
func (s *shelf) keeps(offer offered) *step {
	if _, err := s.at.RESTMapper().RESTMapping(v1beta2.GroupVersion.WithKind("ModuleTemplate").GroupKind()); s.source == "" || err != nil {
		return nil
	}
	template := offer.template
	template.TypeMeta = metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: "ModuleTemplate"}
	template.ObjectMeta = metav1.ObjectMeta{
		Namespace: metav1.NamespaceDefault, Name: template.Name, Labels: template.Labels, Annotations: template.Annotations,
	}
	delete(template.Labels, v1beta2.LabelManagedBy) // not for a source to say
	metav1.SetMetaDataAnnotation(&template.ObjectMeta, annotationSource, s.source)
	ref := view.Ref{APIVersion: template.APIVersion, Kind: template.Kind, Namespace: template.Namespace, Name: template.Name}
	return &step{
		title: fmt.Sprintf("Put the ModuleTemplate %s into the cluster", template.Name),
		try: func(ctx context.Context) ([]Change, error) {
			change, err := s.keep(ctx, template, ref, true)
			return []Change{change}, err
		},
		do: func(ctx context.Context, r *reporter) error {
			change, err := s.keep(ctx, template, ref, false)
			r.object(ref, string(change.Change), change.Error)
			return err
		},
	}
}

// keep creates a template. One that is there stays, and has to be the same: a version is published once.
func (s *shelf) keep(ctx context.Context, template *v1beta2.ModuleTemplate, ref view.Ref, dry bool) (Change, error) {
	there := &v1beta2.ModuleTemplate{}
	err := s.at.Get(ctx, client.ObjectKeyFromObject(template), there)
	if err == nil {
		wanted := template.Spec.DeepCopy()
		if wanted.Readiness == "" {
			wanted.Readiness = there.Spec.Readiness // the API's default is no difference
		}
		change, err := compared(ref, there.Spec, wanted)
		if err == nil && change.Change != apply.ChangeUnchanged {
			change.Change, change.Error = apply.ChangeRefused, "the cluster has another one of that name"
			err = refuse(WhyRefused, "the cluster has another ModuleTemplate %s in namespace %s: delete that, or take another version",
				ref.Name, ref.Namespace)
		}
		return change, err
	}
	change := Change{Object: ref, Change: apply.ChangeCreate, Fields: []Field{}}
	if !apierrors.IsNotFound(err) {
		return change, err
	}
	options := []client.CreateOption{client.FieldOwner(edit.FieldManager)}
	if dry {
		options = append(options, client.DryRunAll)
	}
	if err := s.at.Create(ctx, template.DeepCopy(), options...); err != nil {
		change.Change, change.Error = apply.ChangeRefused, told(err)
		return change, err
	}
	return change, nil
}

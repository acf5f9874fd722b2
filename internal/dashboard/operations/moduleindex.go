package operations

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// available holds the modules that can be installed directly: those in the cluster, in the hub of its Kyma, and in a source.
type available struct {
	at        *place
	templates []v1beta2.ModuleTemplate
	releases  []v1beta2.ModuleReleaseMeta
	types     map[string]modulestatus.Type
	// origin is the catalog that the templates came from; nil if they are in the cluster.
	origin *modulestatus.Origin
	// warnings are what a user should know about that catalog.
	warnings []string
}

// offered is a module in one version, with its release and its type.
type offered struct {
	template *v1beta2.ModuleTemplate
	release  *v1beta2.ModuleReleaseMeta
	kind     modulestatus.Type
}

// readAvailable reads the available modules: from a source, or without one from the cluster and, for a runtime, from its hub.
func (p *planner) readAvailable(ctx context.Context, at *place, source *communitycatalog.Source) (*available, error) {
	in, err := statusreader.Read(ctx, at.WithWatch, statusreader.Scope{CatalogOnly: true, Shallow: true})
	if err != nil {
		return nil, err
	}
	for _, unread := range in.Unread {
		if unread.Kind == "ModuleTemplate" && source == nil {
			return nil, refuse(WhyForbidden, "the available modules cannot be read: %s", unread.Message())
		}
	}
	s := &available{at: at}
	if at.elsewhere() { // the templates of the hub are in no namespace there
		for i := range at.scene.Templates {
			template := at.scene.Templates[i].DeepCopy()
			template.Namespace = ""
			in.Templates = append(in.Templates, *template)
		}
		for i := range at.scene.Releases {
			release := at.scene.Releases[i].DeepCopy()
			release.Namespace = ""
			in.Releases = append(in.Releases, *release)
		}
	}
	if source != nil {
		if err := s.read(ctx, p, *source, &in); err != nil {
			return nil, err
		}
	} else {
		s.templates = in.Templates
	}
	s.releases, s.types = in.Releases, map[string]modulestatus.Type{}
	for _, offer := range modulestatus.Catalog(in) {
		s.types[offer.Name] = offer.Type
	}
	return s, nil
}

// read takes only the modules of a source, and classifies them together with those of the cluster: a module of the lifecycle manager does
// not become a community module because a catalog contains it.
func (s *available) read(ctx context.Context, p *planner, source communitycatalog.Source, in *modulestatus.Inputs) error {
	hub, err := connect(p.as.Config)
	if err != nil {
		return err
	}
	catalog, digest, err := p.fetch(ctx, hub, source)
	if err != nil {
		return err
	}
	for i := range catalog.Templates {
		template := catalog.Templates[i].DeepCopy()
		template.Namespace = ""
		s.templates = append(s.templates, *template)
	}
	if err := p.saw(ctx, source, catalog); err != nil {
		return err
	}
	if catalog.Warning != "" {
		s.warnings = append(s.warnings, catalog.Warning)
	}
	s.origin = &modulestatus.Origin{
		URL: source.URL, Digest: digest, Pinned: source.Digest != "", Key: source.Key, Version: source.Seen(catalog),
	}
	if !s.at.elsewhere() { // the source is kept there, too
		s.origin.Name = source.Name
	}
	in.Templates = append(in.Templates, s.templates...)
	for i := range catalog.Releases {
		release := catalog.Releases[i].DeepCopy()
		release.Namespace = ""
		in.Releases = append(in.Releases, *release)
	}
	return nil
}

// find returns the template of a version, or of the one that a channel offers, or else of the newest that is no pre-release, in the
// namespace that is chosen.
func (s *available) find(wish kymaedit.ModuleRequest, choice modulestatus.Choice) (offered, error) {
	templates := slices.DeleteFunc(slices.Clone(s.templates), func(t v1beta2.ModuleTemplate) bool {
		return modulestatus.ModuleOf(&t) != wish.Name
	})
	if len(templates) == 0 {
		where := "the cluster"
		if s.origin != nil {
			where = s.origin.URL
		}
		return offered{}, refuse(WhyNotFound, "there is no module %s: %s has no ModuleTemplate of it", wish.Name, where)
	}
	if s.origin != nil {
		choice = modulestatus.Choice{} // a catalog is in no namespace
	}
	namespace, err := choice.Among(wish.Name, modulestatus.NamespacesOf(templates))
	if err != nil {
		return offered{}, judged(err)
	}
	found := offered{kind: cmp.Or(s.types[wish.Name], modulestatus.Community)}
	if found.release, err = modulestatus.ReleaseOf(wish.Name, namespace, s.releases); err != nil {
		return offered{}, judged(err)
	}
	offer := kymaedit.Offer{Module: wish.Name, Channels: map[string]string{}}
	if found.release != nil {
		offer = kymaedit.Offers([]v1beta2.ModuleReleaseMeta{*found.release}, nil)[wish.Name]
	}
	templates = slices.DeleteFunc(templates, func(t v1beta2.ModuleTemplate) bool { return t.Namespace != namespace })
	var versions []string
	for i := range templates {
		versions = append(versions, templates[i].ModuleVersion())
	}
	offer.Versions = kymaedit.Newest(versions)
	version, err := offer.Choose(wish)
	if err != nil {
		return offered{}, judged(err)
	}
	found.template = &templates[slices.Index(versions, version)]
	return found, nil
}

// taken returns where a module comes from, for the user who must decide about it.
func (s *available) taken(offer offered) Taken {
	told := Taken{
		Module: modulestatus.ModuleOf(offer.template), Version: offer.template.ModuleVersion(), Namespace: offer.template.Namespace,
	}
	origin := s.origin
	if origin == nil {
		origin = modulestatus.OriginOf(offer.template)
	}
	switch {
	case origin != nil:
		told.Origin = origin.URL
	case told.Namespace == "" && s.at.scene != nil:
		told.Hub = s.at.scene.Kyma.Namespace
	}
	return told
}

// keeps returns the step that puts the template of a module of a source into the cluster, so that the cluster lists what is available;
// nil if the template came from the cluster, or if the cluster has no such kind.
func (s *available) keeps(offer offered) *step {
	_, err := s.at.RESTMapper().RESTMapping(v1beta2.GroupVersion.WithKind("ModuleTemplate").GroupKind())
	if s.origin == nil || err != nil {
		return nil
	}
	template := offer.template
	template.TypeMeta = metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: "ModuleTemplate"}
	template.ObjectMeta = metav1.ObjectMeta{
		Namespace: metav1.NamespaceDefault, Name: template.Name, Labels: template.Labels, Annotations: template.Annotations,
	}
	delete(template.Labels, v1beta2.LabelManagedBy) // a source must not set it
	metav1.SetMetaDataAnnotation(&template.ObjectMeta, communitycatalog.AnnotationSource, s.origin.URL)
	_ = s.origin.Note(template) // a few strings, which always become JSON
	ref := modulestatus.Ref{APIVersion: template.APIVersion, Kind: template.Kind, Namespace: template.Namespace, Name: template.Name}
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

// keep creates a template. An existing one stays, and must be the same: a version is published once.
func (s *available) keep(ctx context.Context, template *v1beta2.ModuleTemplate, ref modulestatus.Ref, dry bool) (Change, error) {
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
			err = refuse(WhyRefused, "the cluster has a different ModuleTemplate %s in namespace %s: delete that, or choose another version",
				ref.Name, ref.Namespace)
		}
		return change, err
	}
	change := Change{Object: ref, Change: apply.ChangeCreate, Fields: []Field{}}
	if !apierrors.IsNotFound(err) {
		return change, err
	}
	options := []client.CreateOption{client.FieldOwner(kymaedit.FieldManager)}
	if dry {
		options = append(options, client.DryRunAll)
	}
	if err := s.at.Create(ctx, template.DeepCopy(), options...); err != nil {
		change.Change, change.Error = apply.ChangeRefused, errorText(err)
		return change, err
	}
	return change, nil
}

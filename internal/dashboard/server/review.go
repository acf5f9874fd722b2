package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/releaseoutlook"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

const (
	// reviewLasts is how long a review is kept: what a version holds changes only when it is published again.
	reviewLasts = 10 * time.Minute
	// mostFindings and mostChanges bound the lists of an answer.
	mostFindings = 300
	mostChanges  = 200
)

// reviewState says how far a version is read.
type reviewState string

// The states of a review.
const (
	reviewReading    reviewState = "Reading"
	reviewDone       reviewState = "Done"
	reviewUnreadable reviewState = "Unreadable"
)

// versionReview is what a version of a module may do, and what changes with it.
type versionReview struct {
	State reviewState `json:"state"`
	// Step is what is being done.
	Step string `json:"step,omitempty"`
	// Problem is why the version cannot be read.
	Problem *unreadable `json:"problem"`
	Module  string      `json:"module"`
	Version string      `json:"version"`
	// Against is the version that it is compared with; empty for a first installation.
	Against string `json:"against,omitempty"`
	// Note says what the comparison leaves out.
	Note   string `json:"note,omitempty"`
	Limits string `json:"limits"`
	// Changes and May are there once the version was read. May is everything that it may do, the gravest first, and More counts what is
	// left out.
	Changes *releasepreview.Changes `json:"changes"`
	May     []permissions.Finding   `json:"may"`
	More    int                     `json:"more,omitempty"`
}

// comparedVersions is the result of reading two versions.
type comparedVersions struct {
	changes releasepreview.Changes
	may     []permissions.Finding
	more    int
	against string
	note    string
}

// versionAsked is a version of a module, and where it comes from.
type versionAsked struct {
	module, version string
	namespace       string
	// source is the name of the source that offers the version; empty for the cluster.
	source  string
	release *v1beta2.ModuleReleaseMeta
	// template of the version; nil for an installed one that has none any more.
	template *v1beta2.ModuleTemplate
	// manifest is what installs the module now; nil for none.
	manifest *v1beta2.Manifest
	// before is the template of the version to compare with, if no Manifest installs that; nil for none.
	before *v1beta2.ModuleTemplate
	// against is the version to compare with; empty for none.
	against string
}

// key identifies a comparison.
func (a *versionAsked) key(u *User) string {
	key := "review " + u.Name + " " + a.namespace + "/" + a.module + " " + a.version + " against " + a.against
	if a.template != nil {
		key += " " + a.template.Name + " " + a.template.ResourceVersion
		if a.source != "" { // a template of a catalog has no version of its own
			key += " " + a.source + " " + linkOf(a.template) + " " + a.template.Annotations[v1beta2.AnnotationRawManifestDigest]
		}
	}
	if a.manifest != nil {
		key += " " + a.manifest.Namespace + "/" + a.manifest.Name + " " + revision.Digest(&a.manifest.Spec)
	}
	return key
}

// installed reports whether the Manifest installs a version.
func (a *versionAsked) installed(version string) bool {
	return a.manifest != nil && version != "" && a.manifest.Spec.Version == version
}

// offerReview answers GET /api/v1/catalog/{name}/review?namespace=&source=&version=&against=.
func (s *Server) offerReview(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query, "version", "namespace", "source", "against"); err != nil {
		return nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("name")
	asked := &versionAsked{module: clip(name, 100), source: query.Get("source")}
	if asked.template, err = s.chosenTemplate(ctx, u, now, name, query); err != nil {
		return nil, err
	}
	asked.version = asked.template.ModuleVersion()
	if asked.source == "" {
		asked.namespace = asked.template.Namespace
		asked.release = now.release(asked.namespace, name)
	}
	if query.Get("against") != "" {
		query.Set("version", query.Get("against"))
		if asked.before, err = s.chosenTemplate(ctx, u, now, name, query); err != nil {
			return nil, err
		}
		asked.against = asked.before.ModuleVersion()
	}
	return s.review(u, asked), nil
}

// moduleReview answers GET /api/v1/modules/{ns}/{kyma}/{name}/review?version=, and that of a module without a Kyma: the version against the
// installed one.
func (s *Server) moduleReview(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query, "version"); err != nil {
		return nil, err
	}
	o, err := s.named(ctx, u, r)
	if err != nil {
		return nil, err
	}
	m := o.module
	asked := &versionAsked{
		module: m.Name, version: cmp.Or(query.Get("version"), m.Version.Available, m.Version.Installed), manifest: manifestOf(&o.in, m.Manifest),
	}
	if o.kyma != nil {
		asked.namespace = o.kyma.Namespace
	} else if m.Template != nil {
		asked.namespace = m.Template.Namespace
	}
	if from := s.sourceOf(ctx, u, o); from != nil {
		asked.template, asked.source = from.template(m.Name, asked.version), from.Name
	}
	if asked.template == nil {
		asked.source = ""
		asked.template, err = o.now.templateOf(u, m.Name, asked.namespace, asked.version)
		if err != nil && !asked.installed(asked.version) {
			return nil, err
		}
	}
	asked.release = o.now.release(asked.namespace, m.Name)
	if m.Version.Installed != asked.version {
		asked.against = m.Version.Installed
		asked.before = o.now.templateIn(asked.namespace, m.Name, asked.against)
	}
	return s.review(u, asked), nil
}

// release returns the release of a module, nil if there is none.
func (s *snapshot) release(namespace, name string) *v1beta2.ModuleReleaseMeta {
	for i := range s.in.Releases {
		if release := &s.in.Releases[i]; release.Namespace == namespace && release.Name == name {
			return release
		}
	}
	return nil
}

// templateIn returns the template of a version in a namespace, nil if there is none.
func (s *snapshot) templateIn(namespace, name, version string) *v1beta2.ModuleTemplate {
	for i := range s.in.Templates {
		t := &s.in.Templates[i]
		if t.Namespace == namespace && modulestatus.ModuleOf(t) == name && t.ModuleVersion() == version {
			return t
		}
	}
	return nil
}

// review returns how far the comparison of a version is, and begins it.
func (s *Server) review(u *User, asked *versionAsked) versionReview {
	is := versionReview{
		State: reviewReading, Module: asked.module, Version: asked.version, Against: asked.against, Limits: permissions.Limits,
		May: []permissions.Finding{},
	}
	got := look(s.jobs, asked.key(u), u.Name, reviewLasts, func(ctx context.Context, say func(string)) (*comparedVersions, error) {
		return s.compareVersions(s.fetching(ctx), u, asked, say)
	})
	switch is.Step = got.step; {
	case !got.done:
	case got.err != nil:
		is.State, is.Problem = reviewUnreadable, unread(got.err)
	default:
		is.State, is.Against, is.Note = reviewDone, got.value.against, got.value.note
		is.Changes, is.May, is.More = &got.value.changes, got.value.may, got.value.more
	}
	return is
}

// compareVersions reads a version and what is installed, and compares them.
func (s *Server) compareVersions(ctx context.Context, u *User, asked *versionAsked, say func(string)) (*comparedVersions, error) {
	say("reading " + asked.module + " " + asked.version)
	after, err := s.sideOf(ctx, u, asked)
	if err != nil {
		return nil, err
	}
	made := &comparedVersions{against: asked.against}
	before, err := s.sideBefore(ctx, u, asked, say)
	if err != nil {
		made.against, made.note = "", "what is installed cannot be read, so that nothing is compared: "+unread(err).Message
	}
	say("comparing")
	made.changes = releasepreview.Compare(before, after)
	if caveats := releaseoutlook.CaveatsOf(before, after); caveats != "" {
		made.note = strings.TrimPrefix(made.note+"; what is read is "+caveats, "; ")
	}
	trim(&made.changes)
	report := after.Rights()
	made.may = report.Findings[:min(len(report.Findings), mostFindings)]
	made.more = len(report.Findings) - len(made.may)
	return made, nil
}

// sideOf reads the version itself: from the registry of its component, or from the link of a template without one.
func (s *Server) sideOf(ctx context.Context, u *User, asked *versionAsked) (*releasepreview.Side, error) {
	if asked.release == nil && asked.template != nil && linkOf(asked.template) != "" {
		return s.linkedSide(ctx, asked.template)
	}
	loader, _, done, err := s.loaderFor(ctx, u, asked.namespace, asked.module)
	if err != nil {
		return nil, err
	}
	defer done()
	var version *versioncontent.Version
	if asked.template == nil {
		version, err = loader.LoadManifest(ctx, asked.manifest)
	} else {
		version, err = loader.LoadFor(ctx, asked.release, asked.template, asked.manifest)
	}
	if err != nil {
		return nil, err
	}
	return releaseoutlook.SideOf(version), nil
}

// sideBefore reads what is installed; nil for a first installation.
func (s *Server) sideBefore(ctx context.Context, u *User, asked *versionAsked, say func(string)) (*releasepreview.Side, error) {
	if asked.against == "" {
		return nil, nil //nolint:nilnil // nothing is installed
	}
	say("reading " + asked.module + " " + asked.against)
	installed := asked.installed(asked.against)
	switch {
	case !installed && asked.before == nil:
		return nil, &unreadable{Reason: WhyNotFound, Message: "there is no ModuleTemplate of version " + asked.against}
	case !installed && asked.release == nil && linkOf(asked.before) != "":
		return s.linkedSide(ctx, asked.before)
	}
	loader, _, done, err := s.loaderFor(ctx, u, asked.namespace, asked.module)
	if err != nil {
		return nil, err
	}
	defer done()
	var version *versioncontent.Version
	if installed {
		version, err = loader.LoadManifest(ctx, asked.manifest)
	} else {
		version, err = loader.LoadFor(ctx, asked.release, asked.before, asked.manifest)
	}
	if err != nil {
		return nil, err
	}
	side := releaseoutlook.SideOf(version)
	side.Template = cmp.Or(side.Template, asked.before)
	return side, nil
}

// linkOf returns the address of a template's content, empty if it names none.
func linkOf(template *v1beta2.ModuleTemplate) string {
	at := slices.IndexFunc(template.Spec.Resources, func(n v1beta2.Named) bool {
		return slices.Contains(modulestatus.ManifestLinks(), n.Name)
	})
	if at < 0 {
		return ""
	}
	return template.Spec.Resources[at].Link
}

// linkedSide reads what a template's link leads to.
func (s *Server) linkedSide(ctx context.Context, template *v1beta2.ModuleTemplate) (*releasepreview.Side, error) {
	ctx, over := context.WithTimeout(ctx, linkTime)
	defer over()
	objects, err := s.behind(ctx, linkOf(template), template.Annotations[v1beta2.AnnotationRawManifestDigest])
	if err != nil {
		if communitycatalog.Undialled(err) != nil {
			return nil, err
		}
		message := "the link rawManifest of ModuleTemplate " + template.Name + " cannot be read: " + cause(err)
		return nil, &unreadable{Reason: WhyUnreachable, Message: message}
	}
	return &releasepreview.Side{
		Version: template.ModuleVersion(), Digest: template.Annotations[v1beta2.AnnotationRawManifestDigest],
		Template: template, Objects: objects,
	}, nil
}

// trim bounds the lists of a comparison. What is left out is the least grave, or the last by name.
func trim(c *releasepreview.Changes) {
	c.Rights.Added, c.Rights.Removed = cut(c.Rights.Added, mostFindings), cut(c.Rights.Removed, mostFindings)
	c.Rights.DefinitionsChanged = cut(c.Rights.DefinitionsChanged, mostChanges)
	c.Rights.WebhooksAdded, c.Rights.WebhooksChanged = cut(c.Rights.WebhooksAdded, mostChanges), cut(c.Rights.WebhooksChanged, mostChanges)
	c.Rights.WebhooksRemoved = cut(c.Rights.WebhooksRemoved, mostChanges)
	c.Rights.ImagesAdded, c.Rights.ImagesChanged = cut(c.Rights.ImagesAdded, mostChanges), cut(c.Rights.ImagesChanged, mostChanges)
	c.Rights.ImagesRemoved = cut(c.Rights.ImagesRemoved, mostChanges)
	c.Objects.Added, c.Objects.Removed = cut(c.Objects.Added, mostChanges), cut(c.Objects.Removed, mostChanges)
	c.Objects.Changed, c.Objects.Restarts = cut(c.Objects.Changed, mostChanges), cut(c.Objects.Restarts, mostChanges)
	c.Definitions, c.Template = cut(c.Definitions, mostChanges), cut(c.Template, mostChanges)
}

func cut[T any](all []T, most int) []T { return all[:min(len(all), most):min(len(all), most)] }

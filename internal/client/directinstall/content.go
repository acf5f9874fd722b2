package directinstall

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// linkNames are the accepted names of the link to a module's content in spec.resources.
var linkNames = []string{"rawManifest", "raw-manifest"}

// loaded is the content of a module.
type loaded struct {
	definitions []*unstructured.Unstructured
	sources     []installer.Source
	pinned      []installer.Resolved
	images      []string
	source      string // reference@digest, for users and for the next call
	component   string // its name; empty for content in none
	signed      modulestatus.Signed
	seal        *seal // nil unless the content must match a component version
}

// load finds the content of a module, in this order:
//
//  1. the sources of the Plan
//  2. the component version that the Plan or the descriptor of the template names
//  3. the link rawManifest of the template, whose digest the template's annotation names, and which must keep the digest of its first use
func (c *installing) load(ctx context.Context, store *content.Store) (loaded, error) {
	if len(c.plan.Sources) > 0 {
		signed, err := c.plan.unsigned("files")
		return loaded{sources: slices.Clone(c.plan.Sources), source: "local", signed: signed}, err
	}
	where, err := componentOf(&c.plan)
	if err != nil {
		return loaded{}, err
	}
	if where != nil {
		found, err := c.fromComponent(ctx, where, store)
		if err != nil {
			return found, err
		}
		return found, c.unchanged(found.source)
	}
	for _, link := range c.plan.Template.Spec.Resources {
		if slices.Contains(linkNames, link.Name) {
			return c.fromLink(ctx, link.Link, store)
		}
	}
	return loaded{}, refuse(ReasonNoContent, "the ModuleTemplate %s does not state the content of module %s: "+
		"name its component in a registry, or give it a link rawManifest in spec.resources", c.plan.Template.Name, c.module)
}

// fromLink returns the content behind an https link.
func (c *installing) fromLink(ctx context.Context, link string, store *content.Store) (loaded, error) {
	signed, err := c.plan.unsigned("the link " + link)
	if err != nil {
		return loaded{}, err
	}
	vouched, err := c.templateDigest()
	if err != nil {
		return loaded{}, err
	}
	address, err := url.Parse(link)
	if err != nil {
		return loaded{}, refuse(ReasonPlanInvalid, "the link rawManifest of the ModuleTemplate %s cannot be read", c.plan.Template.Name)
	}
	policy := c.plan.Access.policy(address.Host)
	source := &content.LinkSource{Store: store, URL: link, CA: policy.CA, AllowPlain: policy.PlainHTTP || c.plan.Access.PlainHTTP}
	resolved, err := source.Resolve(ctx)
	if before, known := c.before(source.Reference()); err != nil && known {
		if _, missing := store.Path(before); missing == nil { // the link is unreachable, and its content is in the store
			resolved, err = content.Resolved{Digest: before}, nil
		}
	}
	if err != nil {
		return loaded{}, fmt.Errorf("the link rawManifest: %w", err)
	}
	const name = "rawManifest"
	told := installer.Resolved{Source: name, Reference: source.Reference(), Resolved: resolved}
	found := loaded{
		sources: []installer.Source{{Name: name, Content: source, Renderer: render.Raw{}}}, pinned: []installer.Resolved{told},
		source: told.Reference + "@" + resolved.Digest, signed: signed,
	}
	if vouched != "" && vouched != resolved.Digest {
		return loaded{}, &content.Error{Reason: content.ReasonDigestMismatch, Err: fmt.Errorf("%s has the digest %s, and the ModuleTemplate %s "+
			"says %s: it is not what was published as version %s of module %s; nothing was changed, ask who publishes it which one is right",
			told.Reference, resolved.Digest, c.plan.Template.Name, vouched, c.version, c.module)}
	}
	return found, c.unchanged(found.source)
}

// templateDigest returns the digest that the template states for its link, empty when it states none. It refuses a digest that cannot be
// parsed, since it could not be verified.
func (c *installing) templateDigest() (string, error) {
	text, promised := c.plan.Template.Annotations[v1beta2.AnnotationRawManifestDigest]
	if !promised {
		return "", nil
	}
	if parsed, err := digest.Parse(text); err != nil || parsed.Algorithm() != digest.SHA256 {
		return "", refuse(ReasonPlanInvalid, "the annotation %s of the ModuleTemplate %s is no digest: write sha256: and the 64 hex digits "+
			"in lower case that sha256sum prints", v1beta2.AnnotationRawManifestDigest, c.plan.Template.Name)
	}
	return text, nil
}

// before returns the digest of a reference when this version was installed.
func (c *installing) before(reference string) (digest string, known bool) {
	if c.record == nil || c.note.Version != c.version {
		return "", false
	}
	return strings.CutPrefix(c.note.Source, reference+"@")
}

// unchanged refuses changed content under the same version and reference.
func (c *installing) unchanged(source string) error {
	reference, digest, _ := strings.Cut(source, "@")
	before, known := c.before(reference)
	if !known || before == digest || c.plan.AllowOtherContent {
		return nil
	}
	return refuse(ReasonContentChanged, "%s has other content than when version %s of module %s was installed: it was %s, and now it is %s; "+
		"a version is published once", reference, c.version, c.module, before, digest)
}

// policy returns the settings of a host.
func (a Access) policy(host string) content.HostPolicy {
	if a.Policy == nil {
		return content.HostPolicy{}
	}
	return a.Policy(host)
}

// plain reports whether a host is accessed without TLS.
func (a Access) plain(host string) bool { return a.PlainHTTP || a.policy(host).PlainHTTP }

// localise replaces the images in the content by those of a component.
func localise(images []string) []func(*unstructured.Unstructured) error {
	if len(images) == 0 {
		return nil
	}
	return []func(*unstructured.Unstructured) error{func(object *unstructured.Unstructured) error {
		done, err := render.LocaliseImages([]*unstructured.Unstructured{object}, images)
		if err == nil {
			object.Object = done[0].Object
		}
		return err
	}}
}

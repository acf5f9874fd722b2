package modulecontent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/manager/phases"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// callKey identifies a call for the content of a part. It includes the logins, since the refusal of one does not apply to another.
type callKey struct {
	namespace, reference, digest, format, path string
	access, input                              [sha256.Size]byte
}

// answer is the result of a call.
type answer struct {
	resolved content.Resolved
	rendered render.Rendered
	// blind is why the content could not be rendered, where that may be because nothing was looked up for it.
	blind *render.NeedsLookups
}

// renderedKey is the cache key of rendered objects: verified content does not depend on its origin, only on how that type of place reads
// it.
type renderedKey struct {
	digest, format, place, path string
	input                       [sha256.Size]byte
}

func (a *parsedSource) renderedKey(digest string, input [sha256.Size]byte) renderedKey {
	return renderedKey{digest, a.format, a.place.Keys()[0], a.path, input}
}

// Read returns the installations of a Manifest in order, verified and rendered.
//
//  1. A source that status.resolved pins stays pinned as long as its reference is the same; a tag is resolved once.
//  2. The config layer comes first, because it holds the values with which the others are rendered.
//  3. A part whose content is already rendered costs nothing; otherwise the content is fetched, unless the store has it, and rendered.
//  4. A part whose chart generates values, looks something up, or declares something else in an upgrade is rendered for its installation:
//     with what its cluster keeps of that and has.
//  5. Where the policy requires signatures, everything must be covered by the signature of the component version: see covering.
//
// capabilities is called only when a format needs them. The error is a *content.Error where content, registry or spec is the cause, and
// ErrPending while content is being fetched.
func (c *Contents) Read(
	ctx context.Context, m *v1beta2.Manifest, capabilities func(context.Context) (runtimes.Capabilities, error),
) ([]Part, error) {
	return c.readCovered(ctx, m, capabilities, false)
}

// Explore is Read, and also finds what the installations would declare if the cluster served other APIs or were upgraded.
func (c *Contents) Explore(ctx context.Context, m *v1beta2.Manifest, known runtimes.Capabilities) ([]Part, error) {
	return c.readCovered(ctx, m, func(context.Context) (runtimes.Capabilities, error) { return known, nil }, true)
}

func (c *Contents) readCovered(
	ctx context.Context, m *v1beta2.Manifest, capabilities func(context.Context) (runtimes.Capabilities, error), explore bool,
) ([]Part, error) {
	held, err := c.covering(ctx, m)
	if err != nil {
		return nil, err
	}
	held.explore = explore
	if held.floor != nil {
		held.floor.explore = explore
		if _, err := c.read(ctx, m, capabilities, held.floor); err != nil {
			return nil, err
		}
	}
	read, err := c.read(ctx, m, capabilities, held)
	if err == nil && len(held.problems) > 0 {
		c.warn(m, listed(held.problems))
	}
	return read, err
}

func (c *Contents) read(
	ctx context.Context, m *v1beta2.Manifest, capabilities func(context.Context) (runtimes.Capabilities, error), held *covering,
) ([]Part, error) {
	parts, err := c.everything(m)
	if err != nil {
		return nil, err
	}
	if err := held.checkSpec(); err != nil {
		return nil, err
	}
	reading := &reading{Contents: c, manifest: m, capabilities: capabilities, covering: held}
	if reading.values, err = reading.specValues(ctx); err != nil {
		return nil, err
	}
	read := make([]Part, 0, len(parts))
	for i := range parts {
		part, err := reading.part(ctx, &parts[i])
		if err != nil {
			return nil, reading.withoutSecrets(err)
		}
		read = append(read, part)
	}
	if err := reading.unused(parts); err != nil {
		return nil, err
	}
	phases.Reach(ctx, phases.Fetch)
	return read, reading.withoutSecrets(errors.Join(held.checkImages(read), reading.checkDescribed(ctx, read)))
}

// reading is one call of Read.
type reading struct {
	*Contents
	*covering
	manifest     *v1beta2.Manifest
	capabilities func(context.Context) (runtimes.Capabilities, error)
	config       helm.Config
	known        *runtimes.Capabilities
	// selector selects the login for the first installation.
	selector *metav1.LabelSelector
	// installs counts the installations that were read.
	installs int
	// values go before those of the config layer; nil for none. secrets are those of them that come from Secrets.
	values  map[string]any
	secrets []any
}

// part reads and renders one part.
func (r *reading) part(ctx context.Context, part *parsedSource) (Part, error) {
	if part.name == PartConfig {
		return r.readConfig(ctx, part)
	}
	own, err := r.config.For(r.knownAs(part.name))
	if err != nil {
		return Part{}, err
	}
	if !r.Formats[part.format].Values && (len(own.Values) > 0 || own.ReleaseName != "") {
		return Part{}, valuesInvalid("%s: values, overrides and ReleaseName are for charts, and %s is of type %s",
			PartConfig, part.name, part.format)
	}
	input := render.Input{Path: part.path}
	if r.Formats[part.format].Values {
		if input, err = r.input(ctx, part, own); err != nil {
			return Part{}, err
		}
	}
	source, got, err := r.get(ctx, part, input)
	if err == nil && got.ofInstallation() {
		source, got, err = r.forInstallation(ctx, part, input, source, got)
	}
	if err != nil {
		return Part{}, err
	}
	if part.name != PartCRDs {
		r.installs++
	}
	if r.installs == 1 {
		r.selector = part.selector
	}
	if err = r.checkPart(part, r.installs == 1, got.resolved.Digest); err == nil {
		err = r.checkRelease(ctx, part, &own)
	}
	if err != nil {
		return Part{}, err
	}
	return Part{
		Source: resolvedSource(part, source, got.resolved), Rendered: got.rendered,
		Namespace: own.Namespace, CreateNamespace: own.CreateNamespace,
	}, nil
}

// knownAs returns the name of an installation in the config layer.
func (r *reading) knownAs(install string) string {
	return installable.ConfigName(r.config.Installs(), r.manifest.Labels[v1beta2.LabelModuleName], install)
}

// input returns the input of a format with values: those of the config layer, overridden by those of the Kyma's entry and of the spec.
func (r *reading) input(ctx context.Context, part *parsedSource, own helm.InstallConfig) (render.Input, error) {
	input := render.Input{
		Name: cmp.Or(own.ReleaseName, installable.ReleaseName(r.manifest.Labels[v1beta2.LabelModuleName], part.name)), Path: part.path,
		Namespace: cmp.Or(own.Namespace, r.manifest.Spec.TargetNamespace), Values: own.Values, Hooks: true,
		Generated: &render.Generated{},
	}
	if r.values != nil {
		input.Values = helm.MergeValues(own.Values, r.values)
	}
	if r.known == nil {
		known, err := r.capabilities(ctx)
		if err != nil {
			return input, err
		}
		r.known = &known
	}
	input.KubeVersion, input.APIVersions, input.Explore = r.known.KubeVersion, r.known.APIVersions, r.explore
	return input, nil
}

// readConfig reads the config layer.
func (r *reading) readConfig(ctx context.Context, part *parsedSource) (Part, error) {
	source, resolved, tree, err := r.tree(ctx, part)
	if err != nil {
		return Part{}, err
	}
	if err := r.checkPart(part, false, resolved.Digest); err != nil {
		return Part{}, err
	}
	var data []byte
	if len(tree.Files) > 0 {
		data = tree.Files[0].Data
	}
	if r.config, err = helm.ParseConfig(data); err != nil {
		return Part{}, err
	}
	return Part{Source: resolvedSource(part, source, resolved)}, nil
}

// unused refuses values that no installation uses, and settings of the config layer for installations that do not exist: their author
// expects an effect.
func (r *reading) unused(parts []parsedSource) error {
	spec := &r.manifest.Spec
	names, takes := make([]string, 0, len(parts)), !hasValues(spec)
	for i := range parts {
		names = append(names, parts[i].name, r.knownAs(parts[i].name))
		takes = takes || r.Formats[parts[i].format].Values
	}
	switch {
	case takes:
	case spec.KymaValues != nil:
		return valuesInvalid("the module's entry in the Kyma has values, and version %s of the module has no chart that takes them: "+
			"remove values and valuesFrom from the entry", spec.Version)
	default:
		return valuesInvalid("spec.values: no installation takes values: remove them, or install a chart")
	}
	for _, name := range r.config.Installs() {
		if !slices.Contains(names, name) {
			return valuesInvalid("%s names an unknown installation %q; known are %s", PartConfig, name, strings.Join(slices.Compact(names), ", "))
		}
	}
	return nil
}

func valuesInvalid(format string, args ...any) error {
	return &content.Error{Reason: content.ReasonValuesInvalid, Err: fmt.Errorf(format, args...)}
}

// get returns a rendered part, from the cache if possible.
func (r *reading) get(ctx context.Context, part *parsedSource, input render.Input) (content.Source, answer, error) {
	source, err := r.open(r.manifest, part, Logins{})
	if err != nil {
		return nil, answer{}, err
	}
	pinned, found := pinnedTo(r.manifest, part.name, source.Reference())
	sum := fingerprint(input)
	if found {
		if rendered, ok := r.cached(part.renderedKey(pinned.Digest, sum)); ok {
			return source, answer{resolved: pinned, rendered: rendered}, nil
		}
	}
	logins, err := r.loginsFor(ctx, r.manifest, part, source)
	if err != nil {
		return nil, answer{}, err
	}
	if source, err = r.open(r.manifest, part, logins); err != nil {
		return nil, answer{}, err
	}
	key := callKey{
		namespace: r.manifest.Namespace, reference: source.Reference(), digest: pinned.Digest, format: part.format, path: part.path,
		access: part.access(&logins), input: sum,
	}
	got, retry, err := r.calls.do(ctx, key, func(ctx context.Context) (answer, error) {
		ctx, leave := r.room.Enter(ctx)
		defer leave()
		return r.render(ctx, source, pinned, part, input, key.access)
	})
	return source, got, pending(part, retry, r.withheld(ctx, r.manifest, &logins, source, err))
}

// pending translates the result of a call into an error of this package.
func pending(part *parsedSource, retry time.Duration, err error) error {
	if err != nil { // including a full disk, which would go unnoticed otherwise
		return &content.Error{Reason: content.ReasonOf(err), Err: fmt.Errorf("%s: %w", part.name, err), RetryAfter: retry}
	}
	if retry > 0 {
		return ErrPending
	}
	return nil
}

// render makes the call for get.
func (c *Contents) render(
	ctx context.Context, source content.Source, pinned content.Resolved, part *parsedSource, input render.Input, access [sha256.Size]byte,
) (answer, error) {
	resolved, shared, err := c.resolve(ctx, source, pinned, access)
	if err != nil {
		return answer{}, err
	}
	key := part.renderedKey(resolved.Digest, fingerprint(input))
	if rendered, ok := c.cached(key); ok && shared {
		return answer{resolved: resolved, rendered: rendered}, nil
	}
	tree, err := c.fetch(ctx, source, resolved, shared, access)
	if err != nil {
		return answer{}, err
	}
	if tree, err = c.within(tree, part); err != nil {
		return answer{}, err
	}
	rendered, err := c.Formats[part.format].Renderer.Render(ctx, tree, input)
	if blind, ok := errors.AsType[*render.NeedsLookups](err); ok {
		return answer{resolved: resolved, blind: blind}, nil
	}
	if err != nil {
		return answer{}, err
	}
	c.rendered.Add(key, rendered)
	return answer{resolved: resolved, rendered: rendered}, nil
}

// within returns the part of the content at the path of the source. A git source has already applied the path.
func (c *Contents) within(tree *content.Tree, part *parsedSource) (*content.Tree, error) {
	if _, git := part.place.(gitPlace); part.path == "" || git || c.Formats[part.format].Whole {
		return tree, nil
	}
	return tree.Sub(part.path)
}

func (c *Contents) cached(key renderedKey) (render.Rendered, bool) {
	known, _ := c.rendered.Get(key)
	rendered, ok := known.(render.Rendered)
	return rendered, ok
}

// pinnedTo returns what a source was resolved to before, if its reference is still the same.
func pinnedTo(m *v1beta2.Manifest, name, reference string) (content.Resolved, bool) {
	for _, known := range m.Status.Resolved {
		if known.Name == name && known.Reference == reference && known.Digest != "" {
			return content.Resolved{Digest: known.Digest, Version: known.Version, MediaType: known.MediaType}, true
		}
	}
	return content.Resolved{}, false
}

func resolvedSource(part *parsedSource, source content.Source, resolved content.Resolved) v1beta2.ResolvedSource {
	return v1beta2.ResolvedSource{
		Name: part.name, Reference: source.Reference(), Digest: resolved.Digest, Version: resolved.Version, MediaType: resolved.MediaType,
	}
}

// fingerprint returns equal hashes for equal inputs.
func fingerprint(input render.Input) [sha256.Size]byte {
	raw, err := json.Marshal(input) //nolint:musttag // it is only compared
	if err != nil {
		panic(err) // values came from JSON, the rest is text
	}
	return sha256.Sum256(raw)
}

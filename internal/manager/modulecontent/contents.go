package modulecontent

import (
	"context"
	"errors"

	"github.com/go-logr/logr"
	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/formats"
)

const (
	// keptContents is the maximum number of rendered contents that are cached; the store on disk keeps the content itself.
	keptContents = 64
	// unpackedAtOnce bounds the bytes that concurrently read content may unpack to: two of the largest accepted contents, or dozens of charts.
	unpackedAtOnce = 512 << 20
)

// Format defines how content of a type is rendered.
type Format struct {
	Renderer render.Renderer
	// Archive reports whether the content is an archive of files and not one file.
	Archive bool
	// Whole reports whether the renderer takes the whole content and finds Input.Path in it, since files there may refer to files outside it.
	Whole bool
	// Values reports whether the renderer takes values, and renders differently for different clusters and names.
	Values bool
}

// BuiltinFormats returns the built-in types of a source.
func BuiltinFormats() map[string]Format {
	known := map[string]Format{}
	for name, renderer := range formats.Builtin() {
		kind := v1beta2.RefType(name)
		known[name] = Format{
			Renderer: renderer, Archive: kind != v1beta2.RefTypeOCI,
			Whole: kind == v1beta2.RefTypeKustomize, Values: kind == v1beta2.RefTypeHelmChart,
		}
	}
	delete(known, "") // the place defines the type of a source that names none
	return known
}

// Contents reads the content of Manifests' sources.
type Contents struct {
	// OCI fetches verified content from registries into its Store, which keeps all other content too.
	OCI *content.OCI
	// Secrets reads registry credentials without a cache.
	Secrets client.Reader
	// Places and Formats are those that a source can name.
	Places  []SourceType
	Formats map[string]Format
	// Policy returns how to connect to a host; nil means with TLS and the system's certificate authorities.
	Policy func(host string) content.HostPolicy
	// OperatorLogin returns the scope of the login of OCI for a Manifest that selects none; nil: no restriction.
	OperatorLogin func(ctx context.Context, m *v1beta2.Manifest) (OperatorLogin, error)
	// HubValues reads the values that entries of Kymas take from objects of the hub; nil: there are none.
	HubValues HubValues
	// Signed returns which content is covered by signatures; nil: none has to be.
	Signed Signed
	// Log gets a line, once, for unsigned content that needs no signature.
	Log logr.Logger

	told     *lru.Cache
	rendered *lru.Cache
	fetchers *lru.Cache
	reached  *lru.Cache
	calls    *calls[callKey, answer]
	trees    *calls[callKey, files]
	room     *content.Room
	asking   singleflight.Group
}

// ErrPending reports that content is being fetched for the first time; nothing has failed.
var ErrPending = errors.New("the content is being fetched")

// NewContents returns Contents that fetch with oci, with the built-in places and formats; reader reads Secrets and ConfigMaps.
func NewContents(oci *content.OCI, reader client.Reader) *Contents {
	through, host := newGate(callsAtOnce, callsOfPlace), func(key callKey) string { return placeOf(key.reference) }
	return &Contents{
		OCI: oci, Secrets: reader, Places: BuiltinPlaces(reader), Formats: BuiltinFormats(),
		told: lru.New(keptReaches), rendered: lru.New(keptContents), fetchers: lru.New(keptContents), reached: lru.New(keptReaches),
		calls: newCalls[callKey, answer](through, host), trees: newCalls[callKey, files](through, host), room: content.NewRoom(unpackedAtOnce),
	}
}

// Part is one installation of a Manifest, rendered.
type Part struct {
	// Source is its name and reference, and the content that it was resolved to.
	Source v1beta2.ResolvedSource
	// Rendered objects are shared: copy one before changing it.
	Rendered render.Rendered
	// Namespace for objects that name none, where the config layer sets one; CreateNamespace requests its creation.
	Namespace       string
	CreateNamespace bool
}

// Sources returns all sources that a Manifest installs from, in order and without a request: name and reference only.
func (c *Contents) Sources(m *v1beta2.Manifest) ([]v1beta2.ResolvedSource, error) {
	parts, err := c.everything(m)
	if err != nil {
		return nil, err
	}
	sources := make([]v1beta2.ResolvedSource, 0, len(parts))
	for i := range parts {
		source, err := c.open(m, &parts[i], Logins{})
		if err != nil {
			return nil, err
		}
		sources = append(sources, v1beta2.ResolvedSource{Name: parts[i].name, Reference: source.Reference()})
	}
	return sources, nil
}

// everything returns parts with the config layer in front.
func (c *Contents) everything(m *v1beta2.Manifest) ([]parsedSource, error) {
	parts, err := c.parts(m)
	if err != nil || m.Spec.Config == nil {
		return parts, err
	}
	config, err := c.image(PartConfig, m.Spec.Config)
	return append([]parsedSource{config}, parts...), err
}

// open returns the source of a part. Without logins only its reference can be used.
func (c *Contents) open(m *v1beta2.Manifest, part *parsedSource, logins Logins) (content.Source, error) {
	format := c.Formats[part.format]
	ask := SourceRequest{
		Namespace: m.Namespace, Fields: part.fields, Archive: format.Archive, Store: c.OCI.Store, Logins: logins,
		OCI:    func(plainHTTP bool) *content.OCI { return c.fetcher(logins, plainHTTP) },
		Policy: c.policy,
	}
	if !format.Whole {
		ask.Path = part.path
	}
	source, err := part.place.Open(ask)
	if err == nil {
		// Some sources can use an earlier resolution, which can be looked up now that the reference is known.
		if ask.Known, _ = pinnedTo(m, part.name, source.Reference()); ask.Known.Digest != "" {
			source, err = part.place.Open(ask)
		}
	}
	if typed, ok := errors.AsType[*content.Error](err); ok {
		return nil, &content.Error{Reason: typed.Reason, Err: errors.New(part.where + ": " + err.Error()), RetryAfter: typed.RetryAfter}
	}
	return source, err
}

func (c *Contents) policy(host string) content.HostPolicy {
	if c.Policy == nil {
		return content.HostPolicy{}
	}
	return c.Policy(host)
}

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
	// keptContents bounds what was rendered and is kept; the store on disk keeps the content.
	keptContents = 64
	// unpackedAtOnce bounds the bytes that content under way may unpack to: two of the largest that is accepted, or dozens of charts.
	unpackedAtOnce = 512 << 20
)

// Format is how content of a type is rendered.
type Format struct {
	Renderer render.Renderer
	// Archive reports whether the content is many files and not one.
	Archive bool
	// Whole reports whether the renderer takes the whole content and finds Input.Path in it, since what is there may refer to what is beside
	// it.
	Whole bool
	// Values reports whether the renderer takes values, and renders differently for different clusters and names.
	Values bool
}

// BuiltinFormats returns the types of a source that this operator brings.
func BuiltinFormats() map[string]Format {
	known := map[string]Format{}
	for name, renderer := range formats.Builtin() {
		kind := v1beta2.RefType(name)
		known[name] = Format{
			Renderer: renderer, Archive: kind != v1beta2.RefTypeOCI,
			Whole: kind == v1beta2.RefTypeKustomize, Values: kind == v1beta2.RefTypeHelmChart,
		}
	}
	delete(known, "") // the place says what a source without a type is
	return known
}

// Contents reads what the sources of Manifests hold.
type Contents struct {
	// OCI fetches from registries, verified, into its Store, which keeps everything else too.
	OCI *content.OCI
	// Secrets reads registry credentials, past any cache.
	Secrets client.Reader
	// Places and Formats are what a source can name.
	Places  []SourceType
	Formats map[string]Format
	// Policy returns how to talk to a host; nil means by TLS that the system trusts.
	Policy func(host string) content.HostPolicy
	// OperatorLogin returns how far the login of OCI goes for a Manifest that selects none; nil: everywhere.
	OperatorLogin func(ctx context.Context, m *v1beta2.Manifest) (OperatorLogin, error)
	// Signed says which content is vouched for; nil: nothing has to be.
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

// ErrPending says that content is being fetched for the first time; nothing has failed.
var ErrPending = errors.New("the content is being fetched")

// NewContents reads by oci, and knows the built-in places and formats; reader is requested Secrets and ConfigMaps.
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
	// Source says what it is and which content it was resolved to.
	Source v1beta2.ResolvedSource
	// Rendered objects are shared: copy one before changing it.
	Rendered render.Rendered
	// Namespace for objects that name none, where the config layer says one; CreateNamespace asks for it to be made.
	Namespace       string
	CreateNamespace bool
}

// Capabilities are what templates may ask about a cluster.
type Capabilities struct {
	KubeVersion string
	APIVersions []string
}

// Sources names everything that a Manifest installs from, in order and without a call: name and reference only.
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

// everything is parts with the config layer in front.
func (c *Contents) everything(m *v1beta2.Manifest) ([]parsedSource, error) {
	parts, err := c.parts(m)
	if err != nil || m.Spec.Config == nil {
		return parts, err
	}
	config, err := c.image(PartConfig, m.Spec.Config)
	return append([]parsedSource{config}, parts...), err
}

// open makes the source of a part. Without logins it is good for its reference only.
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
		// Callers that can use the content of an earlier resolution are informed, now that the reference is known.
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

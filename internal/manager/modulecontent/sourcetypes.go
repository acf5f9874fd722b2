package modulecontent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/content/git"
)

// SourceType is one kind of place that a source can name. A new kind implements this and is registered in internal/manager/setup.
type SourceType interface {
	// Keys returns the fields of a source that belong to this kind. A source that has the first one is of this kind.
	Keys() []string
	// Format returns the type of a source that names none.
	Format() string
	// Open returns a source made from the fields. It does no I/O.
	Open(ask SourceRequest) (content.Source, error)
}

// SourceRequest is the input of a SourceType.
type SourceRequest struct {
	// Namespace of the Manifest.
	Namespace string
	// Fields of the source, as JSON.
	Fields map[string]json.RawMessage
	// Archive reports whether the format takes all files of an archive and not one file.
	Archive bool
	// Path is the folder of the content to read; empty for the whole content.
	Path string
	// Store stores fetched content.
	Store *content.Store
	// OCI returns the client for registries, with the logins that the source selects; plainHTTP is set when its address is http.
	OCI func(plainHTTP bool) *content.OCI
	// Known is the earlier resolution of the same reference; zero when there is none.
	Known content.Resolved
	// Logins that the source selects, for places that are not OCI registries: For returns that of a host.
	Logins Logins
	// Policy returns how to connect to a host; never nil.
	Policy func(host string) content.HostPolicy
}

// decode reads the fields into a struct.
func (a SourceRequest) decode(into any) error {
	raw, err := json.Marshal(a.Fields)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return sourceInvalid("the source cannot be read: %v", err)
	}
	return nil
}

// BuiltinPlaces returns all built-in kinds: a layer of a repository (repo, name, ref), an image, a Helm repository or a chart in a registry
// (url), git, HTTP and ConfigMaps, which reader reads.
func BuiltinPlaces(reader client.Reader) []SourceType {
	return []SourceType{layerPlace{}, imagePlace{}, chartPlace{}, gitPlace{}, httpPlace{}, configMapPlace{reader}}
}

// layerPlace is upstream's kind: one blob by digest.
type layerPlace struct{}

func (layerPlace) Keys() []string { return []string{"repo", "name", "ref"} }
func (layerPlace) Format() string { return string(v1beta2.RefTypeOCI) }

func (layerPlace) Open(ask SourceRequest) (content.Source, error) {
	spec := v1beta2.ImageSpec{}
	if err := ask.decode(&spec); err != nil {
		return nil, err
	}
	reference, plainHTTP, err := content.ParseReference(spec.Repo, spec.Name, spec.Ref)
	if err != nil {
		return nil, err
	}
	return &content.LayerSource{OCI: ask.OCI(plainHTTP), Ref: reference, Archive: ask.Archive}, nil
}

// imagePlace is an OCI image or artifact.
type imagePlace struct{}

func (imagePlace) Keys() []string { return []string{"image"} }
func (imagePlace) Format() string { return string(v1beta2.RefTypeBundle) }

func (imagePlace) Open(ask SourceRequest) (content.Source, error) {
	spec := struct{ Image string }{}
	if err := ask.decode(&spec); err != nil {
		return nil, err
	}
	image, plainHTTP := strings.CutPrefix(spec.Image, "http://")
	return &content.ImageSource{OCI: ask.OCI(plainHTTP), Image: strings.TrimPrefix(image, "https://")}, nil
}

var commit = regexp.MustCompile(`^[0-9a-f]{40}$`)

// chartPlace is a chart in a Helm repository or an OCI registry. For type kustomize, the url is a git repository and the version a tag or a
// commit of it.
type chartPlace struct{}

func (chartPlace) Keys() []string { return []string{"url", "chartName", "version"} }
func (chartPlace) Format() string { return string(v1beta2.RefTypeHelmChart) }

func (chartPlace) Open(ask SourceRequest) (content.Source, error) {
	spec := struct{ URL, ChartName, Version, Type string }{}
	if err := ask.decode(&spec); err != nil {
		return nil, err
	}
	if spec.Type == string(v1beta2.RefTypeKustomize) {
		if spec.ChartName != "" || spec.Version == "" {
			return nil, sourceInvalid("with type kustomize the url is a git repository: name a tag or a commit of it in version, and no chartName")
		}
		repository := gitSpec{URL: spec.URL}
		if commit.MatchString(spec.Version) {
			repository.Ref.Commit = spec.Version
		} else {
			repository.Ref.Tag = spec.Version
		}
		return openGit(ask, repository)
	}
	address, plainHTTP, err := parseURL(ask, spec.URL, "https", "http", "oci")
	if err != nil {
		return nil, err
	}
	if address.Scheme == "oci" {
		repository := strings.Trim(address.Host+address.Path, "/")
		if spec.ChartName != "" {
			repository += "/" + spec.ChartName
		}
		return &content.ChartSource{OCI: ask.OCI(false), Repository: repository, Version: spec.Version}, nil
	}
	if spec.ChartName == "" {
		return nil, sourceInvalid("chartName is missing: name the chart of the repository %s", shownURL(address))
	}
	login, err := ask.Logins.For(address)
	return &content.HelmRepositorySource{
		Store: ask.Store, URL: spec.URL, Chart: spec.ChartName, Version: spec.Version, AllowPlain: plainHTTP,
		Username: login.Username, Password: login.Password, CA: ask.Policy(address.Host).CA,
	}, err
}

// gitPlace is a git repository.
type gitPlace struct{}

type gitSpec struct {
	URL string `json:"url"`
	Ref struct {
		Branch string `json:"branch"`
		Tag    string `json:"tag"`
		Commit string `json:"commit"`
	} `json:"ref"`
}

func (gitPlace) Keys() []string { return []string{"git"} }
func (gitPlace) Format() string { return string(v1beta2.RefTypeBundle) }

func (gitPlace) Open(ask SourceRequest) (content.Source, error) {
	spec := struct{ Git gitSpec }{}
	if err := strictly(ask.Fields["git"], &spec.Git); err != nil {
		return nil, sourceInvalid("git: %v; it has url and ref.branch, ref.tag or ref.commit", err)
	}
	return openGit(ask, spec.Git)
}

func openGit(ask SourceRequest, spec gitSpec) (content.Source, error) {
	source := &git.Source{
		Store: ask.Store, URL: spec.URL, Branch: spec.Ref.Branch, Tag: spec.Ref.Tag, Commit: spec.Ref.Commit, Path: ask.Path, Known: ask.Known,
	}
	address, err := url.Parse(spec.URL)
	if err != nil {
		return source, nil //nolint:nilerr // the source refuses the address itself, without repeating it
	}
	login, err := ask.Logins.For(address)
	policy := ask.Policy(address.Host)
	source.Auth, source.CA, source.AllowPlain = git.Auth(login), policy.CA, policy.PlainHTTP
	return source, err
}

// httpPlace is one file at a URL, with a given digest.
type httpPlace struct{}

func (httpPlace) Keys() []string { return []string{"http"} }
func (httpPlace) Format() string { return string(v1beta2.RefTypeBundle) }

func (httpPlace) Open(ask SourceRequest) (content.Source, error) {
	spec := struct {
		URL    string `json:"url"`
		SHA256 string `json:"sha256"`
	}{}
	if err := strictly(ask.Fields["http"], &spec); err != nil {
		return nil, sourceInvalid("http: %v; it has url and sha256", err)
	}
	address, plainHTTP, err := parseURL(ask, spec.URL, "https", "http")
	if err != nil {
		return nil, err
	}
	login, err := ask.Logins.For(address)
	return &content.HTTPSource{
		Store: ask.Store, URL: spec.URL, SHA256: spec.SHA256, AllowPlain: plainHTTP,
		Username: login.Username, Password: login.Password, CA: ask.Policy(address.Host).CA,
	}, err
}

// parseURL parses an address and reports whether the registries file permits connections to its host without TLS.
func parseURL(ask SourceRequest, text string, schemes ...string) (address *url.URL, plainHTTP bool, err error) {
	address, err = url.Parse(text)
	if err != nil || address.Host == "" || address.User != nil {
		return nil, false, sourceInvalid(
			"url %q is not valid: write scheme://host/path, with credentials in a Secret that credSecretSelector selects",
			cmp.Or(shownURL(address), "(unreadable)"))
	}
	if !slices.Contains(schemes, address.Scheme) {
		return nil, false, sourceInvalid("url %q: scheme %q is not accepted here; use %s",
			shownURL(address), address.Scheme, strings.Join(schemes, ", "))
	}
	return address, ask.Policy(address.Host).PlainHTTP, nil
}

// shownURL returns an address for messages: without user, query and fragment, any of which may be a credential.
func shownURL(address *url.URL) string {
	if address == nil {
		return ""
	}
	return (&url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path}).String()
}

// strictly decodes JSON and refuses unknown fields.
func strictly(raw []byte, into any) error {
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	return nil
}

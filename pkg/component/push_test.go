package component_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	"golang.org/x/sync/errgroup"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const (
	name     = "example.org/module/harbour"
	manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: harbour}\n"
)

// served is a registry in this process that counts what is written to it.
type served struct {
	component.Registry
	writes atomic.Int64
	gone   atomic.Bool // it does not answer any more
	digest string      // of its image
}

func serve(t *testing.T, between ...func(http.Handler) http.Handler) *served {
	t.Helper()
	found := &served{}
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	for _, wrap := range between {
		handler = wrap(handler)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			found.writes.Add(1)
		}
		if found.gone.Load() {
			panic(http.ErrAbortHandler)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	found.Registry = component.Registry{Host: strings.TrimPrefix(server.URL, "http://"), PlainHTTP: true}
	return found
}

// reader reads as the manager does: with what the registry's flags say, and nothing of what Push knows.
func (s *served) reader() *descriptor.Reader {
	reader := &descriptor.Reader{Registry: s.Host, SubPath: s.SubPath, Mapping: s.Mapping}
	reader.PlainHTTP = true
	return reader
}

func harbour(version string) component.Version {
	return component.Version{
		Name: name, Version: version, Provider: "example.org",
		Resources: []component.Resource{{Name: "raw-manifest", Data: []byte(manifest)}},
	}
}

func push(t *testing.T, to component.Registry, version component.Version, options ...component.Option) string {
	t.Helper()
	root, err := component.Push(t.Context(), to, version, options...)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestPush_WhatIsPushedIsReadBack(t *testing.T) {
	packed := component.Tar("module.yaml", []byte(manifest))
	for title, test := range map[string]struct {
		schema, version, sub string
		mapping              descriptor.Mapping
	}{
		"schema v2":                             {descriptor.SchemaV2, "1.0.0", "", descriptor.URLPath},
		"schema v3alpha1":                       {descriptor.SchemaV3Alpha1, "1.0.0", "", descriptor.URLPath},
		"below a sub path":                      {descriptor.SchemaV2, "v1.0.0", "prod/eu", ""},
		"with names hashed":                     {descriptor.SchemaV2, "1.0.0", "", descriptor.SHA256},
		"with names hashed, below a sub path":   {descriptor.SchemaV3Alpha1, "1.0.0", "prod", descriptor.SHA256},
		"a version with a plus in it":           {descriptor.SchemaV2, "1.0.0-rc.1+build.5", "", ""},
		"a version with a plus, in v3alpha1":    {descriptor.SchemaV3Alpha1, "1.0.0+5", "", ""},
		"the default schema is v2, as for OCM":  {"", "1.0.0", "", ""},
		"slashes around a sub path are no harm": {"", "1.0.0", "/prod/", ""},
	} {
		t.Run(title, func(t *testing.T) {
			to := serve(t)
			to.SubPath, to.Mapping = test.sub, test.mapping
			root := push(t, to.Registry, component.Version{
				Name: name, Version: test.version, Provider: "example.org", Schema: test.schema,
				Resources: []component.Resource{
					{Name: "raw-manifest", MediaType: component.MediaTypeTar, Data: packed, Labels: map[string]string{"example.com/kind": "a", "b": "c"}},
					{Name: "default-cr", Type: "custom", MediaType: "application/octet-stream", Data: []byte("kind: B")},
					{Name: "config", Data: []byte("kind: C")},
				},
			})
			got, err := to.reader().Get(t.Context(), name, test.version)
			if err != nil {
				t.Fatal(err)
			}
			blob := func(name, kind, mediaType, data string) descriptor.Resource {
				return descriptor.Resource{
					Name: name, Version: test.version, Type: kind, Relation: "local",
					Access: descriptor.Access{Type: "localBlob", LocalReference: digest.FromString(data).String(), MediaType: mediaType},
					Digest: &descriptor.DigestSpec{
						HashAlgorithm: "SHA-256", NormalisationAlgorithm: "genericBlobDigest/v1", Value: digest.FromString(data).Encoded(),
					},
				}
			}
			schema := test.schema
			if schema == "" {
				schema = descriptor.SchemaV2
			}
			want := &descriptor.Component{
				Name: name, Version: test.version, Provider: "example.org", Schema: schema, Digest: root,
				Resources: []descriptor.Resource{
					blob("raw-manifest", "directoryTree", component.MediaTypeTar, string(packed)),
					blob("default-cr", "custom", "application/octet-stream", "kind: B"),
					blob("config", "PlainText", component.MediaTypeYAML, "kind: C"),
				},
			}
			want.Resources[0].Labels = []descriptor.Label{{Name: "b", Value: []byte(`"c"`), Signing: true}, {Name: "example.com/kind", Value: []byte(`"a"`), Signing: true}}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(descriptor.Component{}, "Repository", "RepositoryName"),
				cmpopts.IgnoreUnexported(descriptor.Component{})); diff != "" {
				t.Errorf("read differently (-want +got):\n%s", diff)
			}
			for resource, dir := range map[string]bool{"raw-manifest": true, "default-cr": false, "config": false} {
				layer, _, isDir, err := got.Layer(resource)
				if err != nil || isDir != dir {
					t.Fatalf("%s: directory %v, error %v", resource, isDir, err)
				}
				to.mustHave(t, got, layer)
			}
		})
	}
}

// mustHave fetches a layer as pkg/content does: by digest, as a blob of the repository that the component names.
func (s *served) mustHave(t *testing.T, c *descriptor.Component, layer string) {
	t.Helper()
	path := strings.TrimPrefix(c.Repository+"/"+c.RepositoryName, s.Host+"/")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Host+"/v2/"+path+"/blobs/"+layer, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || digest.FromBytes(data).String() != layer {
		t.Errorf("layer %s of %s: status %s, error %v", layer, path, response.Status, err)
	}
}

func TestPush_ThePushOfSomethingThatIsThereChangesNothing(t *testing.T) {
	to := serve(t)
	first := push(t, to.Registry, harbour("1.0.0"))
	to.writes.Store(0)
	if again := push(t, to.Registry, harbour("1.0.0")); again != first {
		t.Errorf("digest %s became %s", first, again)
	}
	if again := push(t, to.Registry, harbour("1.0.0"), component.Overwrite); again != first {
		t.Errorf("digest %s became %s by overwriting with the same", first, again)
	}
	if writes := to.writes.Load(); writes != 0 {
		t.Errorf("%d writes, want none", writes)
	}
}

func TestVersionsCanBePushedAtTheSameTime(t *testing.T) {
	to := serve(t)
	var pushes errgroup.Group
	for i := range 8 {
		pushes.Go(func() error {
			_, err := component.Push(t.Context(), to.Registry, harbour(fmt.Sprintf("1.%d.0", i)))
			return err
		})
	}
	if err := pushes.Wait(); err != nil {
		t.Error(err)
	}
}

func TestPush_TheSameVersionHasTheSameDigestInEveryRegistry(t *testing.T) {
	here, there := serve(t), serve(t)
	there.SubPath = "elsewhere"
	if one, two := push(t, here.Registry, harbour("1.0.0")), push(t, there.Registry, harbour("1.0.0")); one != two {
		t.Errorf("digest %s in one registry and %s in another", one, two)
	}
}

func TestPush_OtherContentUnderAVersionIsRefusedUnlessItIsToBeOverwritten(t *testing.T) {
	for title, test := range map[string]struct {
		change           func(*component.Version)
		existing, offers string
	}{
		"other content": {
			func(v *component.Version) { v.Resources[0].Data = []byte("x") }, digest.FromString(manifest).String(), digest.FromString("x").String(),
		},
		"another media type": {
			func(v *component.Version) { v.Resources[0].MediaType = "text/plain" }, "application/yaml", "text/plain",
		},
		"another type": {func(v *component.Version) { v.Resources[0].Type = "blob" }, "type PlainText", "type blob"},
		"another provider": {
			func(v *component.Version) { v.Provider = "example.com" }, "provider example.org", "provider example.com",
		},
		"another schema":     {func(v *component.Version) { v.Schema = descriptor.SchemaV3Alpha1 }, "schema v2", "schema ocm"},
		"one resource fewer": {func(v *component.Version) { v.Resources = nil }, "resource raw-manifest", "no further resource"},
		"one resource more": {func(v *component.Version) {
			v.Resources = append(v.Resources, component.Resource{Name: "config", Data: []byte("y")})
		}, "no further resource", "resource config"},
		"everything replaced": {
			func(v *component.Version) { v.Resources = []component.Resource{{Name: "config", Data: []byte("y")}} }, "raw-manifest", "config",
		},
	} {
		t.Run(title, func(t *testing.T) {
			to := serve(t)
			first := push(t, to.Registry, harbour("1.0.0"))
			to.writes.Store(0)
			other := harbour("1.0.0")
			test.change(&other)
			_, err := component.Push(t.Context(), to.Registry, other)
			var conflict *component.ConflictError
			if !errors.As(err, &conflict) || conflict.Digest != first || to.writes.Load() != 0 {
				t.Fatalf("error %v after %d writes, want a ConflictError about %s", err, to.writes.Load(), first)
			}
			for _, part := range []string{first, test.existing, test.offers, "new version"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message %q does not say %q", err, part)
				}
			}
			fresh := serve(t)
			want := push(t, fresh.Registry, other)
			if got := push(t, to.Registry, other, component.Overwrite); got != want {
				t.Errorf("overwritten, it has digest %s, and %s when it is pushed to an empty registry", got, want)
			}
		})
	}
}

func TestPushLogsInWhereItMust(t *testing.T) {
	to := serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "user" || password != "secret" {
				w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	_, err := component.Push(t.Context(), to.Registry, harbour("1.0.0"))
	if descriptor.ReasonOf(err) != descriptor.ReasonUnauthorized {
		t.Errorf("error %v, want reason %s", err, descriptor.ReasonUnauthorized)
	}
	to.Credentials = &component.Credentials{Username: "user", Password: "secret"}
	root := push(t, to.Registry, harbour("1.0.0"))
	reader := to.reader()
	reader.Credentials = func(_ context.Context, host string) (auth.Credential, error) {
		if host != to.Host {
			t.Errorf("asked for the login of %s", host)
		}
		return auth.Credential{Username: "user", Password: "secret"}, nil
	}
	if got, err := reader.GetDigest(t.Context(), name, "1.0.0"); err != nil || got != root {
		t.Errorf("digest %s, error %v, want %s", got, err, root)
	}
}

func TestPushSaysWhyItFailed(t *testing.T) {
	refuse := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				next.ServeHTTP(w, r)
				return
			}
			w.WriteHeader(http.StatusInsufficientStorage)
		})
	}
	to := serve(t, refuse)
	if _, err := component.Push(t.Context(), to.Registry, harbour("1.0.0")); err == nil || !strings.Contains(err.Error(), "507") {
		t.Errorf("error %v, want one about a registry that refuses to store", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := component.Push(ctx, to.Registry, harbour("1.0.0")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the caller's cancellation", err)
	}
	gone := to.Registry
	gone.Host = "127.0.0.1:1"
	_, err := component.Push(t.Context(), gone, harbour("1.0.0"))
	if descriptor.ReasonOf(err) != descriptor.ReasonUnreachable {
		t.Errorf("error %v, want reason %s", err, descriptor.ReasonUnreachable)
	}
}

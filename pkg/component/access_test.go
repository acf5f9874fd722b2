package component_test

import (
	"context"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// guarded wants a login.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "user" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// login returns one for one host.
func login(host, password string) func(context.Context, string) (auth.Credential, error) {
	return func(_ context.Context, asked string) (auth.Credential, error) {
		if asked != host {
			return auth.EmptyCredential, nil
		}
		return auth.Credential{Username: "user", Password: password}, nil
	}
}

// secure returns a registry with TLS by a certificate that no system knows, and a login.
func secure(t *testing.T) (host string, ca []byte) {
	t.Helper()
	server := httptest.NewTLSServer(guarded(registry.New(registry.Logger(log.New(io.Discard, "", 0)))))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "https://"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func TestAccess_EachHostIsEnteredByItsOwnAccess(t *testing.T) {
	open, guard := serve(t), serve(t, guarded)
	host, ca := secure(t)
	access := component.Access{
		Credentials: func(ctx context.Context, asked string) (auth.Credential, error) {
			if asked == open.Host {
				return auth.EmptyCredential, nil
			}
			return auth.Credential{Username: "user", Password: "secret"}, nil
		},
		Policy: func(asked string) (policy content.HostPolicy) {
			if asked == host {
				return content.HostPolicy{CA: ca}
			}
			return content.HostPolicy{PlainHTTP: true}
		},
	}
	parse := func(text string) component.Ref {
		t.Helper()
		ref, err := component.ParseRef(text, access)
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	version := harbour("1.0.0")
	version.Resources = append(version.Resources, component.Resource{Name: "operator", Image: open.image(t)})
	version.Signer = &component.Signer{Key: keys()[0]}
	first := parse("oci://" + host + "//" + name + ":1.0.0")
	want := push(t, *first.Registry, version)
	second := parse("http://" + guard.Host + "//" + name)
	report := doCopy(t, first, second, component.CopyOptions{})
	if report.Digest != want {
		t.Errorf("%+v, want digest %s", report, want)
	}
	report = doCopy(t, report.Ref, parse(filepath.Join(t.TempDir(), "a.tgz")), component.CopyOptions{Images: true})
	if got := blob(t, report.Ref, "raw-manifest"); got != manifest {
		t.Errorf("raw-manifest is %q", got)
	}
	report = doCopy(t, report.Ref, parse("oci://"+host+"/again//"+name), component.CopyOptions{Images: true})
	if opened, err := component.Open(t.Context(), report.Ref); err != nil {
		t.Error(err)
	} else if digest, err := opened.ImageDigest(t.Context(), report.Images[0].To); err != nil || digest != "sha256:"+open.digest {
		t.Errorf("image %s is %s, error %v", report.Images[0].To, digest, err)
	}
	version.Signer, version.Version = nil, "1.0.1"
	version.Access, version.Signer = access, &component.Signer{Key: keys()[0]}
	version.Resources[1].Image = report.Images[0].To
	build(t, filepath.Join(t.TempDir(), "b"), version) // which asks the secure registry for the image's digest
}

func TestAccess_WhoIsNotLetInIsTold(t *testing.T) {
	guard := serve(t, guarded)
	host, ca := secure(t)
	for title, test := range map[string]struct {
		host   string
		access component.Access
		reason string
	}{
		"nobody":                        {guard.Host, component.Access{PlainHTTP: true}, descriptor.ReasonUnauthorized},
		"with a wrong password":         {guard.Host, component.Access{PlainHTTP: true, Credentials: login(guard.Host, "wrong")}, descriptor.ReasonUnauthorized},
		"with the login of another":     {guard.Host, component.Access{PlainHTTP: true, Credentials: login(host, "secret")}, descriptor.ReasonUnauthorized},
		"without the certificate":       {host, component.Access{Credentials: login(host, "secret")}, descriptor.ReasonUnreachable},
		"with a wrong one there":        {host, component.Access{Credentials: login(host, "wrong"), Policy: policyOf(host, content.HostPolicy{CA: ca})}, descriptor.ReasonUnauthorized},
		"by http where https is spoken": {host, component.Access{PlainHTTP: true, Credentials: login(host, "secret")}, descriptor.ReasonUnreachable},
	} {
		t.Run(title, func(t *testing.T) {
			to := component.Registry{Host: test.host, Access: test.access}
			_, err := component.Push(t.Context(), to, harbour("1.0.0"))
			if descriptor.ReasonOf(err) != test.reason || strings.Contains(err.Error(), "wrong") || strings.Contains(err.Error(), "\n") {
				t.Errorf("push: error %v, want reason %s", err, test.reason)
			}
			if _, err := component.Open(t.Context(), at(to, "1.0.0")); descriptor.ReasonOf(err) != test.reason {
				t.Errorf("open: error %v, want reason %s", err, test.reason)
			}
		})
	}
}

func TestAccess_AMirrorIsReadFrom(t *testing.T) {
	here, mirror, to := serve(t), serve(t), serve(t)
	version := harbour("1.0.0")
	image, digest := here.index(t, "team/operator:1.0.0")
	version.Resources = append(version.Resources, component.Resource{Name: "operator", Image: image})
	want := push(t, here.Registry, version)
	doCopy(t, at(here.Registry, "1.0.0"), at(mirror.Registry, ""), component.CopyOptions{})
	copied := at(here.Registry, "1.0.0")
	here.gone.Store(true)
	copied.Registry.Access.Policy = func(host string) content.HostPolicy {
		if host == here.Host {
			return content.HostPolicy{Mirrors: []string{mirror.Host}}
		}
		return content.HostPolicy{PlainHTTP: true}
	}
	report := doCopy(t, copied, at(to.Registry, ""), component.CopyOptions{})
	if report.Digest != want {
		t.Errorf("%+v, want %s, and image %s", report, want, digest)
	}
}

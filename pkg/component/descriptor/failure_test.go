package descriptor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"
)

func TestContentThatIsNoComponentVersionIsInvalid(t *testing.T) {
	good := descriptorTar(golden(t, "v2.yaml"))
	index := []byte(`{"schemaVersion":2,"manifests":[]}`)
	noDigest := []byte(`{"config":{"mediaType":"` + configMediaTypes[0] + `","digest":"x"}}`)
	renamed := func(from, to string) []byte {
		return descriptorTar(bytes.ReplaceAll(golden(t, "v2.yaml"), []byte(from), []byte(to)))
	}
	large := descriptorTar(append(golden(t, "v2.yaml"), bytes.Repeat([]byte("# filler\n"), 12_000)...))
	for name, test := range map[string]struct {
		put     artifact
		message string
		is      error
	}{
		"an ordinary image": {
			artifact{layer: good, configMediaType: ocispec.MediaTypeImageConfig}, "no component version", nil,
		},
		"an image index": {
			artifact{layer: good, mediaType: ocispec.MediaTypeImageIndex, manifest: index}, "no component version", nil,
		},
		"a manifest that is garbage": {artifact{layer: good, manifest: []byte("garbage")}, "no OCI manifest", nil},
		"a manifest over its cap": {
			artifact{layer: good, manifest: bytes.Repeat([]byte(" "), maxManifest+1)}, "manifest has", ErrTooLarge,
		},
		"a config that is garbage": {artifact{layer: good, config: []byte("garbage")}, "config is no JSON", nil},
		"a config over its cap": {
			artifact{layer: good, config: bytes.Repeat([]byte(" "), maxConfig+1)}, "config has", ErrTooLarge,
		},
		"a config that points nowhere": {artifact{layer: good, config: []byte("{}")}, "componentDescriptorLayer", nil},
		"a config whose digest is none": {
			artifact{layer: good, manifest: noDigest}, "config has no valid digest", nil,
		},
		"a descriptor of an unknown media type": {artifact{layer: good, layerMediaType: "text/html"}, `"text/html"`, nil},
		"a descriptor that is missing":          {artifact{layer: good, skipLayer: true}, "is missing: publish the component version again", nil},
		"a descriptor of another size":          {artifact{layer: good, layerSize: 7}, "component descriptor", nil},
		"a descriptor of negative size": {
			artifact{layer: good, layerSize: -7}, "component descriptor has -7 bytes", ErrTooLarge,
		},
		"a descriptor over its cap": {
			artifact{layer: golden(t, "v2.yaml"), layerMediaType: plainMediaTypes[0], layerSize: 1 << 40}, "component descriptor has", ErrTooLarge,
		},
		"a descriptor over its cap inside a tar": {artifact{layer: large}, "component-descriptor.yaml has", ErrTooLarge},
		"a descriptor that is no tar":            {artifact{layer: bytes.Repeat([]byte("garbage"), 200)}, "no readable tar", nil},
		"a descriptor that is garbage":           {artifact{layer: descriptorTar([]byte("\x00"))}, "no YAML", nil},
		"the descriptor of another component": {
			artifact{layer: renamed("harbour", "haven")}, "is of example.org/module/haven:1.4.0", nil,
		},
		"the descriptor of another version": {
			artifact{layer: renamed("1.4.0", "1.3.0")}, "is of example.org/module/harbour:1.3.0", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			host := start(t)
			test.put.put(t, host)
			_, err := plain(host).Get(t.Context(), harbourName, harbourVersion)
			expect(t, err, ReasonInvalid, harbourName+":"+harbourVersion, test.message)
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %v is no %v", err, test.is)
			}
		})
	}
}

// expect wants an error with that reason, whose message says all of that.
func expect(t *testing.T, err error, reason string, messages ...string) {
	t.Helper()
	if ReasonOf(err) != reason {
		t.Fatalf("error %v with reason %q, want %s", err, ReasonOf(err), reason)
	}
	for _, message := range messages {
		if !strings.Contains(err.Error(), message) {
			t.Errorf("message %q does not say %q", err, message)
		}
	}
}

func TestFailure_ARegistryThatFailsIsToldApartByHow(t *testing.T) {
	login := func(user, password string) func(context.Context, string) (auth.Credential, error) {
		return func(context.Context, string) (auth.Credential, error) {
			return auth.Credential{Username: user, Password: password}, nil
		}
	}
	for name, test := range map[string]struct {
		between     middleware
		credentials func(context.Context, string) (auth.Credential, error)
		version     string
		reason      string
		message     string
	}{
		"a version that is not there is unknown":  {nil, nil, "1.5.0", ReasonNotFound, harbourPath + ":1.5.0"},
		"a login that is asked for and not there": {guard, nil, "", ReasonUnauthorized, "check the credentials"},
		"a login with another password": {
			guard, login("user", "guess"), "", ReasonUnauthorized, "check the credentials",
		},
		"a login without password": {
			guard, login("user", ""), "", ReasonUnauthorized, "user or password is missing",
		},
		"a login that cannot be had":                    {guard, broken, "", ReasonUnauthorized, "secret is gone"},
		"a registry that forbids":                       {answer(http.StatusForbidden), nil, "", ReasonUnauthorized, "403"},
		"a registry that wants a login of another kind": {answer(http.StatusUnauthorized), nil, "", ReasonUnauthorized, "401"},
		"a registry that is broken": {
			answer(http.StatusServiceUnavailable), nil, "", ReasonUnreachable, "503",
		},
		"a registry that has had enough":                 {answer(http.StatusTooManyRequests), nil, "", ReasonUnreachable, "429"},
		"a web server that is no registry":               {page, nil, "", ReasonInvalid, "text/html"},
		"a blob with other bytes than its digest":        {tamper, nil, "", ReasonInvalid, "does not match its digest"},
		"a blob under another digest":                    {relabel, nil, "", ReasonInvalid, "digest mismatch"},
		"a manifest under another digest":                {mislead, nil, "", ReasonInvalid, "does not match its digest"},
		"a connection that breaks off in the middle":     {breakOff, nil, "", ReasonUnreachable, "check that it runs"},
		"a registry that lets one in with the right one": {guard, login("user", "secret"), "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			between := &blockingRegistry{wrap: test.between}
			host := start(t, between.handler)
			artifact{layer: descriptorTar(golden(t, "v2.yaml"))}.put(t, host)
			between.closed.Store(test.between != nil)
			reader := plain(host)
			reader.Credentials = test.credentials
			_, err := reader.Get(t.Context(), harbourName, or(test.version, harbourVersion))
			if test.reason == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			expect(t, err, test.reason, test.message)
			if test.message == "does not match its digest" && !errors.Is(err, ErrDigestMismatch) {
				t.Errorf("error %v is no %v", err, ErrDigestMismatch)
			}
		})
	}
}

// TestFailure_WhatARegistryChoosesIsNotRepeated is about addresses: a registry that got a login can put it where it sends its clients next.
func TestFailure_WhatARegistryChoosesIsNotRepeated(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"a token service without TLS": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://127.0.0.1:1/echoed",service="echoed"`)
			w.WriteHeader(http.StatusUnauthorized)
		},
		"a redirect to where nothing listens": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/echoed?echoed")
			w.WriteHeader(http.StatusFound)
		},
		"a redirect to an answer": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/echoed" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			w.Header().Set("Location", "/echoed?echoed")
			w.WriteHeader(http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			host := start(t, func(http.Handler) http.Handler { return answer })
			reader := plain(host)
			reader.Credentials = func(context.Context, string) (auth.Credential, error) {
				return auth.Credential{Username: "user", Password: "secret"}, nil
			}
			_, err := reader.Get(t.Context(), harbourName, harbourVersion)
			if err == nil || strings.Contains(err.Error(), "echoed") || !strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("error %v, want one that names the host and nothing else that the registry chose", err)
			}
		})
	}
}

func TestFailure_ARegistryThatIsNotThereIsUnreachable(t *testing.T) {
	const host = "127.0.0.1:1" // a port that was free a moment ago may already be that of another test's server
	_, err := plain(host).Get(t.Context(), harbourName, harbourVersion)
	expect(t, err, ReasonUnreachable, host, "can be reached from here")
	_, err = plain(host).GetDigest(t.Context(), harbourName, harbourVersion)
	expect(t, err, ReasonUnreachable, host)
}

func TestFailure_ARegistryThatSpeaksPlainHTTPOnlyIsUnreachableByHTTPS(t *testing.T) {
	_, err := (&Reader{Registry: start(t)}).Get(t.Context(), harbourName, harbourVersion)
	expect(t, err, ReasonUnreachable, "HTTP")
}

func TestFailure_ARegistryThatNeverAnswersCostsTheCallersTimeOnly(t *testing.T) {
	released := make(chan struct{})
	host := start(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released })
	})
	defer close(released)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := plain(host).Get(ctx, harbourName, harbourVersion)
	expect(t, err, ReasonUnreachable, "deadline exceeded")
}

// blockingRegistry lets everything pass until the registry is filled.
type blockingRegistry struct {
	wrap   middleware
	closed atomic.Bool
}

func (g *blockingRegistry) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.closed.Load() {
			g.wrap(next).ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// guard wants a login.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "user" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func broken(context.Context, string) (auth.Credential, error) {
	return auth.EmptyCredential, errors.New("secret is gone")
}

func answer(status int) middleware {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
}

// page answers everything like a web server that has a friendly page for every path.
func page(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>welcome</html>")
	})
}

// answers changes the answers to requests for blobs, or for manifests.
func answers(to string, change func(w http.ResponseWriter, body []byte)) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.URL.Path, to) {
				next.ServeHTTP(w, r)
				return
			}
			kept := httptest.NewRecorder()
			next.ServeHTTP(kept, r)
			maps.Copy(w.Header(), kept.Header())
			change(w, kept.Body.Bytes())
		})
	}
}

func tamper(next http.Handler) http.Handler {
	return answers("/blobs/", func(w http.ResponseWriter, body []byte) {
		_, _ = w.Write(bytes.ReplaceAll(body, []byte("digest"), []byte("DIGEST")))
	})(next)
}

func relabel(next http.Handler) http.Handler {
	return answers("/blobs/", func(w http.ResponseWriter, body []byte) {
		w.Header().Set("Docker-Content-Digest", digest.FromString("something else").String())
		_, _ = w.Write(body)
	})(next)
}

func mislead(next http.Handler) http.Handler {
	return answers("/manifests/", func(w http.ResponseWriter, body []byte) {
		w.Header().Set("Docker-Content-Digest", digest.FromString("something else").String())
		_, _ = w.Write(body)
	})(next)
}

func breakOff(next http.Handler) http.Handler {
	return answers("/blobs/", func(w http.ResponseWriter, body []byte) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = fmt.Fprintf(w, "%s", body[:len(body)/2])
	})(next)
}

package modulecontent

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// behindLogin returns a registry that serves content only to the operator, and counts the requests with a login.
func behindLogin(t *testing.T) (f *fake, objects objectReader, logins *atomic.Int32, open *atomic.Bool) {
	t.Helper()
	f, logins, open = startRegistry(t), &atomic.Int32{}, &atomic.Bool{}
	open.Store(true)
	next := f.next
	f.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, sent := r.BasicAuth()
		if sent {
			logins.Add(1)
		}
		if !open.Load() && (user != "operator" || password != "right") {
			w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
	objects = f.objects(t, login("own", `{"auths":{"`+f.host+`":{"username":"operator","password":"right"}}}`))
	objects.OCI.Credentials = func(_ context.Context, host string) (auth.Credential, error) {
		if host != f.host {
			return auth.EmptyCredential, nil
		}
		return auth.Credential{Username: "operator", Password: "right"}, nil
	}
	return f, objects, logins, open
}

// TestOperatorLogin_TheOperatorsLoginIsForWhatTheOperatorInstalls covers authors of Manifests, who choose the content, where the operator
// may read everything.
func TestOperatorLogin_TheOperatorsLoginIsForWhatTheOperatorInstalls(t *testing.T) {
	const selector = `, "credSecretSelector": {"matchLabels": {"login": "own"}}`
	const layer = `{"repo": "HOST/component-descriptors", "name": "` + component + `", "ref": "REF"%s}`
	for title, test := range map[string]struct {
		source string
		login  OperatorLogin
		public bool
		sent   bool
		read   bool
	}{
		"everything that a trusted namespace names":  {fmt.Sprintf(layer, ""), OperatorLogin{Any: true}, false, true, true},
		"an image that a trusted namespace names":    {`{"image": "HOST/private/x:1"}`, OperatorLogin{Any: true}, false, true, false},
		"nothing for others":                         {fmt.Sprintf(layer, ""), OperatorLogin{}, false, false, false},
		"public content needs none":                  {fmt.Sprintf(layer, ""), OperatorLogin{}, true, false, true},
		"others with their own login":                {fmt.Sprintf(layer, selector), OperatorLogin{}, false, true, true},
		"a layer of the component of a module":       {fmt.Sprintf(layer, ""), OperatorLogin{Repository: "HOST/" + repository}, false, true, true},
		"a layer of another repository for a module": {fmt.Sprintf(layer, ""), OperatorLogin{Repository: "HOST/" + repository + "/x"}, false, false, false},
		"an image for a module":                      {`{"image": "HOST/` + repository + `:1.0.0"}`, OperatorLogin{Repository: "HOST/" + repository}, false, false, false},
		"a chart for a module":                       {`{"url": "oci://HOST/component-descriptors/example.com/module", "chartName": "sample", "version": "1.0.0"}`, OperatorLogin{Repository: "HOST/" + repository}, false, false, false},
		"an image that others name":                  {`{"image": "HOST/private/x:1"}`, OperatorLogin{}, false, false, false},
		"a layer of a module, with a scheme":         {strings.Replace(fmt.Sprintf(layer, ""), "HOST", "https://HOST", 1), OperatorLogin{Repository: "HOST/" + repository}, false, true, true},
	} {
		t.Run(title, func(t *testing.T) {
			f, objects, logins, open := behindLogin(t)
			ref := f.push(t, "application/x-yaml", configMap).Digest.String()
			open.Store(test.public)
			fill := strings.NewReplacer("HOST", f.host, "REF", ref).Replace
			test.login.Repository = fill(test.login.Repository)
			objects.OperatorLogin = func(context.Context, *v1beta2.Manifest) (OperatorLogin, error) { return test.login, nil }
			_, err := objects.Read(t.Context(), manifestOf(fill(test.source)), anyCluster)
			if (err == nil) != test.read || (logins.Load() > 0) != test.sent {
				t.Errorf("%d requests with a login; error %v", logins.Load(), err)
			}
			if test.sent || test.read {
				return
			}
			if content.ReasonOf(err) != content.ReasonRegistryUnauthorized || !strings.Contains(err.Error(), "credSecretSelector") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestOperatorLogin_WhatTheOperatorsLoginFetchedIsNotForOthers covers rendered content, stored content and calls in progress.
func TestOperatorLogin_WhatTheOperatorsLoginFetchedIsNotForOthers(t *testing.T) {
	f, objects, _, open := behindLogin(t)
	source := f.source(t, configMap)
	open.Store(false)
	objects.OperatorLogin = func(_ context.Context, m *v1beta2.Manifest) (OperatorLogin, error) {
		return OperatorLogin{Any: m.Namespace == manifest.Namespace}, nil
	}
	if _, err := objects.Objects(t.Context(), manifest, source); err != nil {
		t.Fatal(err)
	}
	tenants := manifest.DeepCopy()
	tenants.Namespace = "tenant"
	if got, err := objects.Objects(t.Context(), tenants, source); content.ReasonOf(err) != content.ReasonRegistryUnauthorized {
		t.Errorf("got %d objects, error %v", len(got), err)
	}
}

func TestOperatorLogin_WhereTheOperatorHasNoLoginNothingIsSaidOfIt(t *testing.T) {
	f, objects, _, open := behindLogin(t)
	source := f.source(t, configMap)
	open.Store(false)
	objects.OCI.Credentials = nil
	objects.OperatorLogin = func(context.Context, *v1beta2.Manifest) (OperatorLogin, error) { return OperatorLogin{}, nil }
	if _, err := objects.Objects(t.Context(), manifest, source); err == nil || strings.Contains(err.Error(), "operator's own login") {
		t.Errorf("error %v", err)
	}
}

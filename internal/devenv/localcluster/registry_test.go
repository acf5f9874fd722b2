package localcluster_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

const blobContent = "what a layer holds"

func TestRegistryServesWhatWasPushed(t *testing.T) {
	for name, dir := range map[string]string{"from memory": "", "from a folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			registry := startRegistry(t, localcluster.RegistryOptions{Dir: dir})
			digest := push(t, registry)
			if status, body := fetch(t, http.MethodGet, blobURL(registry, digest)); status != http.StatusOK || body != blobContent {
				t.Errorf("got %d %q", status, body)
			}
			absent := fmt.Sprintf("sha256:%x", sha256.Sum256(nil))
			if status, _ := fetch(t, http.MethodGet, blobURL(registry, absent)); status != http.StatusNotFound {
				t.Errorf("a blob that is not there gives %d", status)
			}
		})
	}
}

func TestRegistryListensOnLoopbackOnly(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "[::]:0", "nonsense"} {
		registry, err := localcluster.StartRegistry(t.Context(), localcluster.RegistryOptions{Addr: addr})
		if err == nil {
			t.Errorf("%s was accepted as %s", addr, registry.Host)
			_ = registry.Stop()
		}
	}
	registry := startRegistry(t, localcluster.RegistryOptions{Addr: "localhost:0"})
	if !strings.HasPrefix(registry.Host, "127.0.0.1:") && !strings.HasPrefix(registry.Host, "[::1]:") {
		t.Errorf("localhost is %s", registry.Host)
	}
}

func TestRegistryCountsByKind(t *testing.T) {
	registry := startRegistry(t, localcluster.RegistryOptions{})
	digest := push(t, registry)
	registry.ResetCounts()
	registry.Inject(localcluster.Only(localcluster.Fail(http.StatusTooManyRequests), localcluster.Tags))
	base := "http://" + registry.Host + "/v2/some/repository/"
	for _, request := range [][2]string{
		{http.MethodGet, base + "blobs/" + digest},
		{http.MethodGet, base + "blobs/" + digest},
		{http.MethodHead, base + "blobs/" + digest},
		{http.MethodGet, base + "manifests/1.0.0"},
		{http.MethodHead, base + "manifests/1.0.0"},
		{http.MethodPut, base + "manifests/1.0.0"},
		{http.MethodPost, base + "blobs/uploads/"},
		{http.MethodPatch, base + "blobs/uploads/1"},
		{http.MethodGet, base + "tags/list"},
		{http.MethodGet, "http://" + registry.Host + "/v2/"},
	} {
		fetch(t, request[0], request[1])
	}
	want := map[localcluster.Kind]int{
		localcluster.BlobGet: 2, localcluster.BlobHead: 1, localcluster.ManifestGet: 1, localcluster.ManifestHead: 1,
		localcluster.Upload: 3, localcluster.Tags: 1, localcluster.OtherRequest: 1,
	}
	if diff := cmp.Diff(want, registry.Counts()); diff != "" {
		t.Error(diff)
	}
	if n := registry.Count(localcluster.BlobGet); n != 2 {
		t.Errorf("Count says %d", n)
	}
}

func TestFaults(t *testing.T) {
	registry := startRegistry(t, localcluster.RegistryOptions{})
	digest := push(t, registry)
	url := blobURL(registry, digest)
	as := func(login string) string { return strings.Replace(url, "//", "//"+login+"@", 1) }
	for name, c := range map[string]struct {
		fault  localcluster.Fault
		url    string
		status int
		body   string // "" is not compared
	}{
		"no fault serves":                           {nil, url, http.StatusOK, blobContent},
		"a failing registry fails":                  {localcluster.Fail(http.StatusInternalServerError), url, http.StatusInternalServerError, ""},
		"a denied request is unauthorized":          {localcluster.Deny(), url, http.StatusUnauthorized, ""},
		"a missing login is unauthorized":           {localcluster.RequireLogin("me", "secret"), url, http.StatusUnauthorized, ""},
		"a wrong login is unauthorized":             {localcluster.RequireLogin("me", "secret"), as("me:wrong"), http.StatusUnauthorized, ""},
		"the right login serves":                    {localcluster.RequireLogin("me", "secret"), as("me:secret"), http.StatusOK, blobContent},
		"a corrupt blob has other bytes":            {localcluster.Corrupt(digest), url, http.StatusOK, "\x88" + blobContent[1:]},
		"corruption leaves other blobs alone":       {localcluster.Corrupt("sha256:other"), url, http.StatusOK, blobContent},
		"a fault for other requests lets this pass": {localcluster.Only(localcluster.Deny(), localcluster.ManifestGet), url, http.StatusOK, blobContent},
		"a fault for this kind of request applies":  {localcluster.Only(localcluster.Deny(), localcluster.BlobGet), url, http.StatusUnauthorized, ""},
		"a slow registry serves in the end":         {localcluster.Slow(10 * time.Millisecond), url, http.StatusOK, blobContent},
		"a restored registry serves what it had":    {nil, url, http.StatusOK, blobContent},
	} {
		t.Run(name, func(t *testing.T) {
			registry.Inject(c.fault)
			status, body := fetch(t, http.MethodGet, c.url)
			if status != c.status {
				t.Errorf("status is %d, want %d", status, c.status)
			}
			if c.body != "" && body != c.body {
				t.Errorf("body is %q, want %q", body, c.body)
			}
		})
	}
}

func TestRegistry_ARegistryThatIsDownDoesNotAnswer(t *testing.T) {
	registry := startRegistry(t, localcluster.RegistryOptions{})
	registry.Inject(localcluster.Down())
	response, err := http.Get("http://" + registry.Host + "/v2/")
	if err == nil {
		_ = response.Body.Close()
		t.Fatalf("it answered %d", response.StatusCode)
	}
	registry.Inject(nil)
	if status, _ := fetch(t, http.MethodGet, "http://"+registry.Host+"/v2/"); status != http.StatusOK {
		t.Errorf("back again it answers %d", status)
	}
}

func startRegistry(t *testing.T, opts localcluster.RegistryOptions) *localcluster.Registry {
	t.Helper()
	registry, err := localcluster.StartRegistry(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := registry.Stop(); err != nil {
			t.Error(err)
		}
	})
	return registry
}

// push stores the blob and returns its digest.
func push(t *testing.T, registry *localcluster.Registry) string {
	t.Helper()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(blobContent)))
	url := "http://" + registry.Host + "/v2/some/repository/blobs/uploads/?digest=" + digest
	response, err := http.Post(url, "application/octet-stream", strings.NewReader(blobContent))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Fatalf("the upload gives %s", response.Status)
	}
	return digest
}

func blobURL(registry *localcluster.Registry, digest string) string {
	return "http://" + registry.Host + "/v2/some/repository/blobs/" + digest
}

func fetch(t *testing.T, method, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

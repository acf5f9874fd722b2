package clustercache

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

func TestResponseBudget_WeighsJSONByMemory(t *testing.T) {
	cases := []struct {
		name, text string
		most       int64
		below      int
		refused    bool
	}{
		{"a long text weighs its length", `{"a":"` + strings.Repeat("a", 900) + `"}`, 1000, 0, false},
		{"a longer one is too much", `{"a":"` + strings.Repeat("a", 1100) + `"}`, 1000, 0, true},
		{"what stands in a text is no value", `{"a":"` + strings.Repeat("[,{", 300) + `"}`, 1000, 0, false},
		{"nor is it behind an escaped quote", `{"a":"\"` + strings.Repeat(",", 900) + `"}`, 1000, 0, false},
		{"many nothings weigh much", `{"a":[` + strings.Repeat("[],", 100) + `1]}`, 1000, 0, true},
		{"depth weighs", strings.Repeat("[", 100), 1000, 0, true},
		{"items are weighed one by one", `{"items":[` + strings.Repeat(`{"a":"`+strings.Repeat("a", 800)+`"},`, 50) + `1]}`, 1000, 2, false},
		{"one heavy item is too much", `{"items":[{"a":1},{"a":[` + strings.Repeat("1,", 50) + `1]}]}`, 1000, 2, true},
		{"a heavy head of a list is too much", `{"metadata":{"continue":"` + strings.Repeat("a", 1100) + `"}}`, 1000, 2, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			whole := &responseBudget{most: c.most, below: c.below}
			bytewise := &responseBudget{most: c.most, below: c.below}
			var err error
			for i := range len(c.text) {
				if err = bytewise.add([]byte{c.text[i]}); err != nil {
					break
				}
			}
			if got := whole.add([]byte(c.text)); (got != nil) != c.refused || (err != nil) != c.refused {
				t.Fatalf("whole: %v, byte by byte: %v, want refused: %v", got, err, c.refused)
			}
		})
	}
}

func TestResponseBudget_LimitsConcurrentGiants(t *testing.T) {
	c := &connection{giants: make(chan struct{}, giants)}
	open := func() io.ReadCloser {
		resp := &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(strings.Repeat(" ", giantFrom+1)))}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://runtime.test/", nil)
		if err != nil {
			t.Fatal(err)
		}
		c.limitBody(req, resp, 0)
		return resp.Body
	}
	var reading []io.ReadCloser
	for range giants {
		body := open()
		if _, err := io.Copy(io.Discard, body); err != nil {
			t.Fatal(err)
		}
		reading = append(reading, body)
	}
	last := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, open())
		last <- err
	}()
	eventually(t, "the giants hold all places", func() bool { return len(c.giants) == giants })
	select {
	case err := <-last:
		t.Fatalf("one more was read at the same time: %v", err)
	default:
	}
	for _, body := range reading {
		_ = body.Close()
	}
	if err := <-last; err != nil {
		t.Fatal(err)
	}
}

func TestRedactingBody_HidesCredentials(t *testing.T) {
	b, s := newBench(t, nil), newStub(t)
	cfg := s.config()
	cfg.BearerToken = "a-t0ken-of-this-runtime"
	s.on("GET /api/v1/namespaces/a/configmaps/b", func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"who is %s?"}`,
			req.Header.Get("Authorization"))
	})
	r := b.mustGet(t, b.remote(t, "echo", cfg))
	_, err := r.Cluster().Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).
		Namespace("a").Get(t.Context(), "b", metav1.GetOptions{})
	if err == nil || strings.Contains(err.Error(), cfg.BearerToken) || !strings.Contains(err.Error(), "who is Bearer (credentials)?") {
		t.Fatalf("got %v", err)
	}
	basic := &connection{secrets: secretsOf(&rest.Config{Username: "me", Password: "geheim"})}
	if text := string(basic.redact([]byte("geheim Z2VoZWlt Basic bWU6Z2VoZWlt"))); text != "(credentials) (credentials) Basic (credentials)" {
		t.Errorf("got %q", text)
	}
}

func TestMemoryBudget_BoundsRuntime(t *testing.T) {
	b, s := newBench(t, nil), newStub(t)
	page := 0
	s.on(listConfigMap, func(w http.ResponseWriter, _ *http.Request) {
		page++
		items := make([]string, 0, pageSize)
		for i := range pageSize {
			items = append(items, fmt.Sprintf(`{"metadata":{"name":"%s-%d-%d","resourceVersion":"1"}}`, strings.Repeat("a", 200), page, i))
		}
		_, _ = fmt.Fprintf(w, `{"metadata":{"resourceVersion":"1","continue":"%d"},"items":[%s]}`, page, strings.Join(items, ","))
	})
	r := b.mustGet(t, b.remote(t, "hoard", s.config()))
	r.Track(ownerNamed("hoard"), []runtimes.Interest{{GroupVersionKind: configMaps}})
	eventually(t, "the kind counts as more than is kept", func() bool {
		r.mu.RLock()
		defer r.mu.RUnlock()
		k := r.kinds[configMaps.GroupKind()]
		return k != nil && k.problem != nil && k.problem.Reason == v1beta2.ReasonRuntimeUnreachable && errors.Is(k.problem.Err, errTooMuch)
	})
	if n := r.gathered.Load(); n != 0 {
		t.Errorf("%d bytes still count as being gathered", n)
	}
}

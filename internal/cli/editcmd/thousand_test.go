package editcmd

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// counter counts requests by their method, but for those that a busy API server asks to be sent again.
type counter struct {
	mutex  sync.Mutex
	counts map[string]int
	// seen is called after each request with the number of its method so far; may be nil.
	seen func(method string, count int)
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// counted lets the commands of a bench be counted.
func (b *bench) counted() *counter {
	c := &counter{counts: map[string]int{}}
	b.config = rest.CopyConfig(b.config)
	b.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if err == nil && answer.StatusCode == http.StatusTooManyRequests {
				return answer, nil
			}
			c.mutex.Lock()
			c.counts[r.Method]++
			count, seen := c.counts[r.Method], c.seen
			c.mutex.Unlock()
			if seen != nil {
				seen(r.Method, count)
			}
			return answer, err
		})
	})
	return c
}

// taken returns the counts, and begins anew.
func (c *counter) taken() (gets, patches, others int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	gets, patches = c.counts[http.MethodGet], c.counts[http.MethodPatch]
	for _, count := range c.counts {
		others += count
	}
	c.counts, c.seen = map[string]int{}, nil
	return gets, patches, others - gets - patches
}

// thousand creates 1,000 Kymas of runtimes: every tenth is of ring canary.
func thousand(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	var all sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range 1000 {
		ring := "rest"
		if i%10 == 0 {
			ring = "canary"
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			kyma := &v1beta2.Kyma{Spec: v1beta2.KymaSpec{Channel: "regular"}}
			kyma.Namespace, kyma.Name, kyma.Labels = b.namespace, fmt.Sprintf("kyma-%04d", i), map[string]string{"ring": ring}
			if err := b.Create(b.Context(), kyma); err != nil {
				b.Error(err)
			}
		})
	}
	if all.Wait(); b.Failed() {
		b.FailNow()
	}
	return b
}

// TestBulk_AThousandKymas: eleven commands with one summary each. Reading takes two requests for the Kymas, which are two pages, and two for
// the catalog, however many Kymas there are; each Kyma that changes takes one more.
func TestBulk_AThousandKymas(t *testing.T) {
	b := thousand(t)
	interrupted(b)
	release := &v1beta2.KymaRelease{Spec: v1beta2.KymaReleaseSpec{Modules: []v1beta2.ReleasedModule{{Name: "notes", Version: "1.1.0"}}}}
	release.Namespace, release.Name = b.namespace, "2.2"
	b.create(release)
	counts := b.counted()
	for _, step := range []struct {
		args, out     string
		gets, patches int
	}{
		{"add notes --all-kymas --yes", "unchanged 1,000 has notes already", 4, 0},
		{"add notes:fast -l ring=canary --yes", "done 100 change notes (channel fast)", 3, 100},
		{"upgrade notes --to 1.1.0 --with-module notes:fast --yes", "done 100 change notes (version 1.1.0)", 4, 100},
		{"add beacon:fast --all-kymas --dry-run=client", "planned 1,000 add beacon:fast", 4, 0},
		{"kyma set-channel fast --on-channel regular -l ring=canary --yes", "done 100 set channel fast", 3, 100},
		{"suspend --all --all-kymas --yes", "done 1,000 suspend", 2, 1000},
		{"resume --all --all-kymas --yes --concurrency 16", "done 1,000 resume", 2, 1000},
		{"suspend notes --all-kymas", "refused 1,000 module notes has no Manifest yet", 3, 0},
		{"kyma set-release 2.2 -l ring=canary --yes", "done 100 set release 2.2", 4, 100},
		{"delete notes --on-channel fast --yes", "done 100 delete notes", 4, 100},
		{"delete notes --all-kymas --yes --concurrency 16", "done 900 delete notes", 4, 900},
	} {
		begin := time.Now()
		code, out, said := b.run(strings.Fields(step.args)...)
		refused := strings.Contains(step.out, "refused")
		if code != 0 && !refused || !strings.Contains(b.flat(out), step.out) || strings.Count(out, "\n") > 4 {
			t.Errorf("%s: exit code %d\n%s\nwant %q in it; said %s", step.args, code, out, step.out, said)
		}
		gets, patches, others := counts.taken()
		if gets != step.gets || patches != step.patches || others != 0 {
			t.Errorf("%s took %d reads, %d patches and %d others, want %d, %d and none", step.args, gets, patches, others, step.gets, step.patches)
		}
		t.Logf("%s: %s", step.args, time.Since(begin).Round(time.Millisecond))
	}
}

// interrupted adds notes to all Kymas in two calls: the first one is interrupted, says so, and leaves the rest to the second one.
func interrupted(b *bench) {
	b.Helper()
	config := b.config
	defer func() { b.config = config }()
	counts := b.counted()
	ctx, interrupt := context.WithCancel(b.Context())
	counts.seen = func(method string, count int) {
		if method == http.MethodPatch && count == 300 {
			interrupt()
		}
	}
	to := &console.Console{In: &bytes.Buffer{}}
	code, out, said := b.runIn(ctx, to, "add", "notes", "--all-kymas", "--yes")
	_, first, _ := counts.taken()
	if code != 130 || first < 300 || first >= 400 || !strings.Contains(b.flat(out), "not begun before the interruption") {
		b.Errorf("exit code %d after %d patches\n%s", code, first, out)
	}
	if want := fmt.Sprintf("Stopped: %d Kymas were changed, %d Kymas were not begun. The same command again does only what is left.\nInterrupted.", first, 1000-first); !strings.Contains(said, want) {
		b.Errorf("said %s, want %q in it", said, want)
	}
	code, out, said = b.run("add", "notes", "--all-kymas", "--yes")
	_, second, _ := counts.taken()
	if code != 0 || first+second != 1000 || !strings.Contains(b.flat(out), fmt.Sprintf("done %d add notes", second)) {
		b.Errorf("exit code %d after %d and %d patches\n%s\nsaid %s", code, first, second, out, said)
	}
	var kymas v1beta2.KymaList
	if err := b.List(b.Context(), &kymas, client.InNamespace(b.namespace)); err != nil {
		b.Fatal(err)
	}
	for i := range kymas.Items {
		if kymas.Items[i].Generation != 2 || len(kymas.Items[i].Spec.Modules) != 1 {
			b.Errorf("Kyma %s has %+v in generation %d", kymas.Items[i].Name, kymas.Items[i].Spec.Modules, kymas.Items[i].Generation)
		}
	}
}

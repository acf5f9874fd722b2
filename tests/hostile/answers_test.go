package hostile

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// setting returns a function that sets a trap with the bait.
func setting(b bait) func(target) *trap {
	return func(target) *trap { return setTrap(b) }
}

// stream returns an endless response: it begins as given and continues with the same piece.
func stream(begin, piece string) func(*trap, http.ResponseWriter, *http.Request) {
	repeated := []byte(strings.Repeat(piece, max(1, 64<<10/len(piece))))
	return func(t *trap, w http.ResponseWriter, req *http.Request) {
		answerJSON(w, http.StatusOK, begin)
		t.pour(w, req, repeated)
	}
}

// counted is like stream, with a number in every piece.
func counted(begin, piece string) func(*trap, http.ResponseWriter, *http.Request) {
	return func(t *trap, w http.ResponseWriter, req *http.Request) {
		answerJSON(w, http.StatusOK, begin)
		var block strings.Builder
		for n := 0; t.open(req); {
			block.Reset()
			for block.Len() < 64<<10 {
				fmt.Fprintf(&block, piece, n)
				n++
			}
			if _, err := io.WriteString(w, block.String()); err != nil {
				return
			}
		}
	}
}

// drip sends a byte at long intervals.
func drip(t *trap, w http.ResponseWriter, req *http.Request) {
	answerJSON(w, http.StatusOK, "{")
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for t.open(req) {
		<-tick.C
		_, _ = io.WriteString(w, " ")
		_ = http.NewResponseController(w).Flush()
	}
}

// bombed returns a small response that is large when unpacked.
func bombed(piece string) func(*trap, http.ResponseWriter, *http.Request) {
	return func(t *trap, w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		packed := gzip.NewWriter(w)
		_, _ = io.WriteString(packed, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"`)
		t.pour(packed, req, []byte(strings.Repeat(piece, 64<<10/len(piece))))
	}
}

// away redirects to another server, which must not receive any request.
func away() bait {
	return func(t *trap, next http.Handler) http.Handler {
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.wrong = append(t.wrong, "followed to another server with "+req.Header.Get("Authorization"))
		}))
		DeferCleanup(other.Close)
		return on(always, func(_ *trap, w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, other.URL+req.URL.Path, http.StatusTemporaryRedirect)
		})(t, next)
	}
}

// every matches every nth match.
func every(n int, match func(*http.Request) bool) func(*http.Request) bool {
	var mu sync.Mutex
	count := 0
	return func(req *http.Request) bool {
		if !match(req) {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		count++
		return count%n == 0
	}
}

// failing responds with a status whose message a user will see.
func failing(code int, reason, message string) func(*trap, http.ResponseWriter, *http.Request) {
	return func(_ *trap, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "31536000")
		answerJSON(w, code, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":%q,
			"details":{"retryAfterSeconds":31536000,"causes":[{"message":%q}]}}`, reason, code, message, message))
	}
}

// echo repeats in its response what it received, including credentials.
func echo(code int) func(*trap, http.ResponseWriter, *http.Request) {
	return func(t *trap, w http.ResponseWriter, req *http.Request) {
		failing(code, "InternalError", "you sent "+req.Header.Get("Authorization"))(t, w, req)
	}
}

var _ = DescribeTable("A runtime that answers", strike,
	Entry("the first request with a body that never ends",
		attack{harmless: true, set: setting(on(at("/version"), stream(`{"gitVersion":"`, "a")))}),
	Entry("every request with a body that never ends",
		attack{set: setting(on(always, stream(`{"a":"`, "a"))), lasts: long}),
	Entry("the request for its identity with one that never ends",
		attack{synced: true, set: setting(on(at("/api/v1/namespaces/kube-system"), stream(`{"metadata":{"uid":"`, "a")))}),
	Entry("writes with an object of one endless string",
		attack{content: many, set: setting(on(writes, stream(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"`, "a"))), lasts: long}),
	Entry("writes with an object of millions of empty values",
		attack{content: many, set: setting(on(writes, stream(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":[`, "[],"))), lasts: long}),
	Entry("writes with an object that is deeper than a stack",
		attack{content: many, set: setting(on(writes, stream(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":`, "["))), lasts: long}),
	Entry("writes with a million field managers",
		attack{content: many, set: setting(on(writes, counted(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","managedFields":[`,
			`{"manager":"m%d","fieldsV1":{"f:a":{}}},`))), lasts: long}),
	Entry("writes with a bomb", attack{content: many, set: setting(on(writes, bombed("aaaaaaaaaaaaaaaa"))), lasts: long}),
	Entry("everything with an HTML page", attack{tells: "Runtime", set: setting(on(always, func(_ *trap, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>"+strings.Repeat("log in please ", 1000)+"</html>")
	}))}),
	Entry("everything with a redirect", attack{set: setting(away())}),
	Entry("everything a byte at a time", attack{set: setting(on(always, drip)), lasts: long}),
	Entry("writes a byte at a time", attack{content: many, set: setting(on(writes, drip)), lasts: long}),
	Entry("writes with a Retry-After of a year", attack{content: many, set: setting(on(writes, failing(429, "TooManyRequests", "later"))), atMost: 40}),
	Entry("writes with a conflict, always", attack{content: many, set: setting(on(writes, failing(409, "Conflict", "again"))), atMost: 60}),
	Entry("writes with a refusal of a megabyte",
		attack{content: many, set: setting(on(writes, failing(422, "Invalid", strings.Repeat("long ", 200_000)))), tells: "422"}),
	Entry("with the credentials that it was sent", attack{content: many, set: setting(on(writes, echo(500)))}),
	Entry("with the credentials that it was sent, from the first request on", attack{set: setting(on(always, echo(500)))}),
	Entry("every other request that the credentials are wrong",
		attack{set: setting(on(every(2, always), failing(401, "Unauthorized", "who?"))), atMost: 100, harmless: false}),
)

// reported is the number of violations of invariants that were reported already, each by the spec in which it happened.
var reported int

var _ = AfterEach(func() {
	for _, entry := range CurrentSpecReport().ReportEntries {
		_, _ = fmt.Fprintln(GinkgoWriter, entry.Name, entry.Value)
	}
	all := env.Watch.Violations()
	fresh := all[reported:]
	reported = len(all)
	Expect(fresh).To(BeEmpty())
})

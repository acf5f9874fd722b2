package server

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// message is one event of a stream.
type message struct {
	event string
	result
}

// listen opens a stream.
func (s *site) listen(queries ...string) <-chan message {
	s.Helper()
	path := streamPath
	for i, query := range queries {
		path += map[bool]string{true: "?", false: "&"}[i == 0] + "q=" + escaped(query)
	}
	ctx, stop := context.WithCancel(s.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	response, err := s.http.Do(request) //nolint:bodyclose // closed by Cleanup
	if err != nil {
		s.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		s.Fatalf("the stream answers with %d %v", response.StatusCode, response.Header)
	}
	messages, done := make(chan message, 100), make(chan struct{})
	go func() {
		defer close(done)
		defer close(messages)
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<24)
		var m message
		for lines.Scan() {
			line := lines.Text()
			if name, is := strings.CutPrefix(line, "event: "); is {
				m = message{event: name}
			} else if data, is := strings.CutPrefix(line, "data: "); is {
				_ = json.Unmarshal([]byte(data), &m.result)
				messages <- m
			}
		}
	}()
	s.Cleanup(func() {
		stop()
		_ = response.Body.Close()
		<-done
	})
	return messages
}

// until waits for a message that fits.
func (s *site) until(messages <-chan message, within time.Duration, what string, fits func(message) bool) message {
	s.Helper()
	for end := time.After(within); ; {
		select {
		case m, open := <-messages:
			if !open {
				s.Fatalf("the stream ended before: %s", what)
			}
			if fits(m) {
				return m
			}
		case <-end:
			s.Fatalf("within %s there was no: %s", within, what)
		}
	}
}

func linesOf(t *testing.T, m message) List[modulestatus.KymaLine] {
	t.Helper()
	var list List[modulestatus.KymaLine]
	if err := json.Unmarshal(m.Body, &list); err != nil {
		t.Fatalf("%s: %v", m.Body, err)
	}
	return list
}

// stateIn returns the state of the first Kyma in a result; "" if there is none.
func stateIn(t *testing.T, m message) modulestatus.State {
	t.Helper()
	if list := linesOf(t, m); m.Status == http.StatusOK && len(list.Items) > 0 {
		return list.Items[0].State
	}
	return ""
}

// The limit of two seconds that users may have to wait is checked in a browser, by web/browser; this test checks that a change arrives.
func TestStream_AChangeReachesAStream(t *testing.T) {
	s := open(t, ModeLocal)
	s.make(namespace("live"))
	kyma := s.kyma("live", "one", v1beta2.StateProcessing)
	s.enter()
	messages := s.listen("/api/v1/kymas?namespace=live", "/api/v1/overview", "/api/v1/kymas/live/none")
	seen := map[int]int{}
	for range 3 {
		m := s.until(messages, 20*time.Second, "a first result of each", func(message) bool { return true })
		seen[m.Query] = m.Status
	}
	if seen[0] != 200 || seen[1] != 200 || seen[2] != 404 {
		t.Fatalf("the first results: %v", seen)
	}
	for _, state := range []v1beta2.State{v1beta2.StateReady, v1beta2.StateError, v1beta2.StateReady} {
		kyma.Status.State = state
		if err := s.admin.Status().Update(t.Context(), kyma); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		s.until(messages, 20*time.Second, "the state "+string(state), func(m message) bool {
			return m.Query == 0 && stateIn(t, m) == modulestatus.State(state)
		})
		t.Logf("%s was seen after %s", state, time.Since(began).Round(time.Millisecond))
	}
	s.kyma("live", "two", v1beta2.StateReady)
	s.until(messages, 20*time.Second, "a new Kyma", func(m message) bool { return m.Query == 0 && linesOf(t, m).Total == 2 })
	if err := s.admin.Delete(t.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	s.until(messages, 20*time.Second, "one that went", func(m message) bool { return m.Query == 0 && linesOf(t, m).Total == 1 })
}

func TestStream_AStreamIsSilentWhereNothingChanges(t *testing.T) {
	s := open(t, ModeLocal)
	s.make(namespace("silent"), namespace("loud"))
	s.kyma("silent", "one", v1beta2.StateReady)
	s.enter()
	messages := s.listen("/api/v1/kymas?namespace=silent&search=one")
	s.until(messages, 20*time.Second, "the first result", func(message) bool { return true })
	s.kyma("loud", "other", v1beta2.StateReady)
	select {
	case m := <-messages:
		if linesOf(t, m).Total == 1 && len(linesOf(t, m).Unread) == 0 {
			t.Errorf("sent again without a difference: %s", m.Body)
		}
	case <-time.After(time.Second):
	}
}

func TestStream_AStreamShowsOneNamespaceOnly(t *testing.T) {
	s := open(t, ModeCluster)
	s.make(namespace("stream-mine"), namespace("stream-theirs"))
	mine := s.kyma("stream-mine", "a", v1beta2.StateReady)
	s.kyma("stream-theirs", "b", v1beta2.StateReady)
	s.enterAs(s.token("stream-only-mine", "stream-mine"))
	messages := s.listen("/api/v1/kymas", "/api/v1/kymas/stream-theirs/b")
	check := func(m message) {
		if strings.Contains(string(m.Body), "stream-theirs") && m.Query == 0 || m.Query == 1 && m.Status != http.StatusForbidden {
			t.Errorf("shows what is not theirs: %d %s", m.Status, m.Body)
		}
	}
	first := s.until(messages, 20*time.Second, "the list", func(m message) bool { check(m); return m.Query == 0 })
	if linesOf(t, first).Total != 1 {
		t.Errorf("%s", first.Body)
	}
	s.kyma("stream-theirs", "c", v1beta2.StateReady)
	mine.Status.State = v1beta2.StateError
	if err := s.admin.Status().Update(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	s.until(messages, 20*time.Second, "my change", func(m message) bool {
		check(m)
		return m.Query == 0 && stateIn(t, m) == modulestatus.Error
	})
}

func TestStream_AStreamOutlivesTheTimeThatARequestMayTake(t *testing.T) {
	s := open(t, ModeLocal, func(o *Options) { o.readTimeout = 2 * time.Second })
	s.make(namespace("long"))
	kyma := s.kyma("long", "one", v1beta2.StateReady)
	s.enter()
	messages := s.listen("/api/v1/kymas?namespace=long")
	s.until(messages, 20*time.Second, "the first result", func(message) bool { return true })
	<-time.After(3 * time.Second)
	kyma.Status.State = v1beta2.StateError
	if err := s.admin.Status().Update(t.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	s.until(messages, 20*time.Second, "a change after that", func(m message) bool {
		return stateIn(t, m) == modulestatus.Error
	})
}

func TestStream_AStreamEndsWithItsSession(t *testing.T) {
	s := open(t, ModeLocal)
	s.enter()
	messages := s.listen("/api/v1/overview")
	s.until(messages, 20*time.Second, "the first result", func(message) bool { return true })
	if r := s.do(http.MethodDelete, "/api/v1/session", ""); r.status != http.StatusNoContent {
		t.Fatal(r.status)
	}
	s.until(messages, 20*time.Second, "the end", func(m message) bool { return m.event == "end" })
	if _, open := <-messages; open {
		t.Error("it continues after its end")
	}
}

func TestStreamsThatAreRefused(t *testing.T) {
	s := open(t, ModeLocal)
	if r := s.do(http.MethodGet, streamPath+"?q=%2Fapi%2Fv1%2Foverview", ""); r.status != http.StatusUnauthorized {
		t.Errorf("without a session: %d", r.status)
	}
	s.enter()
	for name, query := range map[string]string{
		"no query":               "",
		"too many":               strings.Repeat("q=%2Fapi%2Fv1%2Foverview&", mostQueries+1),
		"another server":         "q=http%3A%2F%2Fevil.example.com%2Fapi%2Fv1%2Foverview",
		"a path outside the API": "q=%2Findex.html",
		"a stream in a stream":   "q=%2Fapi%2Fv1%2Fstream",
		"no path":                "q=%25",
	} {
		if r := s.do(http.MethodGet, streamPath+"?"+query, ""); r.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
}

func TestStream_ANewKindIsNoticed(t *testing.T) {
	s := open(t, ModeLocal)
	s.enter()
	get[List[modulestatus.KymaLine]](s, "/api/v1/kymas")
	before := s.server.pulse.number()
	definition := definitionOf("lamps", "Lamp")
	s.make(definition)
	t.Cleanup(func() { _ = s.admin.Delete(context.WithoutCancel(t.Context()), definition) })
	eventually(t, 20*time.Second, "the definition was noticed", func() bool { return s.server.pulse.number() > before })
}

func FuzzQueries(f *testing.F) {
	f.Add("/api/v1/kymas?search=x")
	f.Add("//evil/api/v1/x")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := queriesOf([]string{text})
		if err == nil && (!strings.HasPrefix(all[0].url.Path, "/api/v1/") || all[0].url.Host != "") {
			t.Errorf("%q leads to %v", text, all[0].url)
		}
	})
}

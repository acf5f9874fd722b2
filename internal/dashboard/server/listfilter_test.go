package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// computedSite is a server that has computed a fleet and never reads a cluster.
type computedSite struct {
	*testing.T
	server *Server
	ctx    context.Context
	now    time.Time
}

func computedOf(t *testing.T, in modulestatus.Inputs) *computedSite {
	t.Helper()
	s := &computedSite{T: t, now: time.Unix(1_000_000, 0)}
	server, err := New(Options{Mode: ModeLocal, Config: &rest.Config{Host: "https://127.0.0.1:1"}, Now: func() time.Time { return s.now }})
	if err != nil {
		t.Fatal(err)
	}
	made := newSeen(in)
	made.unread, made.beat = []Unread{}, server.pulse.number()
	server.keep(made)
	s.server, s.ctx = server, as(t.Context(), server.self)
	return s
}

// request answers a path; into takes the answer, if it is one.
func (s *computedSite) request(path string, into any) int {
	s.Helper()
	out := &kept{header: http.Header{}, status: http.StatusOK}
	s.server.api(out, httptest.NewRequestWithContext(s.ctx, http.MethodGet, path, http.NoBody))
	if out.status == http.StatusOK {
		if err := json.Unmarshal(out.body.Bytes(), into); err != nil {
			s.Fatal(err)
		}
	}
	return out.status
}

// troubledFleet are 40 Kymas with two modules in two versions, some of which fail for one of two causes, or take longer than usual.
func troubledFleet(now time.Time) modulestatus.Inputs {
	in := manyKymas(40, 2)
	for i := range in.Kymas {
		kyma := &in.Kymas[i]
		kyma.Status.State = v1beta2.StateReady
		kyma.Labels = map[string]string{"env": []string{"prod", "stage"}[i%2], "instance": kyma.Name}
	}
	for i := range in.Manifests {
		m := &in.Manifests[i]
		kyma, status := &in.Kymas[i/2], &in.Kymas[i/2].Status.Modules[i%2]
		m.CreationTimestamp = metav1.NewTime(now.Add(-24 * time.Hour))
		m.Spec.Version = []string{"1.0.0", "0.9.0"}[i%3/2]
		status.Version, status.State = m.Spec.Version, v1beta2.StateReady
		ready := metav1.Condition{Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}
		switch i % 7 {
		case 0:
			m.Status.State, ready.Reason = v1beta2.StateError, v1beta2.ReasonRegistryUnreachable
			ready.Message = fmt.Sprintf("registry of %s does not answer: dial tcp 10.0.0.%d:443", kyma.Name, i)
		case 1:
			m.Status.State, ready.Reason, ready.Message = v1beta2.StateWarning, v1beta2.ReasonModuleWarning, "no certificate"
		case 2:
			m.Status.State, ready.Reason, ready.Message = v1beta2.StateProcessing, v1beta2.ReasonModuleProcessing, "0 of 1 replicas are available"
			if i%2 == 0 {
				ready.LastTransitionTime = metav1.NewTime(now.Add(-modulestatus.Patience + time.Minute)) // later
			}
		default:
			continue
		}
		status.State, status.Message = m.Status.State, ready.Message
		m.Status.Conditions = []metav1.Condition{ready}
	}
	return in
}

// address is the path of a list of modules.
func address(parameters ...string) string {
	query := url.Values{"limit": {"200"}}
	for i := 0; i < len(parameters); i += 2 {
		query.Add(parameters[i], parameters[i+1])
	}
	return "/api/v1/modules?" + query.Encode()
}

// rows returns how many modules a list has, by its total and by its items.
func (s *computedSite) rows(path string) int {
	s.Helper()
	var list List[moduleRow]
	if status := s.request(path, &list); status != http.StatusOK || len(list.Items) != list.Total {
		s.Fatalf("%s: status %d, %d items of %d", path, status, len(list.Items), list.Total)
	}
	return list.Total
}

func TestFleet_EveryNumberIsTheLengthOfTheListThatItLeadsTo(t *testing.T) {
	s := computedOf(t, troubledFleet(time.Unix(1_000_000, 0)))
	for _, wait := range []time.Duration{0, 2 * time.Minute} {
		s.now = s.now.Add(wait)
		var fleet fleetList
		s.request("/api/v1/fleet", &fleet)
		if len(fleet.Items) != 2 {
			t.Fatalf("the fleet has %d modules", len(fleet.Items))
		}
		for _, m := range fleet.Items {
			of := []string{"namespace", m.Namespace, "module", m.Name}
			s.same(m.Kymas, address(of...))
			s.same(m.Troubled, address(append(of, "attention", "true")...))
			sum := m.Others.Kymas
			for _, v := range m.Versions {
				cell := append(slices.Clone(of), "version", cmp.Or(v.Version, noVersion))
				s.same(v.Kymas, address(cell...))
				s.same(v.Troubled, address(append(cell, "attention", "true")...))
				sum += v.Kymas
			}
			if sum != m.Kymas {
				t.Errorf("%s: versions count %d, not %d", m.Name, sum, m.Kymas)
			}
		}
		s.same(fleet.Counts.Attention, address("attention", "true"))
		for state, count := range fleet.Counts.Modules {
			s.same(count, address("state", string(state)))
		}
		for state, count := range fleet.Counts.Kymas {
			var kymas List[kymaRow]
			if s.request("/api/v1/kymas?state="+string(state), &kymas); kymas.Total != count {
				t.Errorf("%d Kymas are %s, and %d are listed", count, state, kymas.Total)
			}
		}
	}
}

func (s *computedSite) same(number int, path string) {
	s.Helper()
	if rows := s.rows(path); rows != number {
		s.Errorf("the number is %d, and %s has %d rows", number, path, rows)
	}
}

func TestFleet_VersionsThatAreNotNamedLeadToTheirModules(t *testing.T) {
	in := manyKymas(30, 1)
	for i := range in.Manifests {
		version := fmt.Sprintf("1.%d.0", i%9)
		in.Manifests[i].Spec.Version, in.Kymas[i].Status.Modules[0].Version = version, version
	}
	s := computedOf(t, in)
	var fleet fleetList
	s.request("/api/v1/fleet", &fleet)
	others := []string{"namespace", "kcp-system", "module", "module-a"}
	for _, v := range fleet.Items[0].Versions {
		others = append(others, "notVersion", v.Version)
	}
	if fleet.Items[0].Others.Kymas == 0 {
		t.Fatalf("no version is left: %+v", fleet.Items[0])
	}
	s.same(fleet.Items[0].Others.Kymas, address(others...))
}

func TestFleet_CausesAreGroupsOfExactlyTheModulesThatNeedAttention(t *testing.T) {
	s := computedOf(t, troubledFleet(time.Unix(1_000_000, 0)))
	before := s.rows(address("attention", "true"))
	for _, wait := range []time.Duration{0, 2 * time.Minute} {
		s.now = s.now.Add(wait)
		var causes List[modulestatus.TroubleGroup]
		s.request("/api/v1/fleet/causes?limit=200", &causes)
		sum := 0
		for _, cause := range causes.Items {
			s.same(cause.Modules, address("cause", cause.ID))
			s.same(cause.Modules, address("cause", cause.ID, "module", cause.Module, "reason", cause.Reason))
			sum += cause.Modules
		}
		s.same(sum, address("attention", "true"))
		if causes.Items[0].State != modulestatus.Error || causes.Items[0].Kymas < 2 {
			t.Errorf("the worst is not first, or not grouped: %+v", causes.Items[0])
		}
	}
	if after := s.rows(address("attention", "true")); after <= before {
		t.Errorf("%d modules needed attention, and %d after two minutes", before, after)
	}
	var found List[modulestatus.TroubleGroup]
	s.request("/api/v1/fleet/causes?search=certificate&sort=-since", &found)
	if found.Total == 0 || slices.ContainsFunc(found.Items, func(g modulestatus.TroubleGroup) bool { return g.Message != "no certificate" }) {
		t.Errorf("a search for a message finds %+v", found.Items)
	}
	if s.rows(address("cause", "0123456789abcdef")) != 0 {
		t.Error("a cause that there is not leads to modules")
	}
}

func TestFilters_OfLists(t *testing.T) {
	s := computedOf(t, troubledFleet(time.Unix(1_000_000, 0)))
	for name, c := range map[string]struct {
		query string
		want  int
	}{
		"a label":               {"labelSelector=env%3Dprod", 20},
		"a label without value": {"labelSelector=env", 40},
		"several":               {"labelSelector=" + url.QueryEscape("env in (prod,stage),instance!=kyma-00001"), 39},
		"a label that none has": {"labelSelector=nothing", 0},
		"a channel":             {"channel=regular", 40},
		"another channel":       {"channel=fast", 0},
		"space is no selector":  {"labelSelector=+", 40},
	} {
		t.Run(name, func(t *testing.T) {
			var kymas List[kymaRow]
			if s.request("/api/v1/kymas?limit=200&"+c.query, &kymas); kymas.Total != c.want {
				t.Errorf("%d Kymas, want %d", kymas.Total, c.want)
			}
			var modules List[moduleRow]
			if s.request("/api/v1/modules?limit=200&"+c.query, &modules); modules.Total != 2*c.want {
				t.Errorf("%d modules, want %d", modules.Total, 2*c.want)
			}
		})
	}
	for _, query := range []string{"labelSelector=a%3D%3D%3Db", "labelSelector=" + strings.Repeat("x", mostSelector+1), "labels=env"} {
		for _, list := range []string{"kymas", "modules"} {
			if status := s.request("/api/v1/"+list+"?"+query, nil); status != http.StatusBadRequest {
				t.Errorf("%s?%s: status %d", list, query, status)
			}
		}
	}
}

func TestFilters_AreOffered(t *testing.T) {
	s := computedOf(t, troubledFleet(time.Unix(1_000_000, 0)))
	var all filterChoices
	s.request("/api/v1/filters", &all)
	if !slices.Equal(all.Labels, []string{"env=prod", "env=stage", "instance"}) {
		t.Errorf("labels: %q", all.Labels)
	}
	if !slices.Equal(all.Channels, []string{"regular"}) || !slices.Equal(all.Versions, []string{"0.9.0", "1.0.0"}) ||
		!slices.Equal(all.Modules, []string{"module-a", "module-b"}) || !slices.Contains(all.Reasons, v1beta2.ReasonRegistryUnreachable) {
		t.Errorf("choices: %+v", all)
	}
	for _, reason := range all.Reasons {
		var kymas List[kymaRow]
		s.request("/api/v1/kymas?reason="+reason, &kymas)
		if rows := s.rows(address("reason", reason)); rows+kymas.Total == 0 {
			t.Errorf("no Kyma and no module has the reason %s", reason)
		}
	}
}

func TestKymas_LabelsAreBounded(t *testing.T) {
	in := manyKymas(1, 0)
	in.Kymas[0].Labels = map[string]string{}
	for i := range 50 {
		in.Kymas[0].Labels[fmt.Sprintf("key-%02d", i)] = "x"
	}
	var kymas List[kymaRow]
	computedOf(t, in).request("/api/v1/kymas", &kymas)
	if got := kymas.Items[0].Labels; len(got) != mostLabels || got["key-00"] == "" || got["key-19"] == "" {
		t.Errorf("labels: %v", got)
	}
}

func TestModules_TheSlowestComesFirstAmongThoseInProgress(t *testing.T) {
	s := computedOf(t, troubledFleet(time.Unix(1_000_000, 0)))
	var list List[moduleRow]
	s.request(address("sort", "state"), &list)
	last := map[modulestatus.State]*metav1.Time{}
	for i, row := range list.Items {
		if i > 0 && worstFirst(list.Items[i-1].State, row.State) > 0 {
			t.Fatalf("%s comes before %s", list.Items[i-1].State, row.State)
		}
		if row.State == modulestatus.Processing {
			if row.Since == nil || last[row.State] != nil && row.Since.Before(last[row.State]) {
				t.Fatalf("%v comes after %v", row.Since, last[row.State])
			}
			last[row.State] = row.Since
		}
		if row.Attention != (row.State.Bad() || row.State == modulestatus.Processing && s.now.Sub(row.Since.Time) >= modulestatus.Patience) {
			t.Errorf("%s since %v needs attention: %t", row.State, row.Since, row.Attention)
		}
	}
}

func TestFleet_ALiveQueryIsReadAgainWhileAModuleIsInProgress(t *testing.T) {
	for name, c := range map[string]struct {
		in   modulestatus.Inputs
		want bool
	}{
		"all is Ready":            {manyKymas(1, 1), false},
		"one will need attention": {troubledFleet(time.Unix(1_000_000, 0)), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := computedOf(t, c.in)
			for i := range c.in.Kymas {
				c.in.Kymas[i].Status.State = v1beta2.StateReady
			}
			for _, path := range []string{"/api/v1/fleet", "/api/v1/fleet/causes", "/api/v1/modules"} {
				at, err := url.Parse(path)
				if err != nil {
					t.Fatal(err)
				}
				q := query{url: at}
				l := &live{server: s.server, user: s.server.self}
				if status, body := l.ask(s.ctx, &q); status != http.StatusOK || q.beyond != c.want {
					t.Errorf("%s: status %d, read again: %t, want %t: %s", path, status, q.beyond, c.want, clip(string(body), 100))
				}
			}
		})
	}
}

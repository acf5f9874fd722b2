package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
)

func TestProblemOf(t *testing.T) {
	kymas := schema.GroupResource{Group: ownGroup, Resource: "kymas"}
	kind := schema.GroupKind{Group: ownGroup, Kind: "Kyma"}
	wrong := field.ErrorList{field.Invalid(field.NewPath("spec", "channel"), "X", "lower case only")}
	for name, c := range map[string]struct {
		err    error
		status int
		reason string
		has    string
	}{
		"an error of a handler is returned":      {fail(418, "Teapot", "no %s", "coffee"), 418, "Teapot", "no coffee"},
		"and one that it wraps":                  {fmt.Errorf("x: %w", fail(418, "Teapot", "no")), 418, "Teapot", "no"},
		"forbidden by the cluster":               {apierrors.NewForbidden(kymas, "a", errors.New("no")), 403, "Forbidden", "kymas"},
		"not found in the cluster":               {apierrors.NewNotFound(kymas, "a"), 404, "NotFound", `"a" not found`},
		"a conflict":                             {apierrors.NewConflict(kymas, "a", errors.New("changed")), 409, "Conflict", "changed"},
		"an invalid object names its field":      {apierrors.NewInvalid(kind, "a", wrong), 422, "Invalid", "spec.channel"},
		"a token that is no longer accepted":     {apierrors.NewUnauthorized("secret text"), 401, "Unauthorized", "log in again"},
		"a status without a code is the gateway": {&apierrors.StatusError{ErrStatus: metav1.Status{Message: "odd"}}, 502, "BadGateway", "odd"},
		"too late":                               {fmt.Errorf("get: %w", context.DeadlineExceeded), 504, WhyTimeout, "try again"},
		"a kind that there is not":               {&meta.NoKindMatchError{GroupKind: kind}, 404, WhyNotFound, "does not serve"},
		"a cluster that does not answer":         {errors.New("dial tcp: refused\nsecond line"), 502, WhyUnreachable, "dial tcp: refused;"},
		"a user may not read a Kyma of another":  {mayNotRead(&User{Name: "ada"}, "Kyma b"), 403, WhyForbidden, "ada may not read Kyma b"},
	} {
		t.Run(name, func(t *testing.T) {
			p := problemOf(c.err)
			if p.Status != c.status || p.Reason != c.reason || !strings.Contains(p.Message, c.has) {
				t.Errorf("%+v", p)
			}
			if strings.Contains(p.Message, "secret text") {
				t.Error("it repeats what the cluster said of the token")
			}
		})
	}
	if p := problemOf(apierrors.NewInvalid(kind, "a", wrong)); len(p.Details) != 1 || p.Details[0].Field != "spec.channel" {
		t.Errorf("details: %+v", p.Details)
	}
}

func TestDecode(t *testing.T) {
	type body struct {
		Name string `json:"name"`
	}
	for name, c := range map[string]struct {
		text, kind string
		status     int
	}{
		"a document":           {`{"name":"a"}`, "application/json", 0},
		"with a character set": {`{"name":"a"}`, "application/json; charset=utf-8", 0},
		"an unknown field":     {`{"nam":"a"}`, "application/json", 400},
		"two documents":        {`{"name":"a"}{"name":"b"}`, "application/json", 400},
		"text after it":        {`{"name":"a"}x`, "application/json", 400},
		"nothing":              {``, "application/json", 400},
		"half of it":           {`{"name":`, "application/json", 400},
		"no JSON":              {`name=a`, "application/x-www-form-urlencoded", 415},
		"too much":             {`{"name":"` + strings.Repeat("x", mostBody) + `"}`, "application/json", 413},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", c.kind)
			is, err := decode[body](request)
			if c.status == 0 {
				if err != nil || is.Name != "a" {
					t.Errorf("%+v %v", is, err)
				}
				return
			}
			if err == nil || problemOf(err).Status != c.status {
				t.Errorf("%v, want status %d", err, c.status)
			}
		})
	}
}

func TestTroubled(t *testing.T) {
	kyma := func(name string, state modulestatus.State) modulestatus.KymaLine {
		return modulestatus.KymaLine{Namespace: "n", Name: name, State: state}
	}
	module := func(kyma, name string, state modulestatus.State) modulestatus.Module {
		return modulestatus.Module{Kyma: "n/" + kyma, Name: name, State: state}
	}
	now := time.Unix(10_000, 0)
	since := func(age time.Duration, name string, state modulestatus.State) modulestatus.Module {
		m := module("k", name, state)
		m.Since = &metav1.Time{Time: now.Add(-age)}
		return m
	}
	held := module("k", "held", modulestatus.Deleting)
	held.Installation.BlockedBy = []string{"Greeting shop/a"}
	lines := func(all ...modulestatus.KymaLine) []modulestatus.KymaLine { return all }
	mods := func(all ...modulestatus.Module) []modulestatus.Module { return all }
	var many []modulestatus.Module
	for i := range 30 {
		many = append(many, module("k", fmt.Sprintf("m%02d", i), modulestatus.Error))
	}
	for name, c := range map[string]struct {
		kymas   []modulestatus.KymaLine
		modules []modulestatus.Module
		want    []string
		total   int
	}{
		"a ready Kyma needs nothing": {lines(kyma("k", modulestatus.Ready)), mods(module("k", "m", modulestatus.Processing)), nil, 0},
		"an error comes before a warning": {
			nil, mods(module("k", "a", modulestatus.Warning), module("l", "b", modulestatus.Error)), []string{"b", "a"}, 2,
		},
		"a Kyma is not repeated beside its module": {lines(kyma("k", modulestatus.Error)), mods(module("k", "a", modulestatus.Error)), []string{"a"}, 1},
		"a Kyma worse than its modules is listed":  {lines(kyma("k", modulestatus.Error)), mods(module("k", "a", modulestatus.Warning)), []string{"k", "a"}, 2},
		"a Kyma without modules is listed":         {lines(kyma("k", modulestatus.Warning)), nil, []string{"k"}, 1},
		"a module in progress has two minutes":     {nil, mods(since(time.Minute, "m", modulestatus.Processing)), nil, 0},
		"a module that is not ready after that needs attention: no node may be free": {
			nil, mods(since(2*time.Minute, "slow", modulestatus.Processing), module("k", "a", modulestatus.Warning)), []string{"a", "slow"}, 2,
		},
		"the deletion of a module that was Ready long ago is in progress": {nil, mods(since(time.Hour, "m", modulestatus.Deleting)), nil, 0},
		"a deletion that waits for users' objects needs attention":        {nil, mods(held), []string{"held"}, 1},
		"twenty are shown, and all of them counted":                       {nil, many, nil, 30},
	} {
		t.Run(name, func(t *testing.T) {
			is := troubled(c.kymas, c.modules, nil, now)
			var names []string
			for _, one := range is.Items {
				names = append(names, one.Name)
			}
			if is.Total != c.total || len(is.Items) > mostAttention || c.total < 20 && !cmp.Equal(names, c.want) {
				t.Errorf("%v of %d, want %v of %d", names, is.Total, c.want, c.total)
			}
		})
	}
}

func TestPure_WhyNot(t *testing.T) {
	in := &modulestatus.Inputs{Manifests: []v1beta2.Manifest{{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "k-m"}}}}
	in.Manifests[0].Status.State = v1beta2.StateError
	in.Manifests[0].Status.Conditions = []metav1.Condition{
		{Type: v1beta2.ConditionReady, Reason: v1beta2.ReasonQuotaExceeded, Message: "full"},
	}
	kymas := []modulestatus.KymaLine{
		{Namespace: "n", Name: "k", State: modulestatus.Error, Reason: "ModuleError"}, {Namespace: "n", Name: "other", State: modulestatus.Error},
	}
	failed := modulestatus.Module{Name: "m", Kyma: "n/k", State: modulestatus.Error, Manifest: &modulestatus.Key{Namespace: "n", Name: "k-m"}}
	failed.Installation = modulestatus.Installation{State: modulestatus.Failed, Reason: v1beta2.ReasonQuotaExceeded, Message: "full"}
	tree := &modulestatus.Node{Children: []modulestatus.Node{
		{Kind: "Service", Name: "good", State: modulestatus.Ready}, {Kind: "Deployment", Name: "slow", State: modulestatus.Processing},
		{Kind: "ConfigMap", Name: "far"}, {Kind: "Deployment", Namespace: "x", Name: "dead", State: modulestatus.Error, Reason: modulestatus.WhyMissing},
	}}
	for name, c := range map[string]struct {
		module modulestatus.Module
		tree   *modulestatus.Node
		want   []string
	}{
		"a ready module has no chain": {modulestatus.Module{Name: "m", State: modulestatus.Ready}, nil, nil},
		"from the Kyma to the worst object": {failed, tree, []string{
			"Kyma n/k", "Module m", "Manifest n/k-m", "Deployment x/dead", "Deployment slow",
		}},
		"without a Kyma it begins with the module": {modulestatus.Module{Name: "m", State: modulestatus.Error}, nil, []string{"Module m"}},
	} {
		t.Run(name, func(t *testing.T) {
			var is []string
			for _, why := range whyNot(in, kymas, &c.module, c.tree) {
				is = append(is, why.What)
			}
			if !cmp.Equal(is, c.want) {
				t.Errorf("%v, want %v", is, c.want)
			}
		})
	}
	chain := whyNot(in, kymas, &failed, tree)
	if chain[1].Remedy != rootcause.RemedyOf(v1beta2.ReasonQuotaExceeded) || chain[3].Remedy != rootcause.RemedyOf(modulestatus.WhyMissing) {
		t.Errorf("remedies: %+v", chain)
	}
}

func TestWorstFirst(t *testing.T) {
	order := []modulestatus.State{modulestatus.Error, modulestatus.Warning, modulestatus.Unknown, modulestatus.Deleting, modulestatus.Processing, modulestatus.NotConfigured, modulestatus.Ready}
	for i := range order {
		for j := range order {
			if is, want := worstFirst(order[i], order[j]), cmpInt(i, j); is != want {
				t.Errorf("%s to %s: %d, want %d", order[i], order[j], is, want)
			}
		}
	}
}

func cmpInt(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func FuzzPage(f *testing.F) {
	f.Add("search=a&limit=5&offset=2&sort=-name")
	f.Fuzz(func(t *testing.T, text string) {
		query, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		p, err := pageOf(query, "name")
		if err != nil {
			return
		}
		all := []int{1, 2, 3, 4, 5}
		if list := listOf(all, p, nil); len(list.Items) > p.limit || list.Total != len(all) || p.limit > mostPage {
			t.Errorf("%+v of %+v", list, p)
		}
	})
}

func TestNarrowed(t *testing.T) {
	kymas := schema.GroupKind{Group: ownGroup, Kind: "Kyma"}
	templates := schema.GroupKind{Group: ownGroup, Kind: "ModuleTemplate"}
	in := narrowed(modulestatus.Inputs{Looked: []modulestatus.ListedKind{{GroupKind: kymas}, {GroupKind: templates}}}, map[schema.GroupKind][]string{kymas: {"a"}})
	want := []modulestatus.ListedKind{{GroupKind: templates}, {GroupKind: kymas, Namespace: "a"}}
	if diff := cmp.Diff(want, in.Looked); diff != "" {
		t.Error(diff)
	}
	if len(in.Unread) != 1 || !in.Unread[0].Forbidden {
		t.Errorf("that there may be more is not said: %+v", in.Unread)
	}
}

// TestPure_EveryErrorHasARemedy checks that every reason in docs/spec/manifest.md has a remedy.
func TestPure_EveryErrorHasARemedy(t *testing.T) {
	text, err := os.ReadFile("../../../docs/spec/manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	conditions, _, found := strings.Cut(string(text), "\nReasons of events alone:")
	if !found {
		t.Fatal("the page has no list of the reasons of events")
	}
	rows := regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\| (Error|Warning|Deleting) \\|").FindAllStringSubmatch(conditions, -1)
	if len(rows) < 30 {
		t.Fatalf("the document has %d reasons", len(rows))
	}
	for _, row := range rows {
		if rootcause.RemedyOf(row[1]) == "" {
			t.Errorf("%s (%s) has no remedy", row[1], row[2])
		}
	}
}

package requirements_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

func TestParseList(t *testing.T) {
	istio := requirements.Requirement{Module: "istio", Version: ">=1.20 <2"}
	gateway := requirements.Requirement{Definition: "gateways.gateway.networking.k8s.io", Served: "v1"}
	for _, test := range []struct {
		name, data string
		want       []requirements.Requirement
		broken     string
	}{
		{"JSON", `[{"module":"istio","version":">=1.20 <2"},{"kubernetes":">=1.31"}]`,
			[]requirements.Requirement{istio, {Kubernetes: ">=1.31"}}, ""},
		{"YAML", "- {module: istio, version: '>=1.20 <2'}\n- definition: gateways.gateway.networking.k8s.io\n  served: v1\n",
			[]requirements.Requirement{istio, gateway}, ""},
		{"YAML in one line", `[{module: istio, version: ">=1.20 <2"}]`, []requirements.Requirement{istio}, ""},
		{"a blank text has none", " \n", nil, ""},
		{"an empty list has none", "[]", []requirements.Requirement{}, ""},
		{"an empty list of YAML has none", "[] # none", []requirements.Requirement{}, ""},
		{"a number would lose its last digit", "- kubernetes: 1.30\n", nil, "entry 1: kubernetes must be a text in quotes"},
		{"a number in JSON", `[{"kubernetes": 1.30}]`, nil, "cannot unmarshal"},
		{"an unknown field", `[{"module":"istio","channel":"fast"}]`, nil, `unknown field "[0].channel"`},
		{"an unknown field of YAML", "- {module: istio, channel: fast}", nil, `entry 1: field "channel" is unknown or repeated`},
		{"a field in capitals", `[{"Module":"istio"}]`, nil, `unknown field`},
		{"a repeated field", `[{"module":"istio","module":"eventing"}]`, nil, `duplicate field`},
		{"a repeated field of YAML", "- {module: istio, module: eventing}", nil, `field "module" is unknown or repeated`},
		{"an alias", "- &a {module: istio}\n- *a\n", nil, "entry 2: it is not a mapping"},
		{"a single requirement is no list", `{"module":"istio"}`, nil, "cannot unmarshal object"},
		{"a single requirement of YAML is no list", "module: istio", nil, "the requirements are no list"},
		{"null is no list", "null", nil, "the requirements are no list"},
		{"a word is no list", "istio", nil, "the requirements are no list"},
		{"two documents", "- module: istio\n---\n- module: eventing\n", nil, "more than one document"},
		{"no YAML", "- {module", nil, "the requirements cannot be read"},
		{"more than fit", "[" + strings.Repeat(`{"module":"istio"},`, 32) + `{"module":"istio"}]`, nil, "33 requirements, and may have 32"},
		{"a text that is too long", strings.Repeat(" ", requirements.MaxBytes+1), nil, "bytes, and may have"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := requirements.ParseList(test.data)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
			switch {
			case err == nil && test.broken != "":
				t.Errorf("no error, want one about %q", test.broken)
			case err != nil && (test.broken == "" || !strings.Contains(err.Error(), test.broken)):
				t.Errorf("error %q, want %q", err, test.broken)
			}
		})
	}
}

func TestFormatList_IsReadAgain(t *testing.T) {
	list := []requirements.Requirement{{Module: "istio", Version: ">=1.20 <2"}, {Kubernetes: ">=1.31"}}
	want := `[{"module":"istio","version":">=1.20 <2"},{"kubernetes":">=1.31"}]`
	if got := requirements.FormatList(list); got != want {
		t.Errorf("text %s, want %s", got, want)
	}
	if got := requirements.FormatList(nil); got != "" {
		t.Errorf("an empty list is %q", got)
	}
}

// FuzzParseList holds that a list that is accepted is bounded, can be checked, and is the same when it is written and read again.
func FuzzParseList(f *testing.F) {
	for _, seed := range []string{
		`[{"module":"istio","version":">=1.20 <2"}]`, "- kubernetes: '>=1.31'", "- {definition: a.b, served: v1}", "[[", "- &a [*a]",
		"[{}]", "- module: 1e3", "--- []\n---", "{module: a}", "- <<: {module: a}", `[{"module":"a"},null]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		list, err := requirements.ParseList(data)
		if err != nil {
			if list != nil {
				t.Fatal("a list and an error")
			}
			return
		}
		if len(list) > requirements.MaxCount {
			t.Fatalf("%d requirements", len(list))
		}
		valid := len(requirements.Validate(list)) == 0
		for _, one := range requirements.Check(list, requirements.Facts{ModulesKnown: true}) {
			if one.Sentence == "" || valid && one.Requirement == (requirements.Requirement{}) {
				t.Fatalf("%+v is missing without a sentence", one)
			}
		}
		if !valid || len(list) == 0 {
			return
		}
		again, err := requirements.ParseList(requirements.FormatList(list))
		if diff := cmp.Diff(list, again); err != nil || diff != "" {
			t.Fatalf("written and read again: %v\n%s", err, diff)
		}
	})
}

package releasepreview

import (
	"slices"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	reader = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r},
 rules: [{apiGroups: [""], resources: [secrets], verbs: [get, list]}]}`
	binding = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}, subjects: [{kind: ServiceAccount, name: manager, namespace: kyma-system}]}`
	account = `{apiVersion: v1, kind: ServiceAccount, metadata: {name: manager, namespace: kyma-system}}`
	widgets = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com},
 spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList},
 versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object,
 properties: {color: {type: string}, size: {type: integer}}}}}}}]}}`
)

// line returns a line of the summary.
func line(t *testing.T, c *Changes, group string) Line {
	t.Helper()
	for _, one := range c.Summary(0) {
		if one.Group == group {
			return one
		}
	}
	return Line{}
}

func TestCompare_NamesTheGravestRightFirst(t *testing.T) {
	changes := Compare(&Side{Version: "1.0.0", Objects: objects(t, account)}, &Side{Version: "1.1.0", Objects: objects(t, account, reader, binding)})
	first := changes.Summary(0)[0]
	if first.Group != "rights" || len(first.Details) == 0 || !strings.Contains(first.Details[0], "Secret") {
		t.Errorf("%+v", first)
	}
	if got := line(t, &changes, "objects").Text; got != "2 added, 1 unchanged" {
		t.Errorf("objects: %q", got)
	}
}

func TestCompare_TellsWhichChangesOfDefinitionsAreRefused(t *testing.T) {
	narrowed := strings.Replace(widgets, "color: {type: string}, ", "", 1)
	for name, test := range map[string]struct {
		allowed []v1beta2.CRDRule
		refused bool
		word    string
	}{
		"a field that goes is refused":                      {nil, true, "refused"},
		"unless the ModuleTemplate allows the rule by name": {[]v1beta2.CRDRule{"FieldRemoved"}, false, "allowed by the ModuleTemplate"},
	} {
		t.Run(name, func(t *testing.T) {
			template := newTemplate("1.1.0", func(spec *v1beta2.ModuleTemplateSpec) { spec.AllowCRDChanges = test.allowed })
			changes := Compare(&Side{Version: "1.0.0", Objects: objects(t, widgets)},
				&Side{Version: "1.1.0", Objects: objects(t, narrowed), Template: &template})
			if len(changes.Definitions) != 1 || changes.Definitions[0].Refused != test.refused || changes.Definitions[0].Rule != "FieldRemoved" {
				t.Fatalf("%+v", changes.Definitions)
			}
			got := line(t, &changes, "definitions")
			if strings.Contains(got.Text, "refused") != test.refused || !strings.Contains(got.Details[0], test.word) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestCompare_TellsTheWayBack(t *testing.T) {
	for name, test := range map[string]struct{ rollbackTo, want string }{
		"without a word of the author only a person goes back": {"", "only a person can go back to 1.0.0: the version has no rollbackTo"},
		"a range that covers the version vouches for it":       {">=1.0.0", `to 1.0.0, for which rollbackTo ">=1.0.0" vouches`},
		"one that does not cover it does not":                  {">=1.0.5", `only a person can go back to 1.0.0: rollbackTo ">=1.0.5" does not include it`},
		"neither does one that is no range":                    {"newest", `only a person can go back to 1.0.0: rollbackTo "newest" does not include it`},
	} {
		template := newTemplate("1.1.0", func(spec *v1beta2.ModuleTemplateSpec) { spec.RollbackTo = test.rollbackTo })
		changes := Compare(&Side{Version: "1.0.0"}, &Side{Version: "1.1.0", Template: &template})
		if got := line(t, &changes, "way back").Text; got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestCompare_TellsRequirementsDowntimeAndTheTemplate(t *testing.T) {
	before := newTemplate("1.0.0", func(spec *v1beta2.ModuleTemplateSpec) {
		spec.Data = object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: 1}}`)
	})
	after := newTemplate("1.1.0", needsDowntime, func(spec *v1beta2.ModuleTemplateSpec) {
		spec.Data = object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: 2}}`)
	})
	changes := Compare(&Side{Version: "1.0.0", Template: &before, Requires: []v1beta2.Requirement{{Kubernetes: ">=1.30"}}}, &Side{
		Version: "1.1.0", Template: &after, Requires: []v1beta2.Requirement{{Module: "istio", Version: ">=1.20"}, {Definition: "gateways.example.com"}},
	})
	if got := line(t, &changes, "requirements"); got.Text != "2 new, 1 gone" || !slices.Equal(got.Details,
		[]string{"+ module istio (>=1.20)", "+ definition gateways.example.com", "- Kubernetes >=1.30"}) {
		t.Errorf("%+v", got)
	}
	if got := line(t, &changes, "template"); !slices.Equal(got.Details, []string{`~ data.spec.size: "1" -> "2"`}) {
		t.Errorf("%+v", got)
	}
	if line(t, &changes, "downtime").Text == "" {
		t.Error("the downtime is not told")
	}
	if first := Compare(nil, &Side{Version: "1.1.0", Template: &after}); first.Downtime || first.From != nil {
		t.Errorf("a first installation waits for no window: %+v", first)
	}
}

func TestChanges_SummaryIsBounded(t *testing.T) {
	changes := Compare(&Side{}, &Side{Version: "1.1.0", Objects: objects(t, account, reader, binding, widgets)})
	for _, one := range changes.Summary(1) {
		if len(one.Details) > 1 {
			t.Errorf("%s has %d details", one.Group, len(one.Details))
		}
	}
	if got := changes.Summary(1)[len(changes.Summary(1))-2]; got.Group != "objects" || got.More != 3 {
		t.Errorf("%+v", got)
	}
}

func TestChanges_EmptyOfTheSameVersion(t *testing.T) {
	template := newTemplate("1.0.0")
	side := &Side{Version: "1.0.0", Template: &template, Objects: objects(t, account, reader, binding, widgets, deployment("a:1"))}
	if changes := Compare(side, side); !changes.Empty() {
		t.Errorf("%+v", changes)
	}
}

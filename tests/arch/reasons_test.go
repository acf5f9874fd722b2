package arch

import "testing"

// conditionsGo declares the reasons of the fixtures.
const conditionsGo = "package v1\n\nconst (\n\tReasonReady = \"Ready\"\n\tReasonGone = \"Gone\"\n)\n"

// set is a function that takes a reason.
const set = "package conditions\n\nfunc Set(kind, status, reason, message string) {}\n"

func TestReasonsDeclared(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want []string
	}{
		"a constant as argument":                 {`func f() { conditions.Set("a", "b", v1.ReasonReady, "d") }`, nil},
		"a string as argument":                   {`func f() { conditions.Set("a", "b", "Ready", "d") }`, []string{`the reason "Ready" is`}},
		"strings for other arguments":            {`func f() { conditions.Set("a", "b", r, "d") }`, nil},
		"a string in a field":                    {`var c = C{Reason: "Other"}`, []string{`the reason "Other" is written as a string`}},
		"a string assigned to a field":           {`func f(c *C) { c.Reason = "Ready" }`, []string{`the reason "Ready"`}},
		"no reason yet":                          {`var c = C{Reason: ""}`, nil},
		"a string for a function of the package": {`func f() { g(1, "Ready") }; func g(n int, reason string) {}`, []string{`the reason "Ready"`}},
		"a string for a method":                  {`func f(c C) { c.g("Ready") }; func (C) g(reason string) {}`, []string{`the reason "Ready"`}},
		"a function that takes no reason":        {`func f() { g("Ready") }; func g(text string) {}`, nil},
		"a constant declared elsewhere":          {`const ReasonOther = "Other"`, []string{"ReasonOther is declared outside " + reasonsFile}},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, place := range tc.want {
				want = append(want, "internal/a/a.go:8: "+place)
			}
			expect(t, ReasonsDeclared(using(t, "internal/a/a.go", tc.body)), want...)
			expect(t, ReasonsDeclared(using(t, "internal/a/a_test.go", tc.body)))
		})
	}
}

func TestReasonsOfLibraries(t *testing.T) {
	for name, tc := range map[string]struct{ body, want string }{
		"a word of the API":                  {`var e = Error{Reason: "Gone"}`, ""},
		"a constant with a word of the API":  {`const ReasonReady = "Ready"`, ""},
		"another word":                       {`var e = Error{Reason: "Other"}`, `pkg/a/a.go:8: the reason "Other" is not declared`},
		"a constant with another word":       {`const ReasonOther = "Other"`, `pkg/a/a.go:8: the reason "Other" is not declared`},
		"a function of the package is named": {`func f() { g("Other") }; func g(reason string) {}`, `pkg/a/a.go:8: the reason "Other"`},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, ReasonsDeclared(using(t, "pkg/a/a.go", tc.body)), wanted(tc.want)...)
		})
	}
}

// using loads a tree with declared reasons and a file with the given body on line 8.
func using(t *testing.T, file, body string) *Tree {
	t.Helper()
	text := "package a\n\nimport (\n\t\"" + own + "pkg/conditions\"\n\tv1 \"" + own + "api/v1beta2\"\n)\n\n" + body + "\n"
	return fixture(t, map[string]string{reasonsFile: conditionsGo, "pkg/conditions/set.go": set, file: text})
}

func TestReasonNames(t *testing.T) {
	expect(t, ReasonNames(fixture(t, map[string]string{reasonsFile: conditionsGo})))
	odd := "package v1\n\nconst (\n\tReasonReady = \"Ready\"\n\tReasonGone = \"Ready\"\n)\n"
	expect(t, ReasonNames(fixture(t, map[string]string{reasonsFile: odd})),
		reasonsFile+`:5: ReasonGone has the value "Ready"`, reasonsFile+`:5: the value "Ready" stands twice`)
	expect(t, ReasonNames(fixture(t, map[string]string{"api/v1beta2/other.go": conditionsGo})), reasonsFile+": declares no constant")
}

func TestReasonsDocumented(t *testing.T) {
	files := map[string]string{reasonsFile: conditionsGo, "docs/spec/kyma.md": "| `Ready` | all is well |\n\nGone and forgotten.\n"}
	expect(t, ReasonsDocumented(fixture(t, files)), reasonsFile+":5: no page in docs/spec has a line for `Gone`")
	files["docs/spec/manifest.md"] = "| `Gone` | look for it |\n"
	expect(t, ReasonsDocumented(fixture(t, files)))
	expect(t, ReasonsDocumented(fixture(t, map[string]string{reasonsFile: conditionsGo})), "docs/spec: has no page")
}

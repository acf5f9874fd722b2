package helm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func TestConfigForAnInstallation(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want InstallConfig
	}{
		"an empty layer":              {"", InstallConfig{}},
		"a layer without configs":     {"{}", InstallConfig{}},
		"configs that are null":       {"configs:\n", InstallConfig{}},
		"no entry for the name":       {"configs: [{name: other, overrides: a=1}]", InstallConfig{}},
		"an entry that says nothing":  {"configs: [{name: nginx}]", InstallConfig{}},
		"an entry that is all empty":  {"configs: [{name: nginx, overrides: '', clientConfig: ''}]", InstallConfig{}},
		"an entry with null":          {"configs: [{name: nginx, overrides: null, clientConfig: null}]", InstallConfig{}},
		"the entry among several":     {"configs: [{name: a, overrides: x=1}, {name: nginx, overrides: x=2}]", InstallConfig{Values: map[string]any{"x": int64(2)}}},
		"a client config as a string": {"configs: [{name: nginx, clientConfig: 'Namespace=kyma-system, CreateNamespace=true,ReleaseName=web'}]", InstallConfig{Namespace: "kyma-system", CreateNamespace: true, ReleaseName: "web"}},
		"a client config as a map":    {"configs: [{name: nginx, clientConfig: {Namespace: kyma-system, CreateNamespace: true, ReleaseName: web}}]", InstallConfig{Namespace: "kyma-system", CreateNamespace: true, ReleaseName: "web"}},
		"text for a switch":           {"configs: [{name: nginx, clientConfig: {CreateNamespace: 'false'}}]", InstallConfig{}},
		"JSON":                        {`{"configs": [{"name": "nginx", "overrides": "a=b"}]}`, InstallConfig{Values: map[string]any{"a": "b"}}},
		"set strings as Helm has them": {
			`configs: [{name: nginx, overrides: 'a.b=1,c={x,2},d[1].e=true,f=a\,b,g=null,h=012,i=,j=1.5,k="q",l[0]=1'}]`,
			InstallConfig{Values: map[string]any{
				"a": map[string]any{"b": int64(1)}, "c": []any{"x", int64(2)}, "d": []any{nil, map[string]any{"e": true}}, "f": "a,b", "g": nil,
				"h": "012", "i": "", "j": "1.5", "k": `"q"`, "l": []any{int64(1)},
			}},
		},
		"values have their types": {
			"configs: [{name: nginx, values: {a: 1, b: 1.5, c: '1', d: {e: [true, 2]}, f: null}}]",
			InstallConfig{Values: map[string]any{"a": 1.0, "b": 1.5, "c": "1", "d": map[string]any{"e": []any{true, 2.0}}, "f": nil}},
		},
		"overrides go over values": {
			"configs: [{name: nginx, values: {a: {b: 1, c: 2}}, overrides: 'a.b=3,d=x'}]",
			InstallConfig{Values: map[string]any{"a": map[string]any{"b": int64(3), "c": 2.0}, "d": "x"}},
		},
		"values that are empty": {"configs: [{name: nginx, values: {}}, {name: b, values: null}]", InstallConfig{}},
		"brackets in a value":   {"configs: [{name: nginx, overrides: 'a=x[99999]'}]", InstallConfig{Values: map[string]any{"a": "x[99999]"}}},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := ParseConfig([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := config.For("nginx")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfigRefuses(t *testing.T) {
	entry := func(text string) string { return "configs: [{name: nginx, " + text + "}]" }
	var many strings.Builder
	for i := range maxConfigs + 1 {
		fmt.Fprintf(&many, "- name: n%d\n", i)
	}
	for name, test := range map[string]struct{ text, want string }{
		"broken YAML":                      {"configs: [", "the contents of the config layer cannot be read: document 1 (line 1): is malformed"},
		"a list":                           {"- name: a", "is a list and not an object"},
		"an unknown key":                   {"config: []", `the config layer has an unknown key "config": known are configs`},
		"configs that are no list":         {"configs: {}", "configs of the config layer is an object and not a list"},
		"an entry that is no object":       {"configs: [a]", "configs[0] of the config layer is text"},
		"an unknown key of an entry":       {entry("override: a=1"), `configs[0] of the config layer has an unknown key "override": known are name, values, overrides, clientConfig`},
		"an entry without name":            {"configs: [{overrides: a=1}]", "configs[0] of the config layer has no name"},
		"a name that is a number":          {"configs: [{name: 1}]", "has no name"},
		"two entries for one name":         {"configs: [{name: nginx}, {name: nginx}]", "configs[1] of the config layer is the second for nginx"},
		"too many entries":                 {"configs:\n" + many.String(), "more than 1000 configs"},
		"values that are a text":           {entry("values: hunter2"), "values in configs[0] of the config layer is text: write a mapping"},
		"overrides that are a map":         {entry("overrides: {a: 1}"), "overrides in configs[0] of the config layer is an object: write it as for `helm --set`"},
		"overrides without value":          {entry("overrides: 'hunter2'"), "overrides for nginx in the config layer: cannot be read as a set string"},
		"overrides with a lonely part":     {entry("overrides: 'a=b,hunter2,c=d'"), "key ... has no value"},
		"overrides with a bad index":       {entry("overrides: 'a[hunter2]=b'"), "an index in brackets that is no number from 0 to 1000"},
		"overrides with a negative one":    {entry("overrides: 'a[-1]=b'"), "an index in brackets"},
		"overrides with a huge index":      {entry("overrides: 'a[65536]=b'"), "an index in brackets that is no number from 0 to 1000"},
		"overrides with many indices":      {entry("overrides: '" + strings.Repeat("a[999][999]=b,", 20) + "a=b'"), "too long lists"},
		"overrides nested too deep":        {entry("overrides: '" + strings.Repeat("a.", 40) + "b=c'"), "nested level"},
		"overrides that change their mind": {entry("overrides: 'a=b,a.c=d'"), "cannot be read as a set string"},
		"overrides that are too long":      {entry("overrides: 'a=" + strings.Repeat("x", maxOverrides) + "'"), "longer than 64 KiB"},
		"an unknown flag of Helm":          {entry("clientConfig: Wait=true"), `clientConfig for nginx in the config layer: "Wait" is not supported: only Namespace, CreateNamespace and ReleaseName`},
		"a flag in another case":           {entry("clientConfig: namespace=a"), `"namespace" is not supported`},
		"a flag without value":             {entry("clientConfig: Namespace"), `is not of the form Key=value,Key=value with each key once: look at "Namespace"`},
		"a flag that is set twice":         {entry("clientConfig: 'Namespace=a, Namespace=b'"), "with each key once"},
		"a flag that is a list":            {entry("clientConfig: {Namespace: [a]}"), "has a list as its Namespace"},
		"a client config that is a list":   {entry("clientConfig: [a]"), "is a list: write it as"},
		"a namespace that is none":         {entry("clientConfig: Namespace=A_b"), `Namespace "A_b" is no name of a namespace`},
		"a namespace that is empty":        {entry("clientConfig: Namespace="), `Namespace "" is no name of a namespace`},
		"a switch that is neither":         {entry("clientConfig: CreateNamespace=maybe"), "CreateNamespace is neither true nor false"},
		"a release name that is none":      {entry("clientConfig: ReleaseName=A"), `ReleaseName "A" is not accepted`},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := ParseConfig([]byte(test.text))
			if err == nil {
				_, err = config.For("nginx")
			}
			if content.ReasonOf(err) != content.ReasonValuesInvalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v with reason %q, want %q", err, content.ReasonOf(err), test.want)
			}
			if strings.Contains(fmt.Sprint(err), "hunter2") {
				t.Errorf("%v shows a value", err)
			}
		})
	}
}

func TestConfigOfAnotherInstallationMayBeWrong(t *testing.T) {
	config, err := ParseConfig([]byte("configs: [{name: a, overrides: wrong}, {name: b, overrides: x=1}]"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := config.For("a"); err == nil {
		t.Error("what is wrong was accepted")
	}
	if _, err := config.For("b"); err != nil {
		t.Error(err)
	}
	if got, err := (Config{}).For("a"); err != nil || got.Values != nil {
		t.Errorf("no config gives %v, %v", got, err)
	}
}

// FuzzParseConfig holds that whatever the bytes are, there is an answer with its reason, and that values are small.
func FuzzParseConfig(f *testing.F) {
	for _, seed := range []string{
		"", "configs: []", "configs: [{name: a, overrides: 'a.b[0]={x,y},c=\\,', clientConfig: 'Namespace=a,CreateNamespace=1'}]",
		"configs: [{name: a, overrides: 'a[1000][1000].b[0][0]=1', clientConfig: {ReleaseName: a}}]", "configs: [{name: a, overrides: 'a={{},b=}'}]",
		"configs: [{name: a, overrides: '[[]].=,'}]", "configs: [{name: a, overrides: 'a[0].b=1,a[0]=c,a[0].b=2'}]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		config, err := ParseConfig(text)
		var got InstallConfig
		if err == nil {
			got, err = config.For("a")
		}
		if err != nil {
			if content.ReasonOf(err) != content.ReasonValuesInvalid || strings.Contains(err.Error(), "\n") {
				t.Errorf("reason %q of %q", content.ReasonOf(err), err)
			}
			return
		}
		if items := count(got.Values); items > 4*maxIndices+len(text) {
			t.Errorf("%d bytes became %d values", len(text), items)
		}
	})
}

// count returns how many values there are in a value.
func count(value any) int {
	total := 1
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			total += count(field)
		}
	case []any:
		for _, item := range value {
			total += count(item)
		}
	}
	return total
}

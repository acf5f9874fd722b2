package valueflags

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestFlags(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"base.yaml": "colour: red\nsize: {of: 1, unit: m}\n", "over.yaml": "size: {of: 2}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for name, test := range map[string]struct {
		args []string
		// want are the values as JSON, refused is a part of the error, and names is what messages call the flags.
		want, refused, names string
	}{
		"none":                          {nil, `{}`, "", ""},
		"the last file counts first":    {[]string{"--values", "base.yaml", "-f", "over.yaml"}, `{"colour":"red","size":{"of":2,"unit":"m"}}`, "", "--values"},
		"--set counts before files":     {[]string{"--set", "size.of=3", "-f", "base.yaml"}, `{"colour":"red","size":{"of":3,"unit":"m"}}`, "", "--values, --set"},
		"the last --set counts first":   {[]string{"--set", "a=1,b=x", "--set", "a=true"}, `{"a":true,"b":"x"}`, "", "--set"},
		"--set-string counts before it": {[]string{"--set-string", "a=1", "--set", "a=2"}, `{"a":"1"}`, "", "--set, --set-string"},
		"lists, commas and dots": {
			[]string{"--set", `hosts[0]=a,hosts[1]=b,names={x,y},text=a\,b,dotted\.key=1`},
			`{"dotted.key":1,"hosts":["a","b"],"names":["x","y"],"text":"a,b"}`, "", "--set",
		},
		"what Helm reads as null stays": {[]string{"--set", "a=null"}, `{"a":null}`, "", "--set"},
		"a key without a value":         {[]string{"--set", "a"}, "", "--set a: key", "--set"},
		"a field of what is a text":     {[]string{"-f", "base.yaml", "--set", "colour.of=1"}, "", "--set colour.of=1: ", "--values, --set"},
		"a text without a key":          {[]string{"--set-string", "a"}, "", "--set-string a: key", "--set-string"},
		"a file that is not there":      {[]string{"-f", "gone.yaml"}, "", "gone.yaml", "--values"},
	} {
		t.Run(name, func(t *testing.T) {
			var f Flags
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			f.Add(flags, "for a chart")
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			if f.Names() != test.names || f.IsSet() != (test.names != "") {
				t.Errorf("given %q, want %q", f.Names(), test.names)
			}
			values, err := f.Read(t.Context())
			if (err == nil) != (test.refused == "") || err != nil && !strings.Contains(err.Error(), test.refused) {
				t.Fatalf("error %v, want %q", err, test.refused)
			}
			if text, _ := json.Marshal(values); err == nil && string(text) != test.want {
				t.Errorf("got %s, want %s", text, test.want)
			}
		})
	}
}

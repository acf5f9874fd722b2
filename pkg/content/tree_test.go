package content

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func tree(pairs ...string) *Tree {
	made := &Tree{}
	for i := 0; i < len(pairs); i += 2 {
		made.Files = append(made.Files, File{Path: pairs[i], Data: []byte(pairs[i+1])})
	}
	return made
}

func TestSubIsWhatIsBelowAFolder(t *testing.T) {
	whole := tree("a/one", "1", "b", "2", "a/c/two", "3", "ab/three", "4")
	for name, test := range map[string]struct {
		dir  string
		want *Tree
	}{
		"nothing is the whole tree":            {"", whole},
		"a dot is the whole tree":              {".", whole},
		"a dot and a slash are the whole tree": {"./", whole},
		"a folder":                             {"a", tree("one", "1", "c/two", "3")},
		"a folder with a slash":                {"a/", tree("one", "1", "c/two", "3")},
		"a folder in a folder":                 {"./a/c", tree("two", "3")},
		"a folder by a detour":                 {"b/../a/c", tree("two", "3")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := whole.Sub(test.dir)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("error %v, tree (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestSubRefuses(t *testing.T) {
	whole := tree("a/one", "1", "b", "2")
	for name, test := range map[string]struct{ dir, reason, want string }{
		"a folder that is not there":         {"c", ReasonContentInvalid, `path "c" holds no file`},
		"the beginning of a folder's name":   {"a/on", ReasonContentInvalid, "holds no file"},
		"a file":                             {"b", ReasonContentInvalid, "is a file of the content and no folder"},
		"a path that leads out":              {"..", ReasonSourceInvalid, "leads out"},
		"a path that leads out by a detour":  {"a/../../b", ReasonSourceInvalid, "leads out"},
		"an absolute path":                   {"/a", ReasonSourceInvalid, "leads out"},
		"the root of the machine":            {"/", ReasonSourceInvalid, "leads out"},
		"a path that is longer than is said": {strings.Repeat("x", 5000), ReasonContentInvalid, `xxx"... holds no file`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := whole.Sub(test.dir)
			if ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.want) || got != nil || len(err.Error()) > 400 {
				t.Errorf("tree %v, error %v with reason %q", got, err, ReasonOf(err))
			}
		})
	}
}

func TestFileOfATree(t *testing.T) {
	whole := tree("a/one", "1", "b", "")
	if data, ok := whole.File("a/one"); !ok || string(data) != "1" {
		t.Errorf("a/one: %q, %t", data, ok)
	}
	if _, ok := whole.File("b"); !ok {
		t.Error("a file without bytes is not found")
	}
	if _, ok := whole.File("a"); ok {
		t.Error("a folder is found")
	}
}

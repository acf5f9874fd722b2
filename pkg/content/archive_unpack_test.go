package content

import (
	"archive/tar"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unpackText writes data to a file and unpacks it.
func unpackText(t testing.TB, data string, limits Limits) (*Tree, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "layer")
	write(t, path, data)
	return Unpack(path, limits)
}

func TestUnpack(t *testing.T) {
	for name, test := range map[string]struct {
		entries []entry
		want    *Tree
	}{
		"files keep their order":          {[]entry{{name: "b", data: "1"}, {name: "a", data: "2"}}, tree("b", "1", "a", "2")},
		"folders are left out":            {[]entry{{name: "a/", kind: tar.TypeDir}, {name: "a/b", data: "1"}}, tree("a/b", "1")},
		"a folder may be there twice":     {[]entry{{name: "a/", kind: tar.TypeDir}, {name: "a/", kind: tar.TypeDir}, {name: "a/b"}}, tree("a/b", "")},
		"a folder may come after its own": {[]entry{{name: "a/b"}, {name: "a/", kind: tar.TypeDir}}, tree("a/b", "")},
		"paths are made clean": {
			[]entry{{name: "./", kind: tar.TypeDir}, {name: "./a/./b", data: "1"}, {name: "c//d", data: "2"}}, tree("a/b", "1", "c/d", "2"),
		},
		"files of macOS are left out":         {[]entry{{name: "._a", data: "mac"}, {name: "b/._a"}, {name: "a", data: "1"}}, tree("a", "1")},
		"a header of git is left out":         {[]entry{{name: "pax_global_header", kind: tar.TypeXGlobalHeader}, {name: "a"}}, tree("a", "")},
		"extended headers give a longer name": {[]entry{{name: strings.Repeat("a/", 60) + strings.Repeat("b", 120)}}, tree(strings.Repeat("a/", 60)+strings.Repeat("b", 120), "")},
		"names may have other letters":        {[]entry{{name: "ä/ж.yaml", data: "1"}}, tree("ä/ж.yaml", "1")},
		"a name like a whiteout is a name":    {[]entry{{name: ".wh.a", data: "1"}}, tree(".wh.a", "1")},
		"a file that is larger than reserved": {[]entry{{name: "a", data: noise(readWhole + 1)}}, tree("a", noise(readWhole+1))},
	} {
		t.Run(name, func(t *testing.T) {
			packed := archive(t, test.entries...)
			for form, data := range map[string]string{
				"plain": packed, "gzip": zip(t, packed), "padded": packed + strings.Repeat("\x00", 10_240),
				"gzip in parts": zip(t, packed[:512]) + zip(t, packed[512:]),
			} {
				got, err := unpackText(t, data, Limits{})
				if diff := cmp.Diff(test.want, got, sameBytes); diff != "" || err != nil {
					t.Errorf("%s: error %v, tree (-want +got):\n%s", form, err, diff)
				}
			}
		})
	}
}

func TestUnpackWhatCannotBeRead(t *testing.T) {
	if _, err := Unpack(filepath.Join(t.TempDir(), "missing"), Limits{}); ReasonOf(err) != ReasonInternal {
		t.Errorf("error %v with reason %q", err, ReasonOf(err))
	}
	if _, err := Unpack(t.TempDir(), Limits{}); ReasonOf(err) != ReasonInternal {
		t.Errorf("error %v with reason %q", err, ReasonOf(err))
	}
}

func TestUnpackTakesWhatIsExactlyTheLimit(t *testing.T) {
	data := archive(t, entry{name: "a", data: "1"}, entry{name: "b", data: "2"})
	limits := Limits{Entries: 2, Unpacked: int64(len(data)), Packed: int64(len(data))}
	if _, err := unpackText(t, data, limits); err != nil {
		t.Error(err)
	}
}

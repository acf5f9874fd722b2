package content

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The digest of a tree is kept in the status of objects: it must not change with the version of this program or of Go.
func TestArchiveIsTheSameForever(t *testing.T) {
	for name, test := range map[string]struct {
		tree *Tree
		want string
	}{
		"two files": {tree("a.yaml", "one", "b/c.yaml", "two"), "sha256:d1effbd746eed49e5d7b2abd990137e0ed8fd4053b97d8587bee4b528ec4457d"},
		"one file":  {tree("", "one"), "sha256:6d2438f1e13a326898b45ef03591404a0c47b14b00bdc883c2b27c23784f59d6"},
		"long and odd names": {
			tree(strings.Repeat("long/", 40)+"ä.yaml", "one"), "sha256:1a30428f0ee7c29d931dcf701168cada7351c5c9591f5ed8b0a8749585a4350e",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := digestOf(string(Archive(test.tree.Files))); got != test.want {
				t.Errorf("digest %s, want %s", got, test.want)
			}
		})
	}
}

func TestArchiveDoesNotDependOnOrder(t *testing.T) {
	files := tree("b", "2", "a", "1", "a/c", "3").Files
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if !bytes.Equal(Archive(files), Archive(sorted)) {
		t.Error("the order of the files changes the archive")
	}
	if files[0].Path != "b" {
		t.Error("the caller's files were sorted")
	}
}

func TestPutTreeGivesBackWhatItWasGiven(t *testing.T) {
	for name, want := range map[string]*Tree{
		"a few files":           tree("a.yaml", "one", "b/._c", "mac", "b/c.yaml", ""),
		"one file":              tree("", "one"),
		"text that looks odd":   tree("a/.wh.b", "{{ text }}", "a/\u00e4 b", "\x00\xff"),
		"names that are long":   tree(strings.Repeat("long/", 40)+"b", "two", strings.Repeat("x", 300), "one"),
		"more than is reserved": tree("big", strings.Repeat("x", readWhole+1)),
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			digest, err := store.PutTree(want)
			if err != nil {
				t.Fatal(err)
			}
			again, err := store.PutTree(&Tree{Files: slices.Clone(want.Files)})
			if err != nil || again != digest || len(files(t, store)) != 1 {
				t.Errorf("again %s, %v, files %v", again, err, files(t, store))
			}
			for _, each := range []*Store{store, {Dir: store.Dir}} {
				got, err := each.Tree(digest)
				if diff := cmp.Diff(want, got, sameBytes); diff != "" || err != nil {
					t.Errorf("error %v, tree (-want +got):\n%s", err, diff)
				}
			}
		})
	}
}

// sameBytes compares content as a whole: looking for differences in a mebibyte takes seconds.
var sameBytes = cmp.Comparer(bytes.Equal)

func TestPutTreeRefuses(t *testing.T) {
	limits := Limits{Entries: 3, Unpacked: 10_000, Packed: 9_000}
	for name, test := range map[string]struct {
		tree         *Tree
		reason, want string
	}{
		"no file":                      {&Tree{}, ReasonContentInvalid, "holds no file"},
		"a path that leads out":        {tree("../a", ""), ReasonArchiveRefused, "leads out"},
		"a path that is absolute":      {tree("/a", ""), ReasonArchiveRefused, "is absolute"},
		"a path that is not clean":     {tree("a//b", ""), ReasonArchiveRefused, "is not clean"},
		"a path that is the root":      {tree(".", ""), ReasonArchiveRefused, "is not clean"},
		"a path with a zero byte":      {tree("a\x00b", ""), ReasonArchiveRefused, "characters that no name may have"},
		"a path with a line break":     {tree("a\nb", ""), ReasonArchiveRefused, "characters that no name may have"},
		"a path as on Windows":         {tree(`a\b`, ""), ReasonArchiveRefused, "is not accepted"},
		"a path that is empty, of two": {tree("", "", "a", ""), ReasonArchiveRefused, "is not accepted"},
		"a path that is there twice":   {tree("a", "", "b", "", "a", ""), ReasonArchiveRefused, "is there twice"},
		"a file below a file":          {tree("a", "", "a/b", ""), ReasonArchiveRefused, `below "a", which is a file`},
		"too many files":               {tree("a", "", "b", "", "c", "", "d", ""), ReasonArchiveRefused, "more than 3 files"},
		"too many bytes":               {tree("a", noise(10_001)), ReasonContentTooLarge, "more than 10000 bytes"},
		"too many bytes as an archive": {tree("a", noise(9_900)), ReasonContentTooLarge, "bytes and 10000 are accepted"},
		"more than the store takes":    {tree("a", noise(7_600)), ReasonContentTooLarge, "bytes and 9000 are accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			store.Limits = limits
			digest, err := store.PutTree(test.tree)
			if ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.want) || digest != "" {
				t.Errorf("digest %q, error %v with reason %q", digest, err, ReasonOf(err))
			}
			if left := files(t, store); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestTreeThatIsNotStored(t *testing.T) {
	store := newStore(t)
	if _, err := store.Tree(zeros); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	put(t, store, "no archive")
	if _, err := store.Tree(digestOf("no archive")); ReasonOf(err) != ReasonContentInvalid {
		t.Errorf("error %v", err)
	}
}

func TestArchivePanicsOnWhatNoTreeHas(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a zero byte in a path was archived")
		}
	}()
	Archive(tree("a\x00b", "").Files)
}

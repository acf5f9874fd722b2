package content

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

func digestOf(data string) string {
	sum := sha256.Sum256([]byte(data))
	return digestPrefix + hex.EncodeToString(sum[:])
}

func newStore(t *testing.T) *Store {
	t.Helper()
	return &Store{Dir: filepath.Join(t.TempDir(), "store")}
}

func put(t *testing.T, store *Store, data string) string {
	t.Helper()
	path, err := store.Put(digestOf(data), int64(len(data)), strings.NewReader(data))
	if err != nil {
		t.Fatalf("Put: %v", err)
	}
	return path
}

// files returns all files below the store.
func files(t *testing.T, store *Store) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(store.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

func TestStoreGivesBackWhatItWasGiven(t *testing.T) {
	store := newStore(t)
	path := put(t, store, "hello")
	if want := filepath.Join(store.Dir, "sha256", strings.TrimPrefix(digestOf("hello"), digestPrefix)); path != want {
		t.Errorf("path %s, want %s", path, want)
	}
	// A second process knows nothing of the first but the files.
	for _, each := range []*Store{store, {Dir: store.Dir}} {
		file, err := each.Open(digestOf("hello"))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(file)
		if err := errors.Join(err, file.Close()); err != nil || string(data) != "hello" {
			t.Errorf("read %q, %v", data, err)
		}
		if got, err := each.Path(digestOf("hello")); err != nil || got != path {
			t.Errorf("path %s, %v", got, err)
		}
	}
	if again := put(t, store, "hello"); again != path || len(files(t, store)) != 1 {
		t.Errorf("storing it again gave %s and %v", again, files(t, store))
	}
}

func TestStoreDoesNotHaveWhatItWasNotGiven(t *testing.T) {
	store := newStore(t)
	if _, err := store.Path(digestOf("hello")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	for _, digest := range []string{"", "sha256:..", "../../etc/passwd", strings.ToUpper(digestOf("hello"))} {
		if _, err := store.Open(digest); ReasonOf(err) != ReasonSourceInvalid {
			t.Errorf("%q: error %v", digest, err)
		}
		if _, err := store.Put(digest, -1, strings.NewReader("")); ReasonOf(err) != ReasonSourceInvalid {
			t.Errorf("%q: error %v", digest, err)
		}
	}
}

func TestPutRefuses(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		digest   string
		declared int64
		source   io.Reader
		reason   string
	}{
		"other bytes than the digest names":       {digestOf("hello"), 5, strings.NewReader("hullo"), ReasonDigestMismatch},
		"fewer bytes than announced":              {digestOf("hello"), 6, strings.NewReader("hello"), ReasonDigestMismatch},
		"more bytes than announced":               {digestOf("hello"), 4, strings.NewReader("hello"), ReasonDigestMismatch},
		"an announcement over the cap":            {digestOf("hello"), 11, strings.NewReader("hello"), ReasonContentTooLarge},
		"bytes over the cap without announcement": {digestOf("hello"), -1, strings.NewReader(strings.Repeat("x", 11)), ReasonContentTooLarge},
		"bytes without end":                       {digestOf("hello"), -1, endless{}, ReasonContentTooLarge},
		"bytes without end after an announcement": {digestOf("hello"), 5, endless{}, ReasonDigestMismatch},
		"a source that breaks":                    {digestOf("hello"), 5, iotest.ErrReader(broken), ReasonInternal},
		"a source that breaks after the last byte": {
			digestOf("hello"), -1, io.MultiReader(strings.NewReader("hello"), iotest.ErrReader(broken)), ReasonInternal,
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			store.Limits.Packed = 10
			path, err := store.Put(test.digest, test.declared, test.source)
			if ReasonOf(err) != test.reason || path != "" {
				t.Errorf("path %q, error %v", path, err)
			}
			if left := files(t, store); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestPutTellsTroubleOfTheMachineFromTroubleOfTheContent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store := &Store{Dir: file}
	if _, err := store.Put(digestOf("hello"), 5, strings.NewReader("hello")); ReasonOf(err) != ReasonInternal {
		t.Errorf("error %v", err)
	}
	if _, err := store.Path(digestOf("hello")); ReasonOf(err) != ReasonInternal || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// Files of an earlier process are verified before they are used, and fetched again when they are not what their name says.
func TestStoreDropsDamagedFiles(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"cut short":     func(t *testing.T, path string) { overwrite(t, path, "hel") },
		"altered":       func(t *testing.T, path string) { overwrite(t, path, "hullo") },
		"empty":         func(t *testing.T, path string) { overwrite(t, path, "") },
		"made longer":   func(t *testing.T, path string) { overwrite(t, path, "hello, world") },
		"another file":  func(t *testing.T, path string) { replace(t, path, "hello, world") },
		"a stolen name": func(t *testing.T, path string) { replace(t, path, "hullo") },
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			path := put(t, store, "hello")
			damage(t, path)
			fresh := &Store{Dir: store.Dir}
			if _, err := fresh.Path(digestOf("hello")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("error %v", err)
			}
			if left := files(t, store); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if again := put(t, fresh, "hello"); again != path {
				t.Errorf("path %s, want %s", again, path)
			}
		})
	}
}

// The process that stored a file notices, too, that it was cut or replaced.
func TestStoreNoticesReplacedFiles(t *testing.T) {
	store := newStore(t)
	for _, damage := range []func(*testing.T, string, string){overwrite, replace} {
		damage(t, put(t, store, "hello"), "hel")
		if _, err := store.Open(digestOf("hello")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	}
}

func overwrite(t *testing.T, path, data string) {
	t.Helper()
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte(data), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, path, data string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, path, data)
}

func write(t testing.TB, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestStoreRefusesWhatIsNoFile(t *testing.T) {
	store := newStore(t)
	path := put(t, store, "hello")
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Path(digestOf("hello")); ReasonOf(err) != ReasonInternal || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestStoreAppliesALoweredCap(t *testing.T) {
	store := newStore(t)
	put(t, store, "hello")
	strict := &Store{Dir: store.Dir, Limits: Limits{Packed: 4}}
	if _, err := strict.Path(digestOf("hello")); ReasonOf(err) != ReasonContentTooLarge {
		t.Errorf("error %v", err)
	}
}

// Two processes share one folder: each finds only complete files of both, while both write, clean and evict.
func TestStore_TwoStoresOnOneDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	stores := []*Store{{Dir: dir, MaxBytes: 1 << 20}, {Dir: dir, MaxBytes: 1 << 20}}
	var group sync.WaitGroup
	for worker := range 8 {
		store := stores[worker%2]
		group.Go(func() {
			for round := range 15 {
				data := fmt.Sprintf("content %d %s", round%5, strings.Repeat("x", 64<<10))
				if _, err := store.Put(digestOf(data), -1, iotest.HalfReader(strings.NewReader(data))); err != nil {
					t.Errorf("Put: %v", err)
					return
				}
				file, err := store.Open(digestOf(data))
				if err != nil {
					t.Errorf("Open: %v", err)
					return
				}
				got, err := io.ReadAll(file)
				if err := errors.Join(err, file.Close()); err != nil || string(got) != data {
					t.Errorf("read %d bytes, %v", len(got), err)
				}
				if _, err := store.Collect(time.Now()); err != nil {
					t.Errorf("Collect: %v", err)
				}
			}
		})
	}
	group.Wait()
	if left := files(t, stores[0]); len(left) != 5 {
		t.Errorf("%d files, want 5: %v", len(left), left)
	}
}

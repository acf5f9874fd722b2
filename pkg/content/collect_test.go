package content

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCollectEvictsWhatWasNotUsedForLongest(t *testing.T) {
	store := newStore(t)
	store.MaxBytes = 10
	now := time.Now()
	for data, age := range map[string]time.Duration{"aaaa": 40 * time.Minute, "bbbb": 30 * time.Minute, "cccc": 20 * time.Minute, "dddd": 0} {
		path := put(t, &Store{Dir: store.Dir}, data)
		if err := os.Chtimes(path, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	// Using the oldest makes it the youngest.
	if _, err := store.Path(digestOf("aaaa")); err != nil {
		t.Fatal(err)
	}
	freed, err := store.Collect(now)
	if err != nil || freed != 8 {
		t.Errorf("freed %d, %v", freed, err)
	}
	for data, want := range map[string]bool{"aaaa": true, "bbbb": false, "cccc": false, "dddd": true} {
		if _, err := store.Path(digestOf(data)); (err == nil) != want {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func TestCollectKeepsWhatWasUsedLately(t *testing.T) {
	store := newStore(t)
	store.MaxBytes = 1
	put(t, store, "aaaa")
	put(t, store, "bbbb")
	if freed, err := store.Collect(time.Now()); err != nil || freed != 0 {
		t.Errorf("freed %d, %v", freed, err)
	}
	if freed, err := store.Collect(time.Now().Add(recentUse + time.Minute)); err != nil || freed != 8 {
		t.Errorf("later freed %d, %v", freed, err)
	}
}

func TestCollectKeepsEverythingWithoutLimit(t *testing.T) {
	store := newStore(t)
	if freed, err := store.Collect(time.Now()); err != nil || freed != 0 {
		t.Errorf("an empty store freed %d, %v", freed, err)
	}
	put(t, store, "aaaa")
	if freed, err := store.Collect(time.Now().Add(24 * time.Hour)); err != nil || freed != 0 {
		t.Errorf("freed %d, %v", freed, err)
	}
}

func TestPutMakesRoom(t *testing.T) {
	store := newStore(t)
	store.MaxBytes = 4
	old := put(t, store, "aaaa")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	put(t, store, "bbbb")
	if _, err := store.Path(digestOf("aaaa")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestCollectReportsWhatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"tmp", "sha256"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (&Store{Dir: dir, MaxBytes: 1}).Collect(time.Now()); err == nil {
			t.Errorf("%s is a file and nothing is said", name)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// crashDir tells the test binary to be the process that crashes.
const crashDir = "CONTENT_TEST_CRASH_DIR"

// A process is killed when it has received everything and not yet named it.
func TestCrashBetweenDownloadAndRename(t *testing.T) {
	if dir := os.Getenv(crashDir); dir != "" {
		crash(dir)
		return
	}
	store := newStore(t)
	command := exec.Command(os.Args[0], "-test.run=^TestCrashBetweenDownloadAndRename$")
	command.Env = append(os.Environ(), crashDir+"="+store.Dir)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Errorf("the other process said %q, %v", line, err)
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // it was killed: that is its error
	left := files(t, store)
	if len(left) != 1 || filepath.Base(filepath.Dir(left[0])) != "tmp" {
		t.Fatalf("left behind: %v", left)
	}
	if data, err := os.ReadFile(left[0]); err != nil || string(data) != "hello" {
		t.Errorf("left behind %q, %v", data, err)
	}
	if _, err := store.Path(digestOf("hello")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was left is used: %v", err)
	}
	put(t, store, "hello")
	if freed, err := store.Collect(time.Now()); err != nil || freed != 0 {
		t.Errorf("a young temporary file, which may be a user's, was removed: %d, %v", freed, err)
	}
	if freed, err := store.Collect(time.Now().Add(abandoned + time.Minute)); err != nil || freed != 5 {
		t.Errorf("freed %d, %v", freed, err)
	}
	if left := files(t, store); len(left) != 1 || filepath.Base(filepath.Dir(left[0])) != "sha256" {
		t.Errorf("left behind: %v", left)
	}
}

// crash stores content whose source never ends, and says so once all bytes are on disk.
func crash(dir string) {
	source := io.MultiReader(strings.NewReader("hello"), stuck{})
	_, _ = (&Store{Dir: dir}).Put(digestOf("hello"), -1, source)
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) {
	fmt.Println("all bytes are there")
	<-time.After(time.Minute)
	return 0, io.EOF
}

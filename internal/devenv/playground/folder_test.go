package playground

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClaimTakesTheFirstFolderThatNobodyUses(t *testing.T) {
	parent := t.TempDir()
	first, second := mustClaim(t, parent), mustClaim(t, parent)
	if first.number != 1 || second.number != 2 {
		t.Fatalf("claimed %d and %d, want 1 and 2", first.number, second.number)
	}
	want := fmt.Sprintf("Playground 1 is in use by process %d", os.Getpid())
	if got := strings.Join(second.busy, "; "); got != want {
		t.Errorf("says %q about the folder that is used, want %q", got, want)
	}
	if err := first.release(); err != nil {
		t.Fatal(err)
	}
	if again := mustClaim(t, parent); again.number != 1 || len(again.busy) != 0 {
		t.Errorf("claimed %d after 1 was released (%v), want 1", again.number, again.busy)
	}
}

func TestClaimKeepsNothingOfAnEarlierRun(t *testing.T) {
	parent := t.TempDir()
	f := mustClaim(t, parent)
	for _, name := range []string{envName, "manager/manager.log", "bin/kubectl"} {
		if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.path(name), []byte("stale"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.release(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, f.dir); got != "lock manager" {
		t.Errorf("after the end there is %q, want the logs and what they lie in", got)
	}
	mustClaim(t, parent)
	if got := names(t, f.dir); got != lockName {
		t.Errorf("a new run begins with %q, want the lock alone", got)
	}
}

func TestClaimSaysWhyItCannot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := claim(file); err == nil || !strings.Contains(err.Error(), "cannot make the folder for state and logs") {
		t.Errorf("claim below a file returned %v", err)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"/home/me/.playground/1/env": "/home/me/.playground/1/env",
		"/home/my files/env":         "'/home/my files/env'",
		"it's":                       `'it'\''s'`,
		"$HOME":                      "'$HOME'",
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		filepath.Join(here, ".playground", "1"): ".playground/1",
		filepath.Dir(here):                      filepath.Dir(here),
		"/elsewhere":                            "/elsewhere",
	} {
		if got := short(in); got != want {
			t.Errorf("short(%s) = %s, want %s", in, got, want)
		}
	}
}

func mustClaim(t *testing.T, parent string) *folder {
	t.Helper()
	f, err := claim(parent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.lock.Close() })
	return f
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	return strings.Join(found, " ")
}

package userfile_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
)

// pipe makes a named pipe.
func pipe(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// put writes a file.
func put(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestWriteKeepsDevices(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{os.DevNull, link} {
		if changed, err := userfile.Write(t.Context(), file, []byte("text")); err != nil || !changed {
			t.Errorf("%s: %v %v", file, changed, err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode()&os.ModeDevice == 0 {
			t.Errorf("%s is no device any more: %v %v", file, info, err)
		}
		if _, err := userfile.Replace(file, []byte("text")); err == nil {
			t.Errorf("%s was replaced", file)
		}
		if err := userfile.Editable(file); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s: %v", file, err)
		}
	}
	if is, err := os.Readlink(link); err != nil || is != os.DevNull {
		t.Errorf("the link is %q now: %v", is, err)
	}
}

func TestWriteIntoAPipe(t *testing.T) {
	name := pipe(t)
	read := make(chan []byte, 1)
	go func() {
		text, _ := os.ReadFile(name)
		read <- text
	}()
	text := bytes.Repeat([]byte("line\n"), 100_000)
	if changed, err := userfile.Write(t.Context(), name, text); err != nil || !changed {
		t.Fatalf("%v %v", changed, err)
	}
	if got := <-read; !bytes.Equal(got, text) {
		t.Errorf("%d bytes came through instead of %d", len(got), len(text))
	}
}

func TestUserfile_ThePipeThatOthersLeaveAlone(t *testing.T) {
	name := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := userfile.Write(ctx, name, []byte("text")); !errors.Is(err, context.Canceled) {
		t.Errorf("written without a reader: %v", err)
	}
	name = pipe(t) // the abandoned write is still blocked at the other pipe
	if _, err := userfile.Read(ctx, name); !errors.Is(err, context.Canceled) {
		t.Errorf("read without a writer: %v", err)
	}
	if there, same, err := userfile.Compare(name, nil); !there || same || err != nil {
		t.Errorf("%v %v %v", there, same, err)
	}
}

// An open file is appended to, as a shell's >> does, and not replaced: other processes have it open, too.
func TestWriteToAnOpenFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	opened, err := os.OpenFile(put(t, name, "before\n"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	at := "/dev/fd/" + strconv.Itoa(int(opened.Fd()))
	if _, err := userfile.Write(t.Context(), at, []byte("after\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := opened.WriteString("last\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "before\nafter\nlast\n" {
		t.Errorf("%q %v", got, err)
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	put(t, name, "zero")
	for _, step := range []struct {
		text    string
		changed bool
	}{{"one", true}, {"one", false}, {"two", true}, {"", true}} {
		if changed, err := userfile.Write(t.Context(), link, []byte(step.text)); err != nil || changed != step.changed {
			t.Errorf("%q: %v %v", step.text, changed, err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != step.text {
			t.Errorf("%q: got %q, %v", step.text, got, err)
		}
	}
	if is, err := os.Readlink(link); err != nil || is != "file" {
		t.Errorf("the link is %q now: %v", is, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("something is left behind: %v", left)
	}
	if _, err := userfile.Write(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), "it is a directory") {
		t.Errorf("a directory: %v", err)
	}
	if err := userfile.Editable(name); err != nil {
		t.Error(err)
	}
	if err := userfile.Editable(filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
}

func TestReadHasABound(t *testing.T) {
	userfile.SetMost(t, 1<<20)
	if _, err := userfile.Read(t.Context(), "/dev/zero"); err == nil || !strings.Contains(err.Error(), "more than 1 MiB") {
		t.Errorf("got %v", err)
	}
	name := put(t, filepath.Join(t.TempDir(), "file"), "text")
	if text, err := userfile.Read(t.Context(), name); err != nil || string(text) != "text" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := userfile.Read(t.Context(), name+"-not"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

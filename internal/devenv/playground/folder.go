//go:build unix

package playground

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	lockName = "lock"
	envName  = "env"
	// mostPlaygrounds at once is more than any machine can run.
	mostPlaygrounds = 64
)

// folder holds the files of one playground. The holder of its lock owns it.
type folder struct {
	number int
	dir    string
	lock   *os.File
	// busy describes the users of lower numbers.
	busy []string
}

// claim takes the first numbered folder that no running playground uses, and empties it.
func claim(parent string) (*folder, error) {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, err
	}
	f := &folder{}
	for f.number = 1; f.number <= mostPlaygrounds; f.number++ {
		f.dir = filepath.Join(parent, strconv.Itoa(f.number))
		if err := os.MkdirAll(f.dir, 0o700); err != nil {
			return nil, fmt.Errorf("cannot make the folder for state and logs: %w", err)
		}
		held, err := f.tryLock()
		if err != nil {
			return nil, fmt.Errorf("cannot lock %s: %w", f.dir, err)
		}
		if held {
			return f, f.empty()
		}
	}
	return nil, fmt.Errorf("%d playgrounds run out of %s already: end some of them", mostPlaygrounds, parent)
}

// tryLock takes the lock unless another process holds it. The lock ends with the process at the latest.
func (f *folder) tryLock() (bool, error) {
	file, err := os.OpenFile(f.path(lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		owner, _ := os.ReadFile(f.path(lockName)) // only for the message
		f.busy = append(f.busy, fmt.Sprintf("Playground %d is in use by process %s", f.number, strings.TrimSpace(string(owner))))
		return false, file.Close()
	}
	if err != nil {
		return false, errors.Join(err, file.Close())
	}
	f.lock = file
	if err := file.Truncate(0); err != nil {
		return false, err
	}
	_, err = fmt.Fprintln(file, os.Getpid())
	return true, err
}

// empty deletes the files of an earlier run, so that nothing stale is shown or used.
func (f *folder) empty() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == lockName {
			continue
		}
		if err := os.RemoveAll(f.path(entry.Name())); err != nil {
			return fmt.Errorf("cannot delete what an earlier run left: %w", err)
		}
	}
	return nil
}

// release releases the folder. Logs stay; everything else is of no use any more and is deleted.
func (f *folder) release() error {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return errors.Join(err, f.lock.Close())
	}
	var folders []string
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			folders = append(folders, name)
			return nil
		case path.Ext(name) == ".log" || name == lockName:
			return nil
		}
		return root.Remove(name)
	})
	for _, name := range slices.Backward(folders) {
		_ = root.Remove(name) // fails for folders with logs in them
	}
	return errors.Join(err, root.Close(), f.lock.Close())
}

// path returns a path in the folder.
func (f *folder) path(elements ...string) string {
	return filepath.Join(append([]string{f.dir}, elements...)...)
}

// part creates the folder of one part.
func (f *folder) part(name string) (string, error) {
	dir := f.path(name)
	return dir, os.MkdirAll(dir, 0o700)
}

// short returns a path as a user would type it: relative if it is below the working directory.
func short(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	relative, err := filepath.Rel(here, path)
	if err != nil || !filepath.IsLocal(relative) {
		return path
	}
	return relative
}

// quote quotes a path as one word for a shell, only where that is necessary.
func quote(path string) string {
	harmless := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:", r)
	}
	if strings.IndexFunc(path, func(r rune) bool { return !harmless(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

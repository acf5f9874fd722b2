package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/go-logr/logr"
)

// settle is the time between the first event of a change and the read: one edit causes several events.
const settle = 100 * time.Millisecond

// pollEvery is the interval at which a file that cannot be watched is read: a machine has few inotify instances, and all its programs share
// them.
const pollEvery = 10 * time.Second

// watched is a file that is read as a whole and watched. The last valid content is in force.
type watched[T any] struct {
	// what is the kind of file, for messages.
	what string
	path string
	log  logr.Logger
	// parse parses the text of the file; beside returns files of its folder.
	parse func(data []byte, beside func(name string) ([]byte, error)) (T, error)
	// changed is called after the content in force has changed; nil when there is no subscriber.
	changed func()
	// watch and every are for tests: watchFolder and pollEvery where they are not set.
	watch func(folder string) (*fsnotify.Watcher, error)
	every time.Duration

	mu sync.RWMutex
	// known is replaced as a whole and never modified.
	known T
	// err is the reason why the current file is not in force.
	err error
}

// begin reads the file for the first time. An error means that there is no valid content to start with.
func (f *watched[T]) begin() error {
	if f.path == "" {
		return nil
	}
	known, err := f.read()
	if err != nil {
		return fmt.Errorf("%s %s: %w", f.what, f.path, err)
	}
	f.known = known
	return nil
}

// current returns the content in force. It is shared and must not be modified.
func (f *watched[T]) current() T {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.known
}

// Err returns the problem with the current file while an earlier content is in force; nil when there is none.
func (f *watched[T]) Err() error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.err
}

// NeedLeaderElection returns false: every replica connects to registries.
func (f *watched[T]) NeedLeaderElection() bool { return false }

// Start follows the file until the context ends. Where it cannot be watched, or no longer, it is read at intervals.
func (f *watched[T]) Start(ctx context.Context) error {
	if f.path == "" {
		<-ctx.Done()
		return nil
	}
	watch := f.watch
	if watch == nil {
		watch = watchFolder
	}
	watcher, err := watch(filepath.Dir(f.path))
	if err != nil {
		f.log.Error(err, "File cannot be watched and is read at intervals instead",
			"what", f.what, "path", f.path, "interval", f.interval().String())
		f.poll(ctx)
		return nil
	}
	f.follow(ctx, watcher)
	f.poll(ctx)
	return watcher.Close()
}

func watchFolder(folder string) (*fsnotify.Watcher, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := watcher.Add(folder); err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	return watcher, nil
}

func (f *watched[T]) interval() time.Duration { return cmp.Or(f.every, pollEvery) }

// poll reads the file at intervals until the context ends. An error that occurs twice in a row is reported.
func (f *watched[T]) poll(ctx context.Context) {
	ticker := time.NewTicker(f.interval())
	defer ticker.Stop()
	for doubted := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			err := f.reload()
			if err != nil && doubted {
				f.report(err)
			}
			doubted = err != nil
		}
	}
}

// follow reads the file shortly after its folder has changed. Only the first event of a burst starts that delay, so that constant changes
// of the folder do not postpone the read for ever. An invalid file is read again: it may be an incomplete edit.
func (f *watched[T]) follow(ctx context.Context, watcher *fsnotify.Watcher) {
	// Changes between the first read and now were not watched.
	settled, doubted := time.After(settle), false
	look := func() {
		if settled == nil {
			settled = time.After(settle)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-watcher.Events:
			if !open {
				return
			}
			if event.Name == filepath.Dir(f.path) && event.Op&(fsnotify.Remove|fsnotify.Rename) != 0 {
				f.report(fmt.Errorf("its folder was deleted or moved, and is looked for every %s", f.interval()))
				return
			}
			look()
		case _, open := <-watcher.Errors:
			if !open {
				return
			}
			// Events were lost (an overflow): read the file.
			look()
		case <-settled:
			settled = nil
			err := f.reload()
			doubted = err != nil && !doubted
			if doubted {
				look()
			} else if err != nil {
				f.report(err)
			}
		}
	}
}

// reload puts the content of the file in force, or keeps the previous content.
func (f *watched[T]) reload() error {
	known, err := f.read()
	if err != nil {
		return err
	}
	f.mu.Lock()
	changed, repaired := !reflect.DeepEqual(known, f.known), f.err != nil
	f.known, f.err = known, nil
	f.mu.Unlock()
	if changed || repaired {
		f.log.Info("File is in force", "what", f.what, "path", f.path)
	}
	if changed && f.changed != nil {
		f.changed()
	}
	return nil
}

// report stores an error and logs it once, however often it occurs.
func (f *watched[T]) report(err error) {
	err = fmt.Errorf("%s %s: %w; the previous content stays in force", f.what, f.path, err)
	f.mu.Lock()
	again := f.err != nil && f.err.Error() == err.Error()
	f.err = err
	f.mu.Unlock()
	if !again {
		f.log.Error(err, "File cannot be used", "what", f.what)
	}
}

func (f *watched[T]) read() (known T, err error) {
	data, err := readFile(f.path)
	if err != nil {
		return known, err
	}
	known, err = f.parse(data, func(name string) ([]byte, error) { return readFile(filepath.Join(filepath.Dir(f.path), name)) })
	if err != nil {
		return known, errors.New(strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; "))
	}
	return known, nil
}

// readFile refuses anything but a regular file, since others could be endless, and files that are larger than any policy.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return data, nil
}

package packaging

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteFile writes a whole file or nothing: readers and other processes never see half of it. What is the same already is left alone.
func WriteFile(file string, text []byte) (err error) {
	mode := os.FileMode(0o644)
	if there, err := os.ReadFile(file); err == nil {
		if bytes.Equal(there, text) {
			return nil
		}
		if info, err := os.Stat(file); err == nil {
			mode = info.Mode().Perm()
		}
	}
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		file = resolved // the link stays a link
	}
	draft, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", file, err), os.Remove(draft.Name()))
		}
	}()
	_, err = draft.Write(text)
	if err := errors.Join(err, draft.Chmod(mode), draft.Close()); err != nil {
		return err
	}
	return os.Rename(draft.Name(), file)
}

package records

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
)

const (
	// page and pictures are where a checkout shows what was measured.
	page     = "docs/benchmarks.md"
	pictures = "docs/img"
	// prefix marks the pictures that belong to benches: one without a curve goes.
	prefix = "bench-"
)

// Keep puts results over those that a folder has of the same benches.
func Keep(folder string, newer report.Set) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	for bench, part := range split(newer) {
		file := filepath.Join(folder, bench+".json")
		older, err := read(file)
		if err != nil {
			return err
		}
		data, err := report.Encode(report.Merge(older, part))
		if err != nil {
			return err
		}
		if err := write(file, data); err != nil {
			return err
		}
	}
	return nil
}

// All returns everything that a folder has. Of a folder that is not there it is nothing.
func All(folder string) (report.Set, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return report.Set{}, err
	}
	var all report.Set
	for _, file := range files {
		part, err := read(file)
		if err != nil {
			return report.Set{}, err
		}
		all = report.Merge(all, part)
	}
	return all, nil
}

// Publish writes the page and the pictures of a checkout.
func Publish(root string, all report.Set) error {
	old, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return err
	}
	data, err := report.Page(old, all)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	if err := os.MkdirAll(filepath.Join(root, pictures), 0o750); err != nil {
		return err
	}
	if err := write(filepath.Join(root, page), data); err != nil {
		return err
	}
	return draw(filepath.Join(root, pictures), all.Curves)
}

// draw writes the pictures of curves, and removes those of curves that are no more.
func draw(folder string, curves []report.Curve) error {
	stale := map[string]bool{}
	old, err := filepath.Glob(filepath.Join(folder, prefix+"*.svg"))
	if err != nil {
		return err
	}
	for _, file := range old {
		stale[file] = true
	}
	for _, c := range curves {
		if !strings.HasPrefix(c.Name, prefix) || filepath.Base(c.Name) != c.Name {
			return fmt.Errorf("the curve %q needs a name that begins with %q and is a file's", c.Name, prefix)
		}
		file := filepath.Join(folder, c.Name+".svg")
		delete(stale, file)
		if err := write(file, report.SVG(&c)); err != nil {
			return err
		}
	}
	for file := range stale {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

func split(s report.Set) map[string]report.Set {
	parts := map[string]report.Set{}
	for _, r := range s.Results {
		part := parts[r.Bench]
		part.Results = append(part.Results, r)
		parts[r.Bench] = part
	}
	for _, c := range s.Curves {
		part := parts[c.Bench]
		part.Curves = append(part.Curves, c)
		parts[c.Bench] = part
	}
	return parts
}

func read(file string) (report.Set, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return report.Set{}, nil
	}
	if err != nil {
		return report.Set{}, err
	}
	s, err := report.Decode(data)
	if err != nil {
		return report.Set{}, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// write replaces a file in one step, so that a run that is killed leaves the old one.
func write(file string, data []byte) error {
	next := file + ".new"
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return err
	}
	return errors.Join(os.Chmod(next, 0o644), os.Rename(next, file))
}

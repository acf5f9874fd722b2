//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	groupRoot = "/sys/fs/cgroup"
	// controllers are the controllers of version 2 that the kubelet needs.
	controllers = "+cpuset +cpu +io +memory +hugetlb +pids"
)

// groups are the control groups of one node: a folder with the node's name in each hierarchy. Two kubelets in one folder would remove each
// other's pods.
type groups []string

// makeGroups creates them, for version 1 (a folder for each controller) and version 2 (one for all).
func makeGroups(name string) (groups, error) {
	if _, err := os.Stat(filepath.Join(groupRoot, "cgroup.controllers")); err == nil {
		// In the single hierarchy, controllers must be enabled for children explicitly; the kubelet reports those that are missing.
		for controller := range strings.FieldsSeq(controllers) {
			_ = os.WriteFile(filepath.Join(groupRoot, "cgroup.subtree_control"), []byte(controller), 0o600)
		}
		made := groups{filepath.Join(groupRoot, name)}
		return made, makeGroup(made[0])
	}
	hierarchies, err := filepath.Glob(filepath.Join(groupRoot, "*"))
	if err != nil {
		return nil, err
	}
	var made groups
	for _, hierarchy := range hierarchies {
		info, err := os.Lstat(hierarchy)
		if err != nil || !info.IsDir() {
			continue
		}
		folder := filepath.Join(hierarchy, name)
		if err := makeGroup(folder); err != nil {
			return nil, errors.Join(err, made.remove())
		}
		made = append(made, folder)
		if filepath.Base(hierarchy) == "cpuset" {
			if err := inherit(hierarchy, folder); err != nil {
				return nil, errors.Join(err, made.remove())
			}
		}
	}
	if len(made) == 0 {
		return nil, errors.New("this machine has no control groups in " + groupRoot)
	}
	return made, nil
}

// makeGroup creates one. A node that was killed before it could clean up left empty ones.
func makeGroup(folder string) error {
	err := os.Mkdir(folder, 0o755) //nolint:gosec // as the others are
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if busy(folder) {
		return fmt.Errorf("another node runs as %s: give each its own name", filepath.Base(folder))
	}
	return errors.Join(groups{folder}.tryRemove(), os.Mkdir(folder, 0o755)) //nolint:gosec // as the others are
}

// busy reports whether a process is in a group or below it.
func busy(folder string) bool {
	found := false
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "cgroup.procs" {
			processes, err := os.ReadFile(path) //nolint:gosec // the kernel's own files, without links
			found = found || err != nil || len(processes) > 0
		}
		return nil // a folder that vanishes has no process
	})
	return found
}

// inherit gives a group the processors and memory of its parent: in version 1 it begins without any.
func inherit(parent, child string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		data, err := os.ReadFile(filepath.Join(parent, file))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(child, file), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// remove removes the groups and those below. A killed process leaves its group only a moment later.
func (g groups) remove() error {
	deadline := time.NewTimer(endPatience)
	defer deadline.Stop()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := g.tryRemove()
		if err == nil {
			return nil
		}
		select {
		case <-deadline.C:
			return fmt.Errorf("control groups are left: %w", err)
		case <-ticker.C:
		}
	}
}

func (g groups) tryRemove() (problems error) {
	for _, group := range g {
		var found []string
		err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				found = append(found, path)
			}
			return nil // a folder that vanishes meanwhile is removed already
		})
		problems = errors.Join(problems, err)
		for _, folder := range slices.Backward(found) { // children first
			if err := os.Remove(folder); !errors.Is(err, fs.ErrNotExist) {
				problems = errors.Join(problems, err)
			}
		}
	}
	return problems
}

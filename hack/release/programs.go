package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kyma-project/lifecycle-manager/hack/release/archive"
)

const (
	clientProgram  = "kyma"
	managerProgram = "manager"
	licence        = "LICENSE"
)

// packages are those of the programs.
var packages = map[string]string{clientProgram: "./cmd/kyma", managerProgram: "./cmd"}

// compile builds kyma for every platform, and the manager for those of images.
func (r *release) compile(ctx context.Context) error {
	for _, target := range r.targets {
		names := []string{clientProgram}
		if target.os == "linux" {
			names = append(names, managerProgram)
		}
		for _, name := range names {
			r.sayf("%s for %s", name, target)
			built := program{name: name, target: target, path: filepath.Join(r.work, target.os+"_"+target.arch, target.file(name))}
			if err := os.MkdirAll(filepath.Dir(built.path), 0o750); err != nil {
				return err
			}
			if err := r.tools.Compile(ctx, target, packages[name], built.path); err != nil {
				return err
			}
			linked, err := r.tools.Linked(built.path)
			if err != nil {
				return err
			}
			built.linked = linked
			r.programs = append(r.programs, built)
		}
	}
	return nil
}

// of returns a program for all platforms that it was built for.
func (r *release) of(name string) []program {
	var found []program
	for _, p := range r.programs {
		if p.name == name {
			found = append(found, p)
		}
	}
	return found
}

// packed returns the name of the archive of kyma for a platform.
func (r *release) packed(target platform) string {
	ending := ".tar.gz"
	if target.os == "windows" {
		ending = ".zip"
	}
	return fmt.Sprintf("%s_%s_%s_%s%s", clientProgram, r.version, target.os, target.arch, ending)
}

// packPrograms packs kyma for each platform, with the licence.
func (r *release) packPrograms(context.Context) error {
	text, err := r.read(licence)
	if err != nil {
		return fmt.Errorf("read the licence: %w", err)
	}
	for _, built := range r.of(clientProgram) {
		content, err := os.ReadFile(built.path)
		if err != nil {
			return err
		}
		files := []archive.File{{Name: built.target.file(clientProgram), Data: content, Executable: true}, {Name: licence, Data: text}}
		pack := archive.TarGzip
		if built.target.os == "windows" {
			pack = archive.Zip
		}
		data, err := pack(files, r.source.time)
		if err != nil {
			return err
		}
		if err := r.add(r.packed(built.target), data, built); err != nil {
			return err
		}
	}
	return nil
}

// packDocuments packs the man pages and the completions of shells.
func (r *release) packDocuments(ctx context.Context) error {
	man, completions := filepath.Join(r.work, "man"), filepath.Join(r.work, "completions")
	if err := r.tools.Document(ctx, man, completions); err != nil {
		return err
	}
	for _, dir := range []string{man, completions} {
		files, err := archive.Folder(dir)
		if err != nil {
			return err
		}
		data, err := archive.TarGzip(files, r.source.time)
		if err != nil {
			return err
		}
		if err := r.add(fmt.Sprintf("%s_%s_%s.tar.gz", clientProgram, r.version, filepath.Base(dir)), data); err != nil {
			return err
		}
	}
	return nil
}

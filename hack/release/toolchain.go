package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
)

// buildFlags are the flags of every build: no path of this machine gets into a program, and of its checkout only what the linker flags say.
const buildFlags = "-trimpath -buildvcs=false -mod=readonly"

// versionPackage has the variables Version, Commit and Images.
const versionPackage = "github.com/kyma-project/lifecycle-manager/internal/cli"

// toolchain makes what needs the go command.
type toolchain interface {
	// Compile builds the program of a package for a platform.
	Compile(ctx context.Context, target platform, pkg, output string) error
	// Document writes man pages and completions of kyma into two folders.
	Document(ctx context.Context, man, completions string) error
	// Linked returns what is linked into a program.
	Linked(program string) (*debug.BuildInfo, error)
}

// goCommand is the toolchain of releases.
type goCommand struct {
	root, version, images string
	source                source
}

// Compile builds a static program. The levels of the processors are those that every one has.
func (g goCommand) Compile(ctx context.Context, target platform, pkg, output string) error {
	linker := fmt.Sprintf("-s -w -X %[1]s.Version=%[2]s -X %[1]s.Commit=%[3]s -X %[1]s.Images=%[4]s",
		versionPackage, g.version, g.source.commit, g.images)
	environment := []string{
		"GOOS=" + target.os, "GOARCH=" + target.arch, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0", "GOFIPS140=off", "GOFLAGS=" + buildFlags,
	}
	output, err := filepath.Abs(output)
	if err != nil {
		return err
	}
	return g.run(ctx, environment, "build", "-ldflags="+linker, "-o", output, pkg)
}

// Document runs hack/clidocs, whose pages have the date of the commit.
func (g goCommand) Document(ctx context.Context, man, completions string) error {
	man, err := filepath.Abs(man)
	if err != nil {
		return err
	}
	if completions, err = filepath.Abs(completions); err != nil {
		return err
	}
	environment := []string{"SOURCE_DATE_EPOCH=" + strconv.FormatInt(g.source.time.Unix(), 10), "TZ=UTC"}
	return g.run(ctx, environment, "run", "./hack/clidocs", "-man", man, "-completions", completions)
}

// Linked reads what the linker recorded.
func (g goCommand) Linked(program string) (*debug.BuildInfo, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read what is linked into %s: %w", program, err)
	}
	return info, nil
}

func (g goCommand) run(ctx context.Context, environment []string, args ...string) error {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Env = g.root, append(os.Environ(), environment...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("go %s of %s: %w", args[0], args[len(args)-1], err)
	}
	return nil
}

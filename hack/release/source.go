package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// source is the commit that is released. Its time is that of every file in the release.
type source struct {
	commit string
	time   time.Time
}

// readSource returns the commit of a checkout, and refuses one with changes that no commit has.
func readSource(ctx context.Context, root string) (source, error) {
	changes, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	if changes != "" {
		return source{}, fmt.Errorf("the checkout has changes that no commit has, and a release says of which commit it is: "+
			"commit or stash\n%s", changes)
	}
	text, err := git(ctx, root, "log", "-1", "--no-show-signature", "--format=%H %ct")
	if err != nil {
		return source{}, err
	}
	commit, stamp, _ := strings.Cut(text, " ")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return source{}, fmt.Errorf("git says %q of the commit, without a time: %w", text, err)
	}
	return source{commit, time.Unix(seconds, 0).UTC()}, nil
}

// git returns what a command of git writes, without blanks around it.
func git(ctx context.Context, root string, args ...string) (string, error) {
	var out, said bytes.Buffer
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir, command.Stdout, command.Stderr = root, &out, &said
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("git %s in %s: %w: %s", strings.Join(args, " "), root, err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

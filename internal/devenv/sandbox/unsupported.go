//go:build !unix

package sandbox

import (
	"context"
	"fmt"
	"runtime"
)

// errNoClusters says what to use where local clusters do not run.
var errNoClusters = fmt.Errorf("local clusters do not run on %s: "+
	"use kyma in the Windows Subsystem for Linux, or a cluster of your own with kyma deploy or kyma install", runtime.GOOS)

// Start refuses to create a sandbox.
func Start(context.Context, Options, Report) (*Sandbox, error) { return nil, errNoClusters }

// List returns no sandbox.
func List(string) ([]Sandbox, error) { return nil, nil }

// Delete finds no sandbox to delete.
func Delete(_ context.Context, _, name string) error { return fmt.Errorf("%w: %s", ErrNotFound, name) }

// Supervise refuses to run a supervisor.
func Supervise(context.Context, string) error { return errNoClusters }

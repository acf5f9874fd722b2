//go:build !linux

package rig

import (
	"context"
	"errors"
	"time"
)

var errLinux = errors.New("this fault needs Linux")

// LimitMemory needs Linux.
func (m *Manager) LimitMemory() error { return errLinux }

// LimitFiles needs Linux.
func (m *Manager) LimitFiles() error { return errLinux }

// Unlimit needs Linux.
func (m *Manager) Unlimit() error { return errLinux }

// Shifted needs Linux.
func (r *Rig) Shifted(context.Context, time.Duration) (*Manager, error) { return nil, errLinux }

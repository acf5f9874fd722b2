//go:build !linux

package simruntime

import (
	"errors"
	"syscall"
)

// onLoopback refuses: only Linux binds a socket to an interface.
func onLoopback(_, _ string, _ syscall.RawConn) error {
	return errors.New("only Linux binds a socket to the loopback interface")
}

package simruntime

import "syscall"

// onLoopback lets a socket hear the loopback interface only, whatever its address is.
func onLoopback(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = syscall.SetsockoptString(int(fd), syscall.SOL_SOCKET, syscall.SO_BINDTODEVICE, "lo")
	})
	if err != nil {
		return err
	}
	return failed
}

package kubeconfig

import (
	"fmt"
	"net/netip"
	"syscall"

	"github.com/kyma-project/lifecycle-manager/internal/egress"
)

// Refusal is the reason why a kubeconfig is not used, with a reason of the API. It holds no credential.
type Refusal struct {
	// Reason is KubeconfigInvalid or KubeconfigRefused.
	Reason string
	// Message names the invalid field, and what to write instead.
	Message string
}

// Refuse returns a function that prevents connections to addresses that cannot be runtimes: those of class from and of higher classes. It
// is the Control of a net.Dialer, which gets the address that a name was resolved to.
func Refuse(from egress.Class) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("dial %q: %w", address, err)
		}
		switch class := egress.ClassOf(target.Addr()); {
		case class < from:
			return nil
		case class == egress.Loopback:
			return fmt.Errorf("the address %s is not accepted for an API server: it is this machine itself", target.Addr())
		default:
			return fmt.Errorf("the address %s is not accepted for an API server: runtimes have no link-local, multicast or unspecified address, "+
				"nor that of a cloud's metadata service", target.Addr())
		}
	}
}

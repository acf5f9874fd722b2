package kubeconfig

import (
	"fmt"
	"net/netip"
	"syscall"
)

// Refusal is why a kubeconfig is not used, in the words of the API. It holds no credential.
type Refusal struct {
	// Reason is KubeconfigInvalid or KubeconfigRefused.
	Reason string
	// Message names the field that is wrong, and says what to write instead.
	Message string
}

// RefuseLinkLocal keeps a kubeconfig from reaching the metadata service of the machine that this program runs on; it is the Control of a
// net.Dialer and sees the address that a name was resolved to.
func RefuseLinkLocal(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %q: %w", address, err)
	}
	if ip := target.Addr().Unmap(); ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return fmt.Errorf("the address %s is not accepted for an API server", ip)
	}
	return nil
}

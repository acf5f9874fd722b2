package communitycatalog

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// Control checks every dialled address, for clients that fetch what a catalog links to. The rules are those for catalogs themselves. The
// result is a net.Dialer's ControlContext.
func Control(allowPrivate bool) func(ctx context.Context, network, address string, c syscall.RawConn) error {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("dial %q: %w", address, err)
		}
		return refuse(target.Addr(), allowPrivate)
	}
}

// Undialled returns why an address was not dialled, without the address, which must not be disclosed to callers; nil for every other error.
func Undialled(err error) error {
	if refused, ok := errors.AsType[*addressError](err); ok {
		return refused
	}
	return nil
}

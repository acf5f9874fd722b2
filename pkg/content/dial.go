package content

import (
	"context"
	"net"
	"syscall"
)

// DialControl looks at an address before it is dialled, after names were resolved; its error refuses the address. It is a
// net.Dialer's ControlContext.
type DialControl func(ctx context.Context, network, address string, c syscall.RawConn) error

type dialControlKey struct{}

// WithDialControl lets every connection to a web server or a registry that is opened under the context be looked at first: for a program
// that fetches on behalf of people who must not reach every address that the program can reach. A connection that is open already is used
// again, so a program should do so for all of them or for none.
func WithDialControl(ctx context.Context, control DialControl) context.Context {
	return context.WithValue(ctx, dialControlKey{}, control)
}

// dial opens connections for all sources that speak HTTP.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	control, _ := ctx.Value(dialControlKey{}).(DialControl)
	dialer := net.Dialer{Timeout: dialTimeout, ControlContext: control}
	return dialer.DialContext(ctx, network, address)
}

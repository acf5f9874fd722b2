package communitycatalog

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/egress"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// addressError is an address that is not dialled.
type addressError struct {
	address netip.Addr
	never   bool
}

// Error implements error. It omits the address: one that a name resolved to must not be disclosed.
func (e *addressError) Error() string {
	if e.never {
		return "it leads to an address that no catalog is read from (link-local, multicast, unspecified or a cloud's " +
			"metadata service)"
	}
	return "it leads to a private address, and catalogs are read from public ones only: it can be allowed by " +
		"--allow-private-catalogs"
}

// refuse returns why an address is not dialled; nil if it is. Public addresses are dialled, and those of private networks and this machine
// if that is allowed. All others never are: the metadata services of clouds are among them.
func refuse(address netip.Addr, allowPrivate bool) error {
	switch egress.ClassOf(address) {
	case egress.Public:
		return nil
	case egress.Private, egress.Loopback:
		if allowPrivate {
			return nil
		}
		return &addressError{address, false}
	case egress.Reserved, egress.Never:
	}
	return &addressError{address, true}
}

// guarded returns a transport that checks every address that it dials, after name resolution: for the first request, for redirects and for
// the token service of a registry alike.
//
// It never uses a proxy of the environment. A proxy resolves names and dials by itself, so only the proxy's own address would be checked,
// and it could reach addresses that must never be dialled, such as the metadata service of a cloud. pkg/content does the same wherever
// addresses are checked.
func guarded(allowPrivate bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, ControlContext: Control(allowPrivate)}
	return &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
	}
}

// explained gives an error of a request its reason, and removes addresses that may be secret.
func explained(where string, err error) error {
	if refused, ok := errors.AsType[*addressError](err); ok {
		return invalid("%s: %w", where, refused)
	}
	plain := withoutAddresses(err)
	if typed, ok := errors.AsType[*content.Error](err); ok {
		return &content.Error{Reason: typed.Reason, RetryAfter: typed.RetryAfter, Err: fmt.Errorf("%s: %w", where, plain)}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fail(content.ReasonRegistryUnreachable, "%s cannot be read now: %w", where, plain)
}

// withoutAddresses returns why the network failed. Go's texts name the addresses of this pod and of its resolver, which must not be
// disclosed.
func withoutAddresses(err error) error {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		if lookup.IsNotFound {
			return fmt.Errorf("there is no host of the name %s", lookup.Name)
		}
		return fmt.Errorf("the name %s cannot be resolved now", lookup.Name)
	}
	if call, ok := errors.AsType[*net.OpError](err); ok && call.Err != nil {
		return call.Err
	}
	return err
}

// explainedAnswer is explained for the error of a registry.
func explainedAnswer(where string, err error) error {
	if _, refused := errors.AsType[*addressError](err); refused {
		return explained(where, err)
	}
	return explained(where, content.RegistryError(err))
}

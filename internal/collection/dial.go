package collection

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// addressError is an address that is not dialled.
type addressError struct {
	address netip.Addr
	never   bool
}

// Error implements error. Where the address belongs to whoever asked, it is no secret; where it does not, it is what a name led to, which
// nobody is to learn by asking.
func (e *addressError) Error() string {
	if e.never {
		return "it leads to an address that no catalog is read from (link-local, multicast or unspecified)"
	}
	return "it leads to a private address, and catalogs are read from public ones only: whoever runs this can allow it by " +
		"--allow-private-catalogs"
}

// neverDialled are networks of this machine and its link: the metadata services of clouds are there. Nobody can allow them.
var neverDialled = networks("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::/128", "fe80::/10", "ff00::/8",
	"fd00:ec2::254/128", "fd20:ce::254/128", "100.100.100.200/32")

// privateNetworks are those of somebody's own: this machine, an organisation, a provider, documentation and tests.
var privateNetworks = networks("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"::1/128", "64:ff9b:1::/48", "fc00::/7", "fec0::/10", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16")

// carriers are IPv6 networks whose addresses hold an IPv4 address, behind that many bytes.
var carriers = []struct {
	network netip.Prefix
	behind  int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, {netip.MustParsePrefix("2002::/16"), 2}, {netip.MustParsePrefix("::/96"), 12},
}

func networks(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// refuse says why an address is not dialled; nil when it is.
//
//  1. An IPv4 address inside of an IPv6 one counts as what it is.
//  2. Link-local, multicast and unspecified addresses, and those of metadata services, are never dialled.
//  3. Those of private networks are, if that is allowed.
func refuse(address netip.Addr, allowPrivate bool) error {
	address = address.WithZone("").Unmap()
	within := func(networks []netip.Prefix) bool {
		return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(address) })
	}
	switch {
	case within(neverDialled):
		return &addressError{address, true}
	case within(privateNetworks):
		if allowPrivate {
			return nil
		}
		return &addressError{address, false}
	}
	for _, c := range carriers {
		if bytes := address.AsSlice(); address.Is6() && c.network.Contains(address) {
			inner, _ := netip.AddrFromSlice(bytes[c.behind : c.behind+4])
			return refuse(inner, allowPrivate)
		}
	}
	return nil
}

// guarded is a transport that looks at every address that it dials, after names were resolved: for the first request, for redirects and
// for the token service of a registry alike.
//
// No proxy of the environment is ever used: it resolves names and dials for us, so that the only address which is looked at would be its
// own, and what is never dialled, such as the metadata service of a cloud, would be a matter of what the proxy allows. pkg/content does the
// same wherever addresses are looked at.
func guarded(allowPrivate bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, ControlContext: Control(allowPrivate)}
	return &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
	}
}

// explained gives an error of a request its reason, and takes addresses out of it that may be secret.
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

// withoutAddresses says in plain words why the network failed. Go's texts name the address of this pod and of whoever resolves names for
// it, which is nobody's business.
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

// explainedAnswer is explained for what a registry says.
func explainedAnswer(where string, err error) error {
	if _, refused := errors.AsType[*addressError](err); refused {
		return explained(where, err)
	}
	return explained(where, content.RegistryError(err))
}

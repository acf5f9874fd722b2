package registryauth

import (
	"net"
	"net/netip"
	"strings"
)

// naming is how a command names a registry.
type naming int

const (
	// unnamed is the zero value: the command does not name it.
	unnamed naming = iota
	// byName means no scheme, or https.
	byName
	// withoutTLS means a name that begins with http://.
	withoutTLS
)

func namingOf(text string) naming {
	if scheme, _, _ := strings.Cut(text, "://"); strings.EqualFold(scheme, "http") {
		return withoutTLS
	}
	return byName
}

// loopback reports whether a host (host[:port]) is this machine.
func loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	found, err := netip.ParseAddr(name)
	return err == nil && found.Unmap().IsLoopback() || strings.EqualFold(name, "localhost")
}

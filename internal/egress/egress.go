// Package egress classifies the network of an address that this program is about to dial.
//
// It is the only place that lists these networks. Code that dials addresses from input refuses the classes that it must not reach: fetchers
// of catalogs refuse all but Public, clients of runtimes only the last one or two, since runtimes are in private networks.
//
// Non-goals: it dials nothing, resolves no name, and does not decide which code may dial which class.
package egress

import (
	"net/netip"
	"slices"
)

// Class is a kind of network. The classes are ordered: the higher a class, the fewer programs have a reason to dial it.
type Class int

// The classes.
const (
	// Public is every address that is in no other class.
	Public Class = iota
	// Private are the networks of an organisation or a provider, and those for documentation and tests.
	Private
	// Reserved is the end of IPv4, which some clouds use for machines nevertheless.
	Reserved
	// Loopback is this machine itself.
	Loopback
	// Never are addresses that no server for other machines has: link-local networks and metadata services of clouds, multicast, and invalid
	// addresses.
	Never
)

// listed are the networks of each class, beginning with the highest, since the first one that contains an address counts. Special-purpose
// networks are those of IANA's registries (RFC 6890), metadata services those that clouds document.
var listed = []struct {
	class    Class
	networks []netip.Prefix
}{
	{Never, parse("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32", "::/128", "fe80::/10", "ff00::/8",
		"192.0.0.0/24",       // protocol assignments; Oracle's metadata service is 192.0.0.192
		"168.63.129.16/32",   // Azure's wire server
		"100.100.100.200/32", // Alibaba's metadata service; the next one is its IPv6 address
		"fd00:100::100:200/128",
		"fd00:ec2::/32",          // Amazon's services for its machines, such as those for metadata and for the identity of pods
		"fd20:ce::254/128",       // Google's metadata service
		"fd00:c1::a9fe:a9fe/128", // Oracle's
		"fd00:42::42/128",        // Scaleway's
		"fd00:a9fe:a9fe::1/128",  // Akamai's
	)},
	{Loopback, parse("127.0.0.0/8", "::1/128")},
	{Reserved, parse("240.0.0.0/4")},
	{Private, parse("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "64:ff9b:1::/48", "fc00::/7", "fec0::/10", "100::/64", "2001::/23", "2001:db8::/32",
		"3fff::/20", "5f00::/16")},
}

func parse(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// ClassOf returns the class of an address. An IPv4 address embedded in an IPv6 address has its own class; where the network around it also
// has a class, the higher one counts.
func ClassOf(address netip.Addr) Class {
	address = address.WithZone("").Unmap()
	if !address.IsValid() {
		return Never
	}
	class := Public
	for _, l := range listed {
		if slices.ContainsFunc(l.networks, func(n netip.Prefix) bool { return n.Contains(address) }) {
			class = l.class
			break
		}
	}
	for _, inner := range embedded(address) {
		class = max(class, ClassOf(inner))
	}
	return class
}

// Package egress answers one question: what kind of network does an address belong to that this program is about to dial?
//
// It is the only place that lists them. Code that dials addresses from input refuses the classes that it must not reach: fetchers of
// catalogs all but Public, clients of runtimes only the last one or two, since runtimes live in private networks.
//
// What it refuses to do: it dials nothing, resolves no name, and does not say who may dial what.
package egress

import (
	"net/netip"
	"slices"
)

// Class is a kind of network. The classes are ordered: the higher one is, the fewer programs have a reason to dial it.
type Class int

// The classes.
const (
	// Public is everything that no other class names.
	Public Class = iota
	// Private are networks of an organisation or a provider, and those of documentation and tests.
	Private
	// Reserved is the end of IPv4, from which some clouds number machines nevertheless.
	Reserved
	// Loopback is this very machine.
	Loopback
	// Never are addresses without servers for other machines: link-local networks and metadata services of clouds, multicast, and what is no
	// address.
	Never
)

// listed are the networks of each class, beginning with the highest, since the first one that holds an address counts. The special ones are
// those of the registries of IANA (RFC 6890), metadata services those that clouds document.
var listed = []struct {
	class    Class
	networks []netip.Prefix
}{
	{Never, parse("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32", "::/128", "fe80::/10", "ff00::/8",
		"192.0.0.0/24",       // networks of protocols; Oracle's metadata service is 192.0.0.192
		"168.63.129.16/32",   // Azure's wire server
		"100.100.100.200/32", // Alibaba's metadata service, and in IPv6 the next one
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

// ClassOf returns the class of an address. An IPv4 address inside of an IPv6 one counts as what it is; where the network around it has a
// class of its own, the higher one counts.
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

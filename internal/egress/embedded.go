package egress

import "net/netip"

// carrier is an IPv6 network whose addresses hold IPv4 addresses.
type carrier struct {
	network netip.Prefix
	// places are the positions of the bytes of an IPv4 address.
	places [][4]int
	// flipped reports whether all bits of the address in the last place are inverted.
	flipped bool
	// guessed reports whether only one of the places is used, and it is not known which.
	guessed bool
}

var last = [4]int{12, 13, 14, 15}

// carriers are the networks that a translator or a tunnel, on this machine or on the way, maps to IPv4. Addresses that Go itself unmaps are
// not included.
var carriers = []carrier{
	{network: netip.MustParsePrefix("64:ff9b::/96"), places: [][4]int{last}}, // NAT64 (RFC 6052)
	// A local-use NAT64 (RFC 8215): its operator chooses among the lengths of RFC 6052, which skip byte 8.
	{network: netip.MustParsePrefix("64:ff9b:1::/48"), places: [][4]int{{6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}, last}, guessed: true},
	{network: netip.MustParsePrefix("2002::/16"), places: [][4]int{{2, 3, 4, 5}}},                      // 6to4 (RFC 3056)
	{network: netip.MustParsePrefix("2001::/32"), places: [][4]int{{4, 5, 6, 7}, last}, flipped: true}, // Teredo (RFC 4380): server, client
	{network: netip.MustParsePrefix("::ffff:0:0:0/96"), places: [][4]int{last}},                        // translated (RFC 2765)
	{network: netip.MustParsePrefix("::/96"), places: [][4]int{last}},                                  // compatible (RFC 4291)
}

// embedded returns the IPv4 addresses that an IPv6 address may lead to.
func embedded(address netip.Addr) []netip.Addr {
	if address.Is4() || address == netip.IPv6Unspecified() || address == netip.IPv6Loopback() {
		return nil
	}
	var found []netip.Addr
	bytes := address.As16()
	for _, c := range carriers {
		if !c.network.Contains(address) {
			continue
		}
		for _, place := range c.places {
			if inner, holds := c.at(bytes, place); holds {
				found = append(found, inner)
			}
		}
	}
	return found
}

// at returns the IPv4 address in a place, and whether it may be in use. An address that begins with 0 means that a guessed place is not
// used.
func (c *carrier) at(bytes [16]byte, place [4]int) (netip.Addr, bool) {
	var inner [4]byte
	for i, from := range place {
		inner[i] = bytes[from]
		if c.flipped && place == last {
			inner[i] ^= 0xff
		}
	}
	return netip.AddrFrom4(inner), !c.guessed || inner[0] != 0
}

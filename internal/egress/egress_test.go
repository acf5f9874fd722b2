package egress

import (
	"encoding/binary"
	"net/netip"
	"testing"
)

func TestClassOf(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		want    Class
	}{
		"a public address":                         {"140.82.121.3", Public},
		"a public address of IPv6":                 {"2606:50c0:8000::153", Public},
		"next to a private network":                {"172.32.0.1", Public},
		"next to Azure's wire server":              {"168.63.129.17", Public},
		"a private network":                        {"10.1.2.3", Private},
		"a provider's own network":                 {"100.64.0.1", Private},
		"next to Alibaba's metadata service":       {"100.100.100.201", Private},
		"a private network of IPv6":                {"fd12:3456::1", Private},
		"documentation":                            {"2001:db8::1", Private},
		"the end of IPv4":                          {"240.0.0.1", Reserved},
		"this machine":                             {"127.8.9.1", Loopback},
		"this machine by IPv6":                     {"::1", Loopback},
		"link-local":                               {"169.254.169.254", Never},
		"link-local by IPv6, with a zone":          {"fe80::1%eth0", Never},
		"no address":                               {"0.0.0.0", Never},
		"no address by IPv6":                       {"::", Never},
		"the network 0.0.0.0/8":                    {"0.1.2.3", Never},
		"multicast":                                {"224.0.0.1", Never},
		"multicast by IPv6":                        {"ff02::1", Never},
		"everybody":                                {"255.255.255.255", Never},
		"Azure's wire server":                      {"168.63.129.16", Never},
		"Oracle's metadata service":                {"192.0.0.192", Never},
		"a network of protocol assignments":        {"192.0.0.1", Never},
		"Alibaba's metadata service":               {"100.100.100.200", Never},
		"Amazon's by IPv6":                         {"fd00:ec2::254", Never},
		"Amazon's for the identity of pods":        {"fd00:ec2::23", Never},
		"Google's by IPv6":                         {"fd20:ce::254", Never},
		"Oracle's by IPv6":                         {"fd00:c1::a9fe:a9fe", Never},
		"Scaleway's by IPv6":                       {"fd00:42::42", Never},
		"Akamai's by IPv6":                         {"fd00:a9fe:a9fe::1", Never},
		"Alibaba's by IPv6":                        {"fd00:100::100:200", Never},
		"mapped":                                   {"::ffff:169.254.169.254", Never},
		"mapped and private":                       {"::ffff:10.0.0.1", Private},
		"compatible":                               {"::168.63.129.16", Never},
		"translated":                               {"::ffff:0:192.0.0.192", Never},
		"NAT64":                                    {"64:ff9b::169.254.169.254", Never},
		"NAT64 and this machine":                   {"64:ff9b::127.0.0.1", Loopback},
		"NAT64 and private":                        {"64:ff9b::10.0.0.1", Private},
		"NAT64 and public":                         {"64:ff9b::140.82.121.3", Public},
		"6to4":                                     {"2002:a83f:8110::1", Never},
		"6to4 and public":                          {"2002:8c52:7903::1", Public},
		"Teredo":                                   {"2001:0:4136:e378:8000:63bf:5601:5601", Never},
		"Teredo by a server that is link-local":    {"2001:0:a9fe:a9fe:8000:63bf:3fff:fdd2", Never},
		"Teredo and public":                        {"2001:0:4136:e378:8000:63bf:3fff:fdd2", Private},
		"a local-use NAT64, 96 bits":               {"64:ff9b:1::169.254.169.254", Never},
		"a local-use NAT64, 64 bits":               {"64:ff9b:1:0:a9:fea9:fe00:0", Never},
		"a local-use NAT64, 56 bits":               {"64:ff9b:1:a9:fe:a9fe::", Never},
		"a local-use NAT64, 48 bits":               {"64:ff9b:1:a9fe:a9:fe00::", Never},
		"the same, with bits where none should be": {"64:ff9b:1:a9fe:a9:fe00:1:2", Never},
		"a local-use NAT64 and private":            {"64:ff9b:1::10.0.0.1", Private},
		"a local-use NAT64 and public":             {"64:ff9b:1::140.82.121.3", Private},
	} {
		t.Run(name, func(t *testing.T) {
			if is := ClassOf(netip.MustParseAddr(c.address)); is != c.want {
				t.Errorf("%s is of class %d, want %d", c.address, is, c.want)
			}
		})
	}
	if is := ClassOf(netip.Addr{}); is != Never {
		t.Errorf("what is no address is of class %d", is)
	}
}

// FuzzEmbeddedAddressesAreJudgedAsWhatTheyAre checks that an IPv6 address that leads to an IPv4 address has the class of that address, or
// the class of the network around it where that is higher.
func FuzzEmbeddedAddressesAreJudgedAsWhatTheyAre(f *testing.F) {
	for _, address := range []string{
		"169.254.169.254", "168.63.129.16", "192.0.0.192", "127.0.0.1", "10.0.0.1", "140.82.121.3", "100.100.100.200", "240.0.0.1", "224.0.0.1",
	} {
		four := netip.MustParseAddr(address).As4()
		f.Add(binary.BigEndian.Uint32(four[:]), uint64(0))
		f.Add(binary.BigEndian.Uint32(four[:]), uint64(0x0102030405060708))
	}
	f.Fuzz(func(t *testing.T, four uint32, rest uint64) {
		inner := netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, four)))
		class := ClassOf(inner)
		for name, c := range map[string]struct {
			address netip.Addr
			floor   Class
		}{
			"mapped":     {spell("::ffff:0:0", four, last, 0, nil), Public},
			"translated": {spell("::ffff:0:0:0", four, last, 0, nil), Public},
			"NAT64":      {spell("64:ff9b::", four, last, 0, nil), Public},
			"6to4":       {spell("2002::", four, [4]int{2, 3, 4, 5}, rest, []int{6, 7, 8, 9, 10, 11, 12, 13}), Public},
			"Teredo":     {spell("2001:0:4136:e378::", ^four, last, rest, []int{8, 9, 10, 11}), Private},
		} {
			if is := ClassOf(c.address); is != max(class, c.floor) {
				t.Errorf("%s as %s, %s, is of class %d, want %d", inner, c.address, name, is, max(class, c.floor))
			}
		}
		if first := inner.As4()[0]; first == 0 {
			return // part of ::, or of another length of NAT64
		}
		if is := ClassOf(spell("::", four, last, 0, nil)); is != class {
			t.Errorf("%s, compatible, is of class %d, want %d", inner, is, class)
		}
		for _, place := range [][4]int{{6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}, last} {
			for _, around := range []uint64{0, rest} {
				address := spell("64:ff9b:1::", four, place, around, without(place, 6, 7, 9, 10, 11, 12, 13, 14, 15))
				if is := ClassOf(address); is < max(class, Private) {
					t.Errorf("%s as %s is of class %d, want %d at least", inner, address, is, max(class, Private))
				}
			}
		}
	})
}

// spell writes an IPv4 address into an IPv6 address at place, and bytes of rest to the positions in others.
func spell(network string, four uint32, place [4]int, rest uint64, others []int) netip.Addr {
	bytes := netip.MustParseAddr(network).As16()
	for i, value := range binary.BigEndian.AppendUint64(nil, rest) {
		if i < len(others) {
			bytes[others[i]] = value
		}
	}
	for i, value := range binary.BigEndian.AppendUint32(nil, four) {
		bytes[place[i]] = value
	}
	return netip.AddrFrom16(bytes)
}

func without(place [4]int, all ...int) []int {
	var left []int
	for _, one := range all {
		if one != place[0] && one != place[1] && one != place[2] && one != place[3] {
			left = append(left, one)
		}
	}
	return left
}

package communitycatalog

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func TestDial_WhatIsDialled(t *testing.T) {
	const public, private, never = "public", "private", "never"
	for name, c := range map[string]struct{ address, is string }{
		"a public address":                         {"140.82.121.3", public},
		"a public address of IPv6":                 {"2606:50c0:8000::153", public},
		"this machine":                             {"127.0.0.1", private},
		"another address of this machine":          {"127.8.9.1", private},
		"this machine by IPv6":                     {"::1", private},
		"a private network":                        {"10.1.2.3", private},
		"the private network of docker":            {"172.17.0.1", private},
		"next to the private network":              {"172.32.0.1", public},
		"the private network at home":              {"192.168.1.1", private},
		"a provider's own network":                 {"100.64.0.1", private},
		"a private network of IPv6":                {"fd12:3456::1", private},
		"site-local":                               {"fec0::1", private},
		"a network for documentation":              {"203.0.113.9", private},
		"a network for tests":                      {"198.18.0.1", private},
		"Teredo":                                   {"2001:0:4136:e378:8000:63bf:3fff:fdd2", private},
		"the metadata service":                     {"169.254.169.254", never},
		"the metadata service of another cloud":    {"100.100.100.200", never},
		"the metadata service by IPv6":             {"fd00:ec2::254", never},
		"link-local by IPv6":                       {"fe80::1", never},
		"link-local with a zone":                   {"fe80::1%eth0", never},
		"no address":                               {"0.0.0.0", never},
		"no address by IPv6":                       {"::", never},
		"multicast":                                {"224.0.0.1", never},
		"everybody":                                {"255.255.255.255", never},
		"this machine inside of IPv6":              {"::ffff:127.0.0.1", private},
		"the metadata service inside of IPv6":      {"::ffff:169.254.169.254", never},
		"this machine behind NAT64":                {"64:ff9b::7f00:1", private},
		"the metadata service behind NAT64":        {"64:ff9b::a9fe:a9fe", never},
		"a public address behind NAT64":            {"64:ff9b::8c52:7903", public},
		"this machine behind 6to4":                 {"2002:7f00:1::", private},
		"the metadata service behind 6to4":         {"2002:a9fe:a9fe::1", never},
		"this machine in an obsolete form of IPv6": {"::127.0.0.1", private},
		"Azure's wire server":                      {"168.63.129.16", never},
		"the metadata service of Oracle":           {"192.0.0.192", never},
		"a network for protocols":                  {"192.0.0.9", never},
		"behind a NAT64 of one's own":              {"64:ff9b:1::8c52:7903", private},
		"metadata behind a local NAT64":            {"64:ff9b:1::a9fe:a9fe", never},
		"the same with a longer IPv4 part":         {"64:ff9b:1:a9fe:a9:fe00::", never},
		"metadata behind Teredo":                   {"2001:0:4136:e378:8000:63bf:5601:5601", never},
		"metadata, translated":                     {"::ffff:0:a9fe:a9fe", never},
	} {
		t.Run(name, func(t *testing.T) {
			address := netip.MustParseAddr(c.address)
			if refused := refuse(address, false) != nil; refused != (c.is != public) {
				t.Errorf("%s is refused: %t", c.address, refused)
			}
			if refused := refuse(address, true) != nil; refused != (c.is == never) {
				t.Errorf("%s is refused although private addresses are allowed: %t", c.address, refused)
			}
		})
	}
}

func TestDial_NoAddressOfOursIsTold(t *testing.T) {
	called := func(err error) error { return &url.Error{Op: "Get", URL: "https://modules.example", Err: err} }
	refused := &net.OpError{
		Op: "read", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 4711}, Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 9)},
		Err: os.NewSyscallError("read", syscall.ECONNRESET),
	}
	missing := &net.DNSError{Err: "no such host", Name: "modules.example", Server: "10.0.0.10:53", IsNotFound: true}
	failing := &net.DNSError{Err: "server misbehaving", Name: "modules.example", Server: "10.0.0.10:53"}
	const unreachable = content.ReasonRegistryUnreachable
	for name, c := range map[string]struct {
		err          error
		reason, want string
	}{
		"a connection that broke":           {called(refused), unreachable, "here cannot be read now: read: connection reset by peer"},
		"a name that does not exist":        {called(missing), unreachable, "here cannot be read now: there is no host of the name modules.example"},
		"a resolver that fails":             {called(failing), unreachable, "here cannot be read now: the name modules.example cannot be resolved now"},
		"a resolver that cannot be reached": {called(&net.OpError{Op: "dial", Err: failing}), unreachable, "here cannot be read now: the name modules.example cannot be resolved now"},
		"an error with a reason keeps it":   {&content.Error{Reason: content.ReasonContentNotFound, Err: called(missing)}, content.ReasonContentNotFound, "here: there is no host of the name modules.example"},
		"other errors keep their text":      {errors.New("the answer is no index"), unreachable, "here cannot be read now: the answer is no index"},
	} {
		t.Run(name, func(t *testing.T) {
			typed, ok := errors.AsType[*content.Error](explained("here", c.err))
			if !ok || typed.Reason != c.reason || typed.Err.Error() != c.want {
				t.Errorf("it is told as %v", typed)
			}
		})
	}
}

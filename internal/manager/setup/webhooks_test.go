package setup

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestWebhookFlags(t *testing.T) {
	for name, test := range map[string]struct {
		args string
		want string // part of the message; none means accepted
	}{
		"upstream's flag alone":                    {"--enable-webhooks", ""},
		"switched off":                             {"--enable-webhooks=false", ""},
		"a Service":                                {"--enable-webhooks --webhook-service=a/b", ""},
		"an address":                               {"--enable-webhooks --webhook-url=https://127.0.0.1:9443", ""},
		"an address of IPv6":                       {"--enable-webhooks --webhook-url=https://[::1]:9443", ""},
		"both":                                     {"--webhook-service=a/b --webhook-url=https://h", "exclusive"},
		"a Service without namespace":              {"--webhook-service=b", "namespace/name"},
		"a Service with too many parts":            {"--webhook-service=a/b/c", "namespace/name"},
		"an address without TLS":                   {"--webhook-url=http://h", "https://"},
		"an address with a path":                   {"--webhook-url=https://h/convert", "nothing else"},
		"an address with a query":                  {"--webhook-url=https://h?a=b", "nothing else"},
		"an address with a password is not quoted": {"--webhook-url=https://u:secret@h", "nothing else"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseFlags(append(strings.Fields(test.args), "--oci-registry-host=r"), io.Discard)
			if (err != nil) != (test.want != "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	c := sound()
	c.Webhooks, c.WebhookLifetime = true, time.Millisecond
	if err := c.Validate(); err == nil {
		t.Error("a certificate that lives for a millisecond is accepted")
	}
}

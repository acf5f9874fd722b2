package otlp

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExporter_TrustsTheCAOfTheEnvironment(t *testing.T) {
	c := &collector{answer: ok}
	server := httptest.NewTLSServer(http.HandlerFunc(c.take))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	exporter, counted, _ := start(t, server.URL+"/prefix", map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": ca})
	exporter.record(t, "one")
	counted.until(t, "map[sent:1]")

	t.Run("which another one is not", func(t *testing.T) {
		exporter, counted, log := start(t, server.URL+"/prefix", map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": ""})
		exporter.record(t, "one")
		counted.until(t, "map[refused:1]")
		if lines := log.got(); !contains(lines, "no connection") {
			t.Errorf("logged %q", lines)
		}
	})
}

func TestTLSFrom(t *testing.T) {
	files := map[string]string{"text": "s3cret"}
	read := func(name string) ([]byte, error) {
		if text, found := files[name]; found {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}
	for name, test := range map[string]struct {
		env  map[string]string
		want string
	}{
		"nothing is set":           {nil, ""},
		"a CA that is not there":   {map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": "none"}, "read the CA"},
		"a CA that is none":        {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": "text"}, "has no certificate"},
		"a certificate alone":      {map[string]string{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "none"}, ""},
		"a key that is not there":  {clientPair("text", "none"), "read the client key"},
		"no certificate":           {clientPair("none", "text"), "read the client certificate"},
		"a certificate that is no": {clientPair("text", "text"), "the client certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tlsFrom(func(name string) string { return test.env[name] }, read)
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func clientPair(certificate, key string) map[string]string {
	return map[string]string{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": certificate, "OTEL_EXPORTER_OTLP_CLIENT_KEY": key}
}

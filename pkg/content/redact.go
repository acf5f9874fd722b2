package content

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
)

// maxFailure is how many bytes of an error response are read.
const maxFailure = 64 << 10

// redacting removes the request's credentials from a registry's error responses, so that errors do not repeat them.
type redacting struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (d redacting) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(req)
	if err != nil || resp.StatusCode < http.StatusBadRequest {
		return resp, err
	}
	if secrets := credentialsIn(req.Header.Get("Authorization")); len(secrets) > 0 {
		resp.Body = &blackened{from: resp.Body, secrets: secrets}
		resp.ContentLength = -1
	}
	return resp, nil
}

// CloseIdleConnections closes the idle connections of the underlying transport.
func (d redacting) CloseIdleConnections() {
	if c, ok := d.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// credentialsIn lists the secrets in a header, longer ones first.
func credentialsIn(header string) (secrets [][]byte) {
	scheme, value, ok := strings.Cut(header, " ")
	if !ok || value == "" {
		return nil
	}
	secrets = append(secrets, []byte(value))
	if !strings.EqualFold(scheme, "Basic") {
		return secrets
	}
	login, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return secrets
	}
	if _, password, ok := bytes.Cut(login, []byte(":")); ok && len(password) > 0 {
		secrets = append(secrets, login, password, []byte(base64.StdEncoding.EncodeToString(password)))
	}
	return secrets
}

// blackened is the body of an error response without credentials.
type blackened struct {
	from    io.ReadCloser
	secrets [][]byte
	text    *bytes.Reader
}

// Read implements io.Reader.
func (b *blackened) Read(p []byte) (int, error) {
	if b.text == nil {
		said, err := io.ReadAll(io.LimitReader(b.from, maxFailure))
		if err != nil {
			return 0, err
		}
		for _, secret := range b.secrets {
			said = bytes.ReplaceAll(said, secret, []byte("(credentials)"))
		}
		b.text = bytes.NewReader(said)
	}
	return b.text.Read(p)
}

// Close implements io.Closer.
func (b *blackened) Close() error { return b.from.Close() }

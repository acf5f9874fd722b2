package content

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/url"
	"strings"
	"time"
)

// HTTPSource is one file on a web server: a tar archive, plain or gzip, or one YAML file; its bytes determine which. It is pinned by its
// digest, without which tampered content could not be detected.
type HTTPSource struct {
	// Store keeps what was fetched; its Limits apply.
	Store *Store
	// URL uses https and has no credentials. Its query is sent and never shown.
	URL string
	// SHA256 is the sha256 of the file as served: 64 hex digits, with or without the prefix "sha256:".
	SHA256 string
	// Username and Password are sent to the host of URL only; empty means anonymous.
	Username, Password string
	// CA holds PEM certificates that are trusted in addition to the system's.
	CA []byte
	// AllowPlain accepts http, for tests and local use.
	AllowPlain bool
	// Timeout limits one request with its body; 0 means DefaultTimeout.
	Timeout time.Duration
}

// Reference returns the address without its query, and the digest.
func (h *HTTPSource) Reference() string {
	address, digest, err := h.parse()
	if err != nil {
		return "invalid URL"
	}
	return DisplayURL(address) + "@" + digest
}

// Resolve makes no request: the digest is part of the reference.
func (h *HTTPSource) Resolve(context.Context) (Resolved, error) {
	_, digest, err := h.parse()
	return Resolved{Digest: digest}, err
}

// Fetch returns the file's content, from the store if it is there.
func (h *HTTPSource) Fetch(ctx context.Context, resolved Resolved) (*Tree, error) {
	address, digest, err := h.parse()
	if err != nil {
		return nil, err
	}
	if resolved.Digest != digest {
		return nil, mismatch("content %s was requested, but %s names %s: resolve it again", resolved.Digest, DisplayURL(address), digest)
	}
	path, err := h.Store.Path(digest)
	if isFresh(ctx) || errors.Is(err, fs.ErrNotExist) {
		path, err = h.download(ctx, address, digest)
	}
	if err != nil {
		return nil, err
	}
	if err := takeRoomFor(ctx, h.Store.Limits, path); err != nil {
		return nil, err
	}
	return treeOf(path, h.Store.Limits)
}

func (h *HTTPSource) download(ctx context.Context, address *url.URL, digest string) (string, error) {
	client, err := newWeb(address, webOptions{h.Username, h.Password, h.CA, h.AllowPlain, h.Timeout})
	if err != nil {
		return "", err
	}
	return client.download(ctx, h.Store, digest, address)
}

func (h *HTTPSource) parse() (address *url.URL, digest string, err error) {
	address, err = webAddress(h.URL)
	if err != nil {
		return nil, "", err
	}
	if err := (&web{allowPlain: h.AllowPlain}).accept(address); err != nil {
		return nil, "", err
	}
	digest, ok := sha256Digest(h.SHA256)
	if !ok {
		return nil, "", sourceInvalid("%s: sha256 is required and must be the %d hex digits that `sha256sum` prints for the file",
			DisplayURL(address), digestHexLen)
	}
	return address, digest, nil
}

// sha256Digest parses a digest as users and chart indexes write it.
func sha256Digest(text string) (digest string, ok bool) {
	digits := strings.ToLower(strings.TrimPrefix(text, digestPrefix))
	if _, err := hex.DecodeString(digits); err != nil || len(digits) != digestHexLen {
		return "", false
	}
	return digestPrefix + digits, true
}

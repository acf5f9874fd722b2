package content

import (
	"context"
	"net/url"
	"time"
)

// LinkSource is one file on a web server whose digest is not known: Resolve downloads it and returns its digest. A caller that keeps the
// Resolved gets the same content from then on, or an error. If the digest is known, use HTTPSource.
type LinkSource struct {
	// Store keeps what was fetched; its Limits apply.
	Store *Store
	// URL uses https and has no credentials. Its query is sent and never shown.
	URL string
	// CA holds PEM certificates that are trusted in addition to the system's.
	CA []byte
	// AllowPlain accepts http, for tests and local use.
	AllowPlain bool
	// Timeout limits one request with its body; 0 means DefaultTimeout.
	Timeout time.Duration
}

// Reference returns the address without its query.
func (l *LinkSource) Reference() string {
	address, err := webAddress(l.URL)
	if err != nil {
		return "invalid URL"
	}
	return DisplayURL(address)
}

// Resolve downloads the file into the store.
func (l *LinkSource) Resolve(ctx context.Context) (Resolved, error) {
	client, address, err := l.open()
	if err != nil {
		return Resolved{}, err
	}
	digest, err := client.downloadFirst(ctx, l.Store, address)
	return Resolved{Digest: digest}, err
}

// Fetch returns the file's content, from the store if it is there.
func (l *LinkSource) Fetch(ctx context.Context, resolved Resolved) (*Tree, error) {
	path, err := l.Store.Path(resolved.Digest)
	if isFresh(ctx) || err != nil {
		client, address, opened := l.open()
		if opened != nil {
			return nil, opened
		}
		path, err = client.download(ctx, l.Store, resolved.Digest, address)
	}
	if err != nil {
		return nil, err
	}
	if err := takeRoomFor(ctx, l.Store.Limits, path); err != nil {
		return nil, err
	}
	return treeOf(path, l.Store.Limits)
}

func (l *LinkSource) open() (*web, *url.URL, error) {
	address, err := webAddress(l.URL)
	if err != nil {
		return nil, nil, err
	}
	client, err := newWeb(address, webOptions{ca: l.CA, allowPlain: l.AllowPlain, timeout: l.Timeout})
	return client, address, err
}

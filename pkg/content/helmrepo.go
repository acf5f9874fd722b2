package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"
)

// mediaTypeChart is the media type of a packed chart in OCI registries.
const mediaTypeChart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// HelmRepositorySource is a chart of a Helm repository: a web server with an index.yaml that lists charts. For charts in an OCI registry,
// use ChartSource.
//
//  1. The index determines the version: an exact version, or the newest that matches a range.
//  2. The digest is the one in the index. For an index without digests, Resolve downloads the chart and uses the digest of what was served:
//     a caller that keeps the Resolved has pinned it.
//  3. The chart is downloaded once; credentials are sent only to the repository's own scheme, host and port.
type HelmRepositorySource struct {
	// Store keeps what was fetched; its Limits apply.
	Store *Store
	// URL is the https address of the repository; its index.yaml is directly below.
	URL string
	// Chart is the chart's name in the index.
	Chart string
	// Version is exact or a range such as "^1.2"; empty means the newest that is not a pre-release. A range matches pre-releases only if it
	// names one, such as ">=1.2.0-0".
	Version string
	// Username and Password are for the repository; empty means anonymous.
	Username, Password string
	// CA holds PEM certificates that are trusted in addition to the system's.
	CA []byte
	// AllowPlain accepts http, for tests and local use.
	AllowPlain bool
	// Timeout limits one request with its body; 0 means DefaultTimeout.
	Timeout time.Duration
}

// Reference returns the repository, the chart and the requested version.
func (h *HelmRepositorySource) Reference() string {
	address, err := h.address()
	if err != nil {
		return "invalid Helm repository"
	}
	reference := DisplayURL(address) + " chart " + h.Chart
	if h.Version != "" {
		reference += " version " + h.Version
	}
	return reference
}

// Resolve reads the index and returns the matching version.
func (h *HelmRepositorySource) Resolve(ctx context.Context) (Resolved, error) {
	client, entries, err := h.index(ctx)
	if err != nil {
		return Resolved{}, err
	}
	entry, err := pickEntry(entries, h.Version)
	if err != nil {
		return Resolved{}, fmt.Errorf("%s: %w", h.Reference(), err)
	}
	resolved := Resolved{Version: entry.Version, MediaType: mediaTypeChart}
	if entry.Digest != "" {
		digest, ok := sha256Digest(entry.Digest)
		if !ok {
			return Resolved{}, h.invalid(entry, "has the digest %s, which is no sha256", Quote(entry.Digest))
		}
		resolved.Digest = digest
		return resolved, nil
	}
	address, err := h.chartAddress(client, entry)
	if err != nil {
		return Resolved{}, err
	}
	resolved.Digest, err = client.downloadFirst(ctx, h.Store, address)
	return resolved, err
}

// Fetch returns the files of the chart that Resolve returned, even if the index has changed since.
func (h *HelmRepositorySource) Fetch(ctx context.Context, resolved Resolved) (*Tree, error) {
	path, err := h.Store.Path(resolved.Digest)
	if isFresh(ctx) || errors.Is(err, fs.ErrNotExist) {
		path, err = h.download(ctx, resolved)
	}
	if err != nil {
		return nil, err
	}
	if err := takeRoomFor(ctx, h.Store.Limits, path); err != nil {
		return nil, err
	}
	return Unpack(path, h.Store.Limits)
}

func (h *HelmRepositorySource) download(ctx context.Context, resolved Resolved) (string, error) {
	client, entries, err := h.index(ctx)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if entry.Version != resolved.Version {
			continue
		}
		address, err := h.chartAddress(client, entry)
		if err != nil {
			return "", err
		}
		return client.download(ctx, h.Store, resolved.Digest, address)
	}
	return "", notFound("%s: the index does not have version %s any more: put it back or ask for another",
		h.Reference(), Quote(resolved.Version))
}

// index reads the versions of the chart.
func (h *HelmRepositorySource) index(ctx context.Context) (*web, []indexEntry, error) {
	address, err := h.address()
	if err != nil {
		return nil, nil, err
	}
	client, err := newWeb(address, webOptions{h.Username, h.Password, h.CA, h.AllowPlain, h.Timeout})
	if err != nil {
		return nil, nil, err
	}
	data, err := client.read(ctx, below(address, "index.yaml"), maxIndex)
	if err != nil {
		return nil, nil, err
	}
	entries, err := decodeIndex(data, h.Chart)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", DisplayURL(address), err)
	}
	return client, entries, nil
}

func (h *HelmRepositorySource) address() (*url.URL, error) {
	address, err := webAddress(h.URL)
	if err != nil {
		return nil, err
	}
	if err := (&web{allowPlain: h.AllowPlain}).accept(address); err != nil {
		return nil, err
	}
	if h.Chart == "" || strings.ContainsAny(h.Chart, "/\\ ") {
		return nil, sourceInvalid("%s: chart name %s is not valid: give the name that the repository's index lists",
			DisplayURL(address), Quote(h.Chart))
	}
	return address, nil
}

// chartAddress returns the address of the chart: an absolute one in the index, or a path below the repository.
func (h *HelmRepositorySource) chartAddress(client *web, entry indexEntry) (*url.URL, error) {
	if len(entry.URLs) == 0 {
		return nil, h.invalid(entry, "has no URL")
	}
	reference, err := url.Parse(entry.URLs[0])
	if err != nil || reference.User != nil || reference.Opaque != "" || len(entry.URLs[0]) > maxAddress {
		return nil, h.invalid(entry, "has a URL that is not accepted: it must be a plain address or path without credentials")
	}
	address := reference
	if !reference.IsAbs() {
		base := below(client.origin, "")
		address = base.ResolveReference(reference)
		if address.RawQuery == "" && sameOrigin(base, address) {
			address.RawQuery = base.RawQuery
		}
	}
	if err := client.accept(address); err != nil {
		return nil, h.invalid(entry, "cannot be downloaded: %w", err)
	}
	return address, nil
}

func (h *HelmRepositorySource) invalid(entry indexEntry, format string, args ...any) error {
	return invalid("%s: version %s in the index %w", h.Reference(), Quote(entry.Version), fmt.Errorf(format, args...))
}

// below returns the address of a file below address, which is a folder with or without a trailing slash.
func below(address *url.URL, name string) *url.URL {
	joined := *address
	joined.RawPath, joined.Fragment = "", ""
	joined.Path = strings.TrimSuffix(joined.Path, "/") + "/" + name
	return &joined
}

// read returns a whole response; more than most bytes are an error.
func (w *web) read(ctx context.Context, address *url.URL, most int64) ([]byte, error) {
	response, err := w.get(ctx, address)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err != nil {
		return nil, webError(address, fmt.Errorf("the answer broke off: %w", err))
	}
	if int64(len(data)) > most {
		return nil, tooLarge("%s has more than %d bytes", DisplayURL(address), most)
	}
	return data, nil
}

// downloadFirst stores what address serves and returns its digest, which was not known before.
func (w *web) downloadFirst(ctx context.Context, store *Store, address *url.URL) (digest string, err error) {
	response, err := w.get(ctx, address)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	temp, err := store.Temp("download")
	if err != nil {
		return "", err
	}
	defer func() { _ = discard(temp, nil) }()
	body := &watched{Reader: response.Body}
	digest, err = copyHashed(temp, body, store.Limits.OrDefault().Packed)
	switch {
	case body.err != nil:
		return "", webError(address, fmt.Errorf("the answer broke off: %w", body.err))
	case err != nil:
		return "", fmt.Errorf("fetch %s: %w", DisplayURL(address), err)
	}
	return digest, putFile(store, digest, temp)
}

// putFile stores an open file under its digest.
func putFile(store *Store, digest string, file *os.File) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("rewind content: %w", err)
	}
	_, err := store.Put(digest, -1, file)
	return err
}

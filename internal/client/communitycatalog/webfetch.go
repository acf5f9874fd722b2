package communitycatalog

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// maxRedirects is how many redirects are followed.
const maxRedirects = 5

// ofWeb returns the file of a web server.
func ofWeb(ctx context.Context, source Source, key crypto.PublicKey, limits Limits) (fetched, error) {
	transport := guarded(limits.AllowPrivate)
	defer transport.CloseIdleConnections()
	browser := &http.Client{Transport: content.HostTransport(transport, limits.Registries.Policy), CheckRedirect: redirect}
	data, err := get(ctx, browser, source.URL, limits.bytes())
	if err != nil {
		return fetched{}, err
	}
	got := fetched{data, digestOf(data)}
	if err := source.expect(got.digest); err != nil || key == nil {
		return got, err
	}
	signature, err := get(ctx, browser, source.URL+SignatureSuffix, maxSignature)
	switch {
	case content.ReasonOf(err) == content.ReasonContentNotFound:
		return got, signatureMissing("%s has no signature: there is nothing at %s%s", source.URL, source.URL, SignatureSuffix)
	case err != nil:
		return got, err
	case !verified(key, data, signature):
		return got, unsigned("%s%s is no signature of the catalog by that key: it was changed, or another key signed it",
			source.URL, SignatureSuffix)
	}
	return got, nil
}

// Links returns a function for [Options].Content that reads the target of each link once. It is for one call of Lint or Check.
func Links(limits Limits) func(ctx context.Context, link string) ([]byte, error) {
	type answer struct {
		data []byte
		err  error
	}
	known := map[string]answer{}
	return func(ctx context.Context, link string) ([]byte, error) {
		if said, asked := known[link]; asked {
			return said.data, said.err
		}
		ctx, cancel := context.WithTimeout(ctx, cmp.Or(limits.Time, time.Minute))
		defer cancel()
		transport := guarded(limits.AllowPrivate)
		defer transport.CloseIdleConnections()
		browser := &http.Client{Transport: content.HostTransport(transport, limits.Registries.Policy), CheckRedirect: redirect}
		data, err := get(ctx, browser, link, cmp.Or(limits.Bytes, render.DefaultLimit))
		known[link] = answer{data, err}
		return data, err
	}
}

// redirect follows a limited number of redirects, only with encryption. Addresses are checked when they are dialled.
func redirect(next *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return invalid("too many redirects: more than %d", maxRedirects)
	case next.URL.Scheme != string(HTTPS):
		return invalid("it leads to an address without encryption")
	}
	next.Header.Del("Referer")
	return nil
}

// get reads the content of an address.
func get(ctx context.Context, browser *http.Client, address string, most int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, invalid("%s cannot be requested", address)
	}
	request.Header.Set("User-Agent", "kyma-lifecycle-manager")
	request.Header.Set("Accept-Encoding", "identity")
	answer, err := browser.Do(request)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // the outer error repeats the address, into which a redirect may have put a secret
	}
	if err != nil {
		return nil, explained(address, err)
	}
	defer answer.Body.Close() // only read, so no data can be lost
	if answer.StatusCode != http.StatusOK {
		return nil, fail(reasonOf(answer.StatusCode), "%s: %s answers with %d %s", address, answer.Request.URL.Host, answer.StatusCode,
			http.StatusText(answer.StatusCode))
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	switch {
	case err != nil:
		return nil, explained(address, fmt.Errorf("the answer broke off: %w", err))
	case int64(len(data)) > most:
		return nil, fail(content.ReasonContentTooLarge, "%s has more than %d bytes", address, most)
	}
	return data, nil
}

func reasonOf(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return content.ReasonRegistryUnauthorized
	case http.StatusNotFound, http.StatusGone:
		return content.ReasonContentNotFound
	}
	return content.ReasonRegistryUnreachable
}

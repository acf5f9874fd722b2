package packaging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxFetched is far above the size of a manifest.
const maxFetched = 32 << 20

// fetchTime limits one request, including the body.
const fetchTime = 2 * time.Minute

// Fetcher reads the targets of a configuration's links. The zero value is ready for use.
type Fetcher struct {
	// Client sends the requests; nil means one that follows the environment's proxies.
	Client *http.Client
}

// Get reads the target of an https link.
func (f *Fetcher) Get(ctx context.Context, link string) ([]byte, error) {
	response, err := f.ask(ctx, http.MethodGet, link)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() // only read, so no data can be lost
	text, err := io.ReadAll(io.LimitReader(response.Body, maxFetched+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", link, err)
	}
	if len(text) > maxFetched {
		return nil, fmt.Errorf("%s has more than %d bytes", link, maxFetched)
	}
	return text, nil
}

// Check returns why a link is broken. From servers that do not support HEAD, it requests the whole content.
func (f *Fetcher) Check(ctx context.Context, link string) error {
	response, err := f.ask(ctx, http.MethodHead, link)
	if err != nil {
		if response, err = f.ask(ctx, http.MethodGet, link); err != nil {
			return err
		}
	}
	return response.Body.Close()
}

func (f *Fetcher) ask(ctx context.Context, method, link string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, link, http.NoBody)
	if err != nil {
		return nil, errors.New("the link cannot be read")
	}
	if request.URL.Scheme != "https" {
		return nil, fmt.Errorf("%s is no https link", link)
	}
	response, err := f.client().Do(request)
	if detail, ok := errors.AsType[*url.Error](err); ok {
		err = detail.Err // the outer error repeats the link
	}
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", link, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s answers %s", link, response.Status), response.Body.Close())
	}
	return response, nil
}

// client returns a client that follows redirects only to https.
func (f *Fetcher) client() *http.Client {
	made := http.Client{Timeout: fetchTime}
	if f.Client != nil {
		made = *f.Client
	}
	made.CheckRedirect = func(request *http.Request, via []*http.Request) error {
		if request.URL.Scheme != "https" {
			return errors.New("it leads to an address without https")
		}
		if len(via) > 5 {
			return errors.New("too many redirects")
		}
		return nil
	}
	return &made
}

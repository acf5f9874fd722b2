package clustercache

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
)

const (
	// maxAnswer is the maximum weight of a response that is read as a whole. An API server stores objects of 1.5 MiB or so.
	maxAnswer = 8 << 20
	// maxPage is the same for a page of a list.
	maxPage = 12 << 20
	// maxFailure is how much is read of an error response.
	maxFailure = 64 << 10
	// valueWeight is what a JSON value costs in memory besides its text, even one as small as "[]". Without it three bytes would become
	// sixty, and a response of a few megabytes would fill the memory.
	valueWeight = 32
	// giantFrom is the weight from which a response is a giant; only a few giants are read at a time per runtime.
	giantFrom = 256 << 10
	giants    = 2
	// giantGrace is how long a giant counts after it was read: until its objects are decoded.
	giantGrace = 100 * time.Millisecond
)

// responseBudget weighs JSON while it is read: its bytes, and its values.
type responseBudget struct {
	most int64
	// below is the depth below which items are weighed one by one, because they are read one by one; 0 weighs all together.
	below int

	weight            int64
	depth             int
	inString, escaped bool
}

// add weighs the next bytes. The weight of other content than JSON does not matter: it is never decoded.
func (s *responseBudget) add(data []byte) error {
	for _, b := range data {
		s.weight++
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped = b == '\\'
			s.inString = b != '"'
		case b == '"':
			s.inString = true
		case b == '{', b == '[':
			s.depth++
			s.weight += valueWeight
		case b == '}', b == ']':
			s.depth--
		case b == ',':
			s.weight += valueWeight
			if s.depth <= s.below && s.below > 0 {
				s.weight = 0
			}
		}
		if s.weight > s.most {
			return wire.ErrTooLarge
		}
	}
	return nil
}

// capped is a response body of limited length and weight. A plain io.LimitReader would end it silently.
type capped struct {
	io.ReadCloser
	left  int64
	scale responseBudget
	giant func() error // asked once, before an answer becomes a giant
	read  int64
	ended func()
}

// Read implements io.Reader.
func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, wire.ErrTooLarge
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.ReadCloser.Read(p)
	c.left -= int64(n)
	c.read += int64(n)
	if c.scale.most > 0 {
		if heavy := c.scale.add(p[:n]); heavy != nil {
			return 0, heavy
		}
	}
	if c.giant != nil && max(c.read, c.scale.weight) > giantFrom {
		ask := c.giant
		c.giant = nil
		if refused := ask(); refused != nil {
			return 0, refused
		}
	}
	return n, err
}

// Close implements io.Closer.
func (c *capped) Close() error {
	if c.ended != nil {
		c.ended()
	}
	return c.ReadCloser.Close()
}

// limitBody limits a response that is not a stream. Pages that are read item by item weigh as much as their heaviest item.
func (c *connection) limitBody(req *http.Request, resp *http.Response, kind mark) {
	body := &capped{ReadCloser: resp.Body, left: maxBody, scale: responseBudget{most: maxAnswer}}
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		resp.Body = &redactingBody{of: c, from: resp.Body}
		return
	case kind == markPage:
		body.scale = responseBudget{most: wire.MaxEvent, below: 2}
	case req.URL.Query().Has("limit"):
		body.scale.most = maxPage
	}
	leave := sync.OnceFunc(func() { time.AfterFunc(giantGrace, func() { <-c.giants }) })
	body.giant = func() error {
		select {
		case c.giants <- struct{}{}:
			body.ended = leave
			return nil
		case <-req.Context().Done():
			return context.Cause(req.Context())
		}
	}
	resp.Body = body
}

// redactingBody is the body of an error response, in which a server may repeat the credentials: it keeps them out of a status.
type redactingBody struct {
	of   *connection
	from io.ReadCloser
	text *bytes.Reader
}

// Read implements io.Reader.
func (d *redactingBody) Read(p []byte) (int, error) {
	if d.text == nil {
		data, err := io.ReadAll(io.LimitReader(d.from, maxFailure))
		if err != nil {
			return 0, err
		}
		d.text = bytes.NewReader(d.of.redact(data))
	}
	return d.text.Read(p)
}

// Close implements io.Closer.
func (d *redactingBody) Close() error { return d.from.Close() }

// shortestSecret is the minimum length of a secret that is redacted: hiding "t" would leave nothing of a message.
const shortestSecret = 6

// secretsOf returns the texts that must not appear in a message.
func secretsOf(cfg *rest.Config) (all [][]byte) {
	if cfg.Username != "" { // before the password, which is a part of it
		all = append(all, []byte(base64.StdEncoding.EncodeToString([]byte(cfg.Username+":"+cfg.Password))))
	}
	for _, secret := range []string{cfg.BearerToken, cfg.Password} {
		if len(secret) >= shortestSecret {
			all = append(all, []byte(secret), []byte(base64.StdEncoding.EncodeToString([]byte(secret))))
		}
	}
	return all
}

// redact redacts the credentials in a server's text.
func (c *connection) redact(text []byte) []byte {
	for _, secret := range c.secrets {
		text = bytes.ReplaceAll(text, secret, []byte("(credentials)"))
	}
	return text
}

// redactError redacts the credentials in an error that may contain a server's text.
func (c *connection) redactError(err error) error {
	text := []byte(err.Error())
	if clean := c.redact(text); !bytes.Equal(clean, text) {
		return errors.New(string(clean))
	}
	return err
}

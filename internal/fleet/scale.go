package fleet

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
)

const (
	// maxAnswer is what one answer may weigh that is read as a whole. An API server stores objects of 1.5 MiB or so.
	maxAnswer = 8 << 20
	// maxPage is the same for a page of a list.
	maxPage = 12 << 20
	// maxFailure is how much is read of an answer that says that a call failed.
	maxFailure = 64 << 10
	// valueWeight is what a value of JSON costs in memory beside its text, be it as small as "[]". Without it three bytes would become
	// sixty, and an answer of a few megabytes everything that there is.
	valueWeight = 32
	// giantFrom is the weight from which on an answer is a giant, of which a runtime can have us read only a few at a time.
	giantFrom = 256 << 10
	giants    = 2
	// afterglow is how long a giant counts after it was read: for as long as somebody makes objects of it.
	afterglow = 100 * time.Millisecond
)

// tooLarge is the error of an answer that is larger than what is read.
type tooLarge struct{}

// Error implements error.
func (tooLarge) Error() string { return "the API server's answer is larger than what is read" }

// TooLarge tells those who cannot name this type that less would be read.
func (tooLarge) TooLarge() bool { return true }

// errTooLarge stands for an answer above its limit.
var errTooLarge error = tooLarge{}

// scale weighs JSON while it is read: its bytes, and its values.
type scale struct {
	most int64
	// below is the depth below which things are weighed one by one, because they are read one by one; 0 weighs all together.
	below int

	weight            int64
	depth             int
	inString, escaped bool
}

// add weighs the next bytes. What is no JSON is weighed somehow: nobody makes anything of it.
func (s *scale) add(data []byte) error {
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
			return errTooLarge
		}
	}
	return nil
}

// capped is a response body of limited length and weight. A plain io.LimitReader would end it silently.
type capped struct {
	io.ReadCloser
	left  int64
	scale scale
	giant func() error // asked once, before an answer becomes a giant
	read  int64
	ended func()
}

// Read implements io.Reader.
func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLarge
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

// measured bounds an answer that is not a stream. Pages that are read item by item weigh as much as their heaviest item.
func (c *connection) measured(req *http.Request, resp *http.Response, kind mark) {
	body := &capped{ReadCloser: resp.Body, left: maxBody, scale: scale{most: maxAnswer}}
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		resp.Body = &discreet{of: c, from: resp.Body}
		return
	case kind == markPage:
		body.scale = scale{most: maxEvent, below: 2}
	case req.URL.Query().Has("limit"):
		body.scale.most = maxPage
	}
	leave := sync.OnceFunc(func() { time.AfterFunc(afterglow, func() { <-c.giants }) })
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

// discreet is the body of a failure, in which a server may have repeated what it was told: the credentials do not get into a status.
type discreet struct {
	of   *connection
	from io.ReadCloser
	text *bytes.Reader
}

// Read implements io.Reader.
func (d *discreet) Read(p []byte) (int, error) {
	if d.text == nil {
		data, err := io.ReadAll(io.LimitReader(d.from, maxFailure))
		if err != nil {
			return 0, err
		}
		d.text = bytes.NewReader(d.of.hide(data))
	}
	return d.text.Read(p)
}

// Close implements io.Closer.
func (d *discreet) Close() error { return d.from.Close() }

// shortestSecret is the length below which a text cannot be told from any other: hiding "t" would leave nothing of a message.
const shortestSecret = 6

// secretsOf lists the texts that nobody is to read in a message.
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

// hide blackens the credentials in what a server says.
func (c *connection) hide(text []byte) []byte {
	for _, secret := range c.secrets {
		text = bytes.ReplaceAll(text, secret, []byte("(credentials)"))
	}
	return text
}

// hidden does the same to an error that a server had a part in.
func (c *connection) hidden(err error) error {
	text := []byte(err.Error())
	if clean := c.hide(text); !bytes.Equal(clean, text) {
		return errors.New(string(clean))
	}
	return err
}

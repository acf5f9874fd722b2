package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// action handles a request of a logged-in user. Its result becomes JSON with status 200; a Reply sets another status. An error becomes a
// Problem.
type action func(ctx context.Context, u *User, r *http.Request) (any, error)

// Reply is an answer with a status other than 200.
type Reply struct {
	Status int
	Body   any
}

// accepted returns the answer to a request whose work has begun and is not done yet.
func accepted(body any) Reply { return Reply{http.StatusAccepted, body} }

// created returns the answer to a request that created something.
func created(body any) Reply { return Reply{http.StatusCreated, body} }

// mostBody is the maximum length of a request body.
const mostBody = 1 << 20

// longestAnswer is how long a handler may take.
const longestAnswer = 30 * time.Second

// handle registers the action for a pattern of http.ServeMux, such as "GET /api/v1/overview". Its requests come from logged-in users; the
// origin and content type of those that change something have been checked before. Every GET can be a live query of a stream.
func (s *Server) handle(pattern string, h action) {
	s.patterns = append(s.patterns, pattern)
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		u := userOf(r.Context())
		if u == nil {
			s.answerProblem(w, r, notLoggedIn())
			return
		}
		ctx, done := context.WithTimeout(r.Context(), longestAnswer)
		defer done()
		body, err := h(ctx, u, r)
		if err != nil {
			s.answerProblem(w, r, err)
			return
		}
		status := http.StatusOK
		if reply, is := body.(Reply); is {
			status, body = reply.Status, reply.Body
		}
		answer(w, status, body)
	})
}

func notLoggedIn() error {
	return fail(http.StatusUnauthorized, WhyUnauthorized, "not logged in, or the session has expired: log in")
}

// answer writes JSON. For a nil body, it writes no content.
func answer(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	text, err := json.Marshal(body)
	if err != nil {
		status = http.StatusInternalServerError
		text = []byte(`{"error":{"reason":"` + WhyInternal + `","message":"the response cannot be encoded: check the server's version"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may be gone
}

type errorBody struct {
	Error Problem `json:"error"`
}

// answerProblem writes an error. A login that the hub no longer accepts ends the session; one that only a runtime refuses is a problem of
// that runtime's access Secret.
func (s *Server) answerProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if u := userOf(r.Context()); p.Status == http.StatusUnauthorized && u != nil {
		if !u.ended.Load() && s.knows(r.Context(), u) {
			p = &Problem{
				Status: http.StatusBadGateway, Reason: v1beta2.ReasonRuntimeUnauthorized,
				Message: "the runtime does not accept the credentials of its access Secret: renew it",
			}
		} else {
			s.endSession(w, r)
		}
	}
	if p.Status >= http.StatusInternalServerError && r.Context().Err() == nil {
		s.log.Info("a request failed", "method", r.Method, "path", r.URL.Path, "status", p.Status, "reason", p.Reason, "message", p.Message)
	}
	answer(w, p.Status, errorBody{*p})
}

// decode reads the body of a request: one JSON document of at most 1 MiB, without unknown fields.
func decode[T any](r *http.Request) (T, error) {
	var into T
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return into, fail(http.StatusUnsupportedMediaType, WhyInvalid, "the body must be JSON: send Content-Type application/json")
	}
	reader := json.NewDecoder(http.MaxBytesReader(nil, r.Body, mostBody))
	reader.DisallowUnknownFields()
	err := reader.Decode(&into)
	if err == nil {
		if _, more := reader.Token(); more == nil {
			return into, fail(http.StatusBadRequest, WhyInvalid, "the body holds more than one JSON document: send one")
		} else if !errors.Is(more, io.EOF) {
			err = more
		}
	}
	var tooLong *http.MaxBytesError
	switch {
	case err == nil:
		return into, nil
	case errors.As(err, &tooLong):
		return into, fail(http.StatusRequestEntityTooLarge, WhyTooLarge, "the body is longer than %d bytes: send less at once", mostBody)
	case errors.Is(err, io.EOF):
		return into, fail(http.StatusBadRequest, WhyInvalid, "the body is empty: send a JSON document")
	}
	return into, fail(http.StatusBadRequest, WhyInvalid, "the body cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
}

package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// The ways to log in.
const (
	loginCode  = "code"
	loginToken = "token"
	loginOIDC  = "oidc"
)

// mostToken is the maximum length of a token.
const mostToken = 16 << 10

// sessionAnswer reports who is logged in, and the ways to log in.
type sessionAnswer struct {
	User     string   `json:"user"`
	Groups   []string `json:"groups"`
	Mode     Mode     `json:"mode"`
	Cluster  string   `json:"cluster"`
	Login    []string `json:"login"`
	LoggedIn bool     `json:"loggedIn"`
}

type credentials struct {
	Code  string `json:"code,omitempty"`
	Token string `json:"token,omitempty"`
}

// routeSession registers the routes that also work without a session.
func (s *Server) routeSession() {
	s.open("GET /api/v1/session", func(w http.ResponseWriter, r *http.Request) { answer(w, http.StatusOK, s.who(userOf(r.Context()))) })
	s.open("POST /api/v1/session", s.logIn)
	s.open("DELETE /api/v1/session", func(w http.ResponseWriter, r *http.Request) {
		s.endSession(w, r)
		answer(w, http.StatusNoContent, nil)
	})
}

// open registers a route that needs no session.
func (s *Server) open(pattern string, h http.HandlerFunc) {
	s.patterns = append(s.patterns, pattern)
	s.mux.HandleFunc(pattern, h)
}

func (s *Server) who(u *User) sessionAnswer {
	is := sessionAnswer{Mode: s.options.Mode, Cluster: s.options.Cluster, Login: []string{loginCode}, Groups: []string{}}
	if s.options.Mode == ModeCluster {
		is.Login = []string{loginToken}
		if s.provider != nil {
			is.Login = append(is.Login, loginOIDC)
		}
	}
	if u != nil {
		is.User, is.LoggedIn, is.Groups = u.Name, true, append(is.Groups, u.Groups...)
	}
	return is
}

// logIn begins a session. Failed logins are limited for all clients together: 256 bits cannot be guessed, but clients must not try, nor
// make the cluster judge invented tokens.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	given, err := decode[credentials](r)
	if err != nil {
		s.answerProblem(w, r, err)
		return
	}
	ctx, done := context.WithTimeout(r.Context(), longestAnswer)
	defer done()
	u, expires, err := s.admit(ctx, given)
	if err != nil {
		s.answerProblem(w, r, err)
		return
	}
	s.begin(w, r, u, expires)
	answer(w, http.StatusOK, s.who(u))
}

// begin starts a session in place of the previous one.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, u *User, expires time.Time) {
	if cookie, err := r.Cookie(s.cookieName()); err == nil {
		s.sessions.drop(cookie.Value)
	}
	s.setCookie(w, s.sessions.start(u, expires), sessionLife)
}

// admit returns the user who may log in with the given credentials, and when the login expires.
func (s *Server) admit(ctx context.Context, given credentials) (*User, time.Time, error) {
	var never time.Time
	if s.options.Mode == ModeLocal {
		if given.Code != "" && same(given.Code, s.code) {
			return s.self, never, nil
		}
		if !s.attempts.fail() {
			return nil, never, tooManyFailed()
		}
		return nil, never, refused("the code is not the one that kyma dashboard printed: open the link that it printed last")
	}
	token := strings.TrimSpace(given.Token)
	if token == "" || len(token) > mostToken || strings.ContainsAny(token, " \t\r\n") {
		return nil, never, refused("this is not a token: paste one, such as the output of kubectl create token NAME")
	}
	u, err := s.judge(ctx, token)
	return u, expiryOf(token), err
}

// judge queries the cluster for the user of a token. It sends the cluster few tokens that turn out to be wrong:
//
//  1. a token that a session began with, or that the cluster has signed, is always sent: a user with a valid token can log in, whatever
//     other clients try. Once the cluster has refused it, it is like any other
//  2. all others are sent as long as few logins have failed
func (s *Server) judge(ctx context.Context, token string) (*User, error) {
	end, allowed := s.attempts.begin()
	if !allowed {
		if s.signers.refuses(token) || !s.sessions.beganWith(token) && !s.signers.signed(ctx, token) {
			return nil, tooManyFailed()
		}
		end = func(bool) {}
	}
	u, err := s.person(ctx, token)
	wrong := apierrors.IsUnauthorized(err)
	end(wrong)
	if wrong {
		s.signers.refuse(token)
		return nil, refused("the cluster does not accept this token: it may have expired, or be of another cluster")
	}
	return u, err
}

func refused(message string) error {
	return fail(http.StatusUnauthorized, WhyUnauthorized, "%s", message)
}

func tooManyFailed() error {
	return fail(http.StatusTooManyRequests, WhyTooMany, "too many logins have failed: wait a minute")
}

// same compares two secrets in constant time.
func same(a, b string) bool {
	one, two := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(one[:], two[:]) == 1
}

// person returns the user that a token belongs to, as the cluster reports it.
func (s *Server) person(ctx context.Context, token string) (*User, error) {
	return s.identify(ctx, asSomebody(s.self.Config, token))
}

// identify queries the cluster for the user of a connection.
func (s *Server) identify(ctx context.Context, config *rest.Config) (*User, error) {
	c, err := connect(config, s.mapper)
	if err != nil {
		return nil, err
	}
	review := &authenticationv1.SelfSubjectReview{}
	if err := c.Create(ctx, review); err != nil {
		return nil, err
	}
	info := review.Status.UserInfo
	if info.Username == "" || info.Username == "system:anonymous" {
		return nil, apierrors.NewUnauthorized("no user")
	}
	return newUser(info.Username, info.Groups, config, c), nil
}

// knows reports whether the hub still accepts a user's login. Only a definite refusal counts.
func (s *Server) knows(ctx context.Context, u *User) bool {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), longestAnswer)
	defer done()
	_, err := s.identify(ctx, u.Config)
	return !apierrors.IsUnauthorized(err)
}

// expiryOf returns the expiry that a token claims, zero if it claims none. No other claim is used: the cluster verifies the token.
func expiryOf(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires float64 `json:"exp"`
	}
	if json.Unmarshal(text, &claims) != nil || claims.Expires <= 0 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Expires), 0)
}

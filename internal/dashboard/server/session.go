package server

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	sessionLife  = 12 * time.Hour
	sessionIdle  = time.Hour
	mostSessions = 1000
	// mostOfOne bounds the sessions of one user, so that no user displaces those of others.
	mostOfOne = 20
	// mostTabs bounds the streams of one session.
	mostTabs = 10
)

// session is one login of one browser.
type session struct {
	key  [sha256.Size]byte
	user *User
	// began is the hash of the token that the session began with; nil if there was none, or if it is renewed.
	began   *[sha256.Size]byte
	created time.Time
	// until is when the session ends in any case.
	until time.Time
	used  time.Time
	// tabs counts the open streams.
	tabs atomic.Int64
	// ended is done when the session ends.
	ended context.Context //nolint:containedctx // a session is a life, not a call
	end   context.CancelFunc
}

// sessions holds all logins. The key is the hash of the cookie's value, so that the duration of a look-up reveals nothing.
type sessions struct {
	mutex sync.Mutex
	all   map[[sha256.Size]byte]*session
	now   func() time.Time
	// gone is called for each user whose session has ended.
	gone func(*User)
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{all: map[[sha256.Size]byte]*session{}, now: now, gone: func(*User) {}}
}

// start begins a session and returns the value of its cookie. If there are too many, of this user or in total, the least recently used
// one ends. If the login expires, the session ends then.
func (s *sessions) start(u *User, expires time.Time) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := s.now()
	s.sweep(now)
	if s.count(u.Name) >= mostOfOne {
		s.endOldest(func(one *session) bool { return one.user.Name == u.Name })
	}
	if len(s.all) >= mostSessions {
		s.endOldest(func(*session) bool { return true })
	}
	made := &session{user: u, created: now, used: now, until: now.Add(sessionLife)}
	if !expires.IsZero() && expires.Before(made.until) {
		made.until = expires
	}
	if u.Config != nil && u.Config.BearerToken != "" {
		made.began = new(sha256.Sum256([]byte(u.Config.BearerToken)))
	}
	made.ended, made.end = context.WithDeadline(context.Background(), made.until)
	id := random(32)
	made.key = sha256.Sum256([]byte(id))
	s.all[made.key] = made
	return id
}

func (s *sessions) count(name string) int {
	n := 0
	for _, one := range s.all {
		if one.user.Name == name {
			n++
		}
	}
	return n
}

func (s *sessions) endOldest(of func(*session) bool) {
	var oldest [sha256.Size]byte
	var found *session
	for key, one := range s.all {
		if of(one) && (found == nil || one.used.Before(found.used)) {
			oldest, found = key, one
		}
	}
	s.remove(oldest)
}

// find returns the session that a cookie names, nil if there is none or it has ended. Finding it counts as use.
func (s *sessions) find(id string) *session {
	if id == "" {
		return nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key := sha256.Sum256([]byte(id))
	one, now := s.all[key], s.now()
	switch {
	case one == nil:
		return nil
	case one.over(now):
		s.remove(key)
		return nil
	}
	one.used = now
	return one
}

// beganWith reports whether there is a session that began with a token.
func (s *sessions) beganWith(token string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	hash := sha256.Sum256([]byte(token))
	for _, one := range s.all {
		if one.began != nil && *one.began == hash {
			return true
		}
	}
	return false
}

// touch marks a session as used.
func (s *sessions) touch(one *session) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	one.used = s.now()
}

func (one *session) over(now time.Time) bool {
	return now.After(one.until) || now.Sub(one.used) > sessionIdle || one.ended.Err() != nil
}

// drop ends the session that a cookie names.
func (s *sessions) drop(id string) { s.dropKey(sha256.Sum256([]byte(id))) }

func (s *sessions) dropKey(key [sha256.Size]byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.remove(key)
}

// dropUser ends the session of a user who is no longer authenticated.
func (s *sessions) dropUser(u *User) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for key, one := range s.all {
		if one.user == u {
			s.remove(key)
		}
	}
}

// sweep ends the sessions that are over; the lock is held.
func (s *sessions) sweep(now time.Time) {
	for key, one := range s.all {
		if one.over(now) {
			s.remove(key)
		}
	}
}

func (s *sessions) remove(key [sha256.Size]byte) {
	one := s.all[key]
	if one == nil {
		return
	}
	delete(s.all, key)
	one.end()
	s.gone(one.user)
}

// tidy ends sessions that are over, until the context ends; then it ends all of them.
func (s *sessions) tidy(ctx context.Context) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.mutex.Lock()
			s.sweep(s.now())
			s.mutex.Unlock()
		case <-ctx.Done():
			s.mutex.Lock()
			defer s.mutex.Unlock()
			for key := range s.all {
				s.remove(key)
			}
			return
		}
	}
}

// cookieName returns the name of the session's cookie. With the prefix, a browser accepts it over TLS only, and for this very host.
// Cookies ignore ports: without the port in the name, two dashboards on one machine would overwrite each other's.
func (s *Server) cookieName() string { return s.cookie("kyma-session") }

func (s *Server) cookie(name string) string {
	switch {
	case s.options.secure():
		return "__Host-" + name
	case s.options.Mode == ModeLocal:
		return name + "-" + s.port
	}
	return name
}

func (s *Server) setCookie(w http.ResponseWriter, id string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the server speaks TLS, or something before it does
		Name: s.cookieName(), Value: id, Path: "/", HttpOnly: true, Secure: s.options.secure(), SameSite: http.SameSiteStrictMode,
		MaxAge: int(age / time.Second),
	})
}

// endSession ends the session of a request, which may be a query of a stream, and deletes its cookie.
func (s *Server) endSession(w http.ResponseWriter, r *http.Request) {
	if one := sessionOf(r.Context()); one != nil {
		if one.user.renewal != nil {
			one.user.renewal.loggedOut.Store(true)
		}
		s.sessions.dropKey(one.key)
	}
	if cookie, err := r.Cookie(s.cookieName()); err == nil {
		s.sessions.drop(cookie.Value)
		s.setCookie(w, "", -time.Second)
	}
}

// withSession adds the session and its user to the context of a request.
func (s *Server) withSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cookie, err := r.Cookie(s.cookieName()); err == nil {
			if one := s.sessions.find(cookie.Value); one != nil {
				r = r.WithContext(context.WithValue(as(r.Context(), one.user), keySession, one))
			}
		}
		next.ServeHTTP(w, r)
	})
}

// as returns a context with the user of a request.
func as(ctx context.Context, u *User) context.Context { return context.WithValue(ctx, keyUser, u) }

// userOf returns the user of a request, nil if no user is logged in.
func userOf(ctx context.Context) *User {
	u, _ := ctx.Value(keyUser).(*User)
	return u
}

func sessionOf(ctx context.Context) *session {
	one, _ := ctx.Value(keySession).(*session)
	return one
}

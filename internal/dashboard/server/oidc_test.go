package server

import (
	"cmp"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// identityProvider is a small OpenID provider: discovery, keys, authorization code with PKCE. Every login is that of "ada".
type identityProvider struct {
	*httptest.Server
	key *rsa.PrivateKey

	mutex sync.Mutex
	codes map[string]url.Values
	// twist changes the claims of the next tokens, and wrongs lists the errors that the token endpoint has found.
	twist  func(claims map[string]any)
	wrongs []string
	// offline reports whether refresh tokens are offered; refreshed counts them, and trouble is the status of the next answers to them.
	offline   bool
	refreshed int
	trouble   int
	// revocation is the address that revokes refresh tokens, and revoked lists those that were revoked.
	revocation string
	revoked    []string
	// revoking judges a revocation; nil accepts the client's secret in the header.
	revoking http.HandlerFunc
}

const (
	dashboardClient = "kyma-dashboard"
	dashboardSecret = "dashboard-secret-of-the-test"
	refreshSecret   = "refresh-token-of-the-test-"
)

var startProvider = sync.OnceValues(func() (*identityProvider, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	p := &identityProvider{key: key, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("POST /revoke", p.revoke)
	p.Server = httptest.NewTLSServer(mux)
	return p, nil
})

// trustProvider configures the API server of the tests to trust the provider.
func trustProvider(environment *envtest.Environment) error {
	p, err := startProvider()
	if err != nil {
		return err
	}
	file, err := os.CreateTemp("", "provider-*.pem")
	if err != nil {
		return err
	}
	defer file.Close()
	if err := pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw}); err != nil {
		return err
	}
	environment.ControlPlane.GetAPIServer().Configure().
		Set("oidc-issuer-url", p.URL).Set("oidc-client-id", dashboardClient).Set("oidc-ca-file", file.Name()).
		Set("oidc-username-claim", "sub").Set("oidc-username-prefix", "oidc:").
		Set("oidc-groups-claim", "groups").Set("oidc-groups-prefix", "oidc:")
	return nil
}

func (p *identityProvider) discovery(w http.ResponseWriter, _ *http.Request) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	scopes := []string{"openid", "groups"}
	if p.offline {
		scopes = append(scopes, "offline_access")
	}
	send(w, map[string]any{
		"revocation_endpoint": p.revocation, "scopes_supported": scopes, "issuer": p.URL, "authorization_endpoint": p.URL + "/authorize",
		"token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

func send(w http.ResponseWriter, value map[string]any) {
	if err := json.NewEncoder(w).Encode(value); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (p *identityProvider) keys(w http.ResponseWriter, _ *http.Request) {
	send(w, map[string]any{"keys": []any{map[string]string{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one", "n": base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(p.key.E)).Bytes()),
	}}})
}

func (p *identityProvider) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	code := random(16)
	p.mutex.Lock()
	p.codes[code] = query
	p.mutex.Unlock()
	back := url.Values{"state": {query.Get("state")}, "code": {code}}
	http.Redirect(w, r, query.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token issues an ID token for a code: once, to a client with the right secret and the verifier of the challenge.
func (p *identityProvider) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if r.Form.Get("grant_type") == "refresh_token" {
		p.refresh(w, r)
		return
	}
	asked := p.codes[r.Form.Get("code")]
	delete(p.codes, r.Form.Get("code"))
	sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
	id, secret, _ := r.BasicAuth()
	for what, wrong := range map[string]bool{
		"code": asked == nil, "grant": r.Form.Get("grant_type") != "authorization_code",
		"method":    asked.Get("code_challenge_method") != "S256",
		"challenge": asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]),
		"redirect":  asked.Get("redirect_uri") != r.Form.Get("redirect_uri"),
		"client":    id != dashboardClient || secret != dashboardSecret, "scope": !strings.Contains(asked.Get("scope"), "openid"),
	} {
		if wrong {
			p.wrongs = append(p.wrongs, what)
			http.Error(w, `{"error":"invalid_grant","error_description":"secret details"}`, http.StatusBadRequest)
			return
		}
	}
	claims := map[string]any{
		"iss": p.URL, "aud": dashboardClient, "sub": "ada", "groups": []string{"engineers"}, "nonce": asked.Get("nonce"),
		"iat": time.Now().Unix(), "exp": time.Now().Add(30 * time.Minute).Unix(),
	}
	p.give(w, claims, strings.Contains(asked.Get("scope"), "offline_access"))
}

// give answers with tokens; the lock is held.
func (p *identityProvider) give(w http.ResponseWriter, claims map[string]any, offline bool) {
	if p.twist != nil {
		p.twist(claims)
	}
	w.Header().Set("Content-Type", "application/json")
	tokens := map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": p.sign(claims)}
	if claims["sub"] == "" {
		delete(tokens, "id_token")
	}
	if offline {
		tokens["refresh_token"] = fmt.Sprintf("%s%d", refreshSecret, p.refreshed)
	}
	send(w, tokens)
}

// refresh issues the next ID token, without a nonce, for the last refresh token; the lock is held.
func (p *identityProvider) refresh(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	want := fmt.Sprintf("%s%d", refreshSecret, p.refreshed)
	if p.trouble != 0 || r.Form.Get("refresh_token") != want || id != dashboardClient || secret != dashboardSecret {
		http.Error(w, `{"error":"invalid_grant","error_description":"secret details"}`, cmp.Or(p.trouble, http.StatusBadRequest))
		return
	}
	p.refreshed++
	p.give(w, map[string]any{
		"iss": p.URL, "aud": dashboardClient, "sub": "ada", "groups": []string{"engineers"},
		"iat": time.Now().Unix(), "exp": time.Now().Add(90 * time.Minute).Unix(),
	}, true)
}

func (p *identityProvider) sign(claims map[string]any) string {
	encode := func(value any) string {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // claims of a test
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	input := encode(map[string]string{"alg": "RS256", "kid": "one", "typ": "JWT"}) + "." + encode(claims)
	sum := sha256.Sum256([]byte(input))
	signature, _ := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])
	return input + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func (p *identityProvider) twisted(twist func(map[string]any)) { p.set(func() { p.twist = twist }) }

func (p *identityProvider) set(change func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	change()
}

// openWithProvider starts a dashboard where users log in at the provider.
func openWithProvider(t *testing.T, change ...func(*Options)) (*site, *identityProvider) {
	t.Helper()
	p, err := startProvider()
	if err != nil {
		t.Fatal(err)
	}
	p.set(func() {
		p.twist, p.offline, p.refreshed, p.trouble = nil, false, 0, 0
		p.revocation, p.revoked, p.revoking = p.URL+"/revoke", nil, nil
	})
	pool := x509.NewCertPool()
	pool.AddCert(p.Certificate())
	provider := &OIDC{Issuer: p.URL, ClientID: dashboardClient, ClientSecret: dashboardSecret, Scopes: []string{"groups"}, Client: p.Client()}
	s := open(t, ModeCluster, append([]func(*Options){func(o *Options) { o.OIDC = provider }}, change...)...)
	s.server.provider.config.Redirect = s.base + "/auth/callback"
	s.http.Transport = p.Client().Transport
	return s, p
}

// follow requests an address and returns where it redirects to.
func (s *site) follow(address string, change ...func(*http.Request)) (status int, location string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range change {
		f(request)
	}
	response, err := s.http.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode, response.Header.Get("Location")
}

// toCallback logs in at the provider and returns the callback address.
func (s *site) toCallback() string {
	s.Helper()
	_, there := s.follow(s.base + "/auth/login")
	_, back := s.follow(there)
	if !strings.HasPrefix(back, s.base+"/auth/callback?") {
		s.Fatalf("the provider sends to %q, and that to %q", there, back)
	}
	return back
}

func TestOIDC_SomebodyLogsInAtTheProvider(t *testing.T) {
	s, p := openWithProvider(t)
	if is := get[sessionAnswer](s, "/api/v1/session"); fmt.Sprint(is.Login) != "[token oidc]" {
		t.Errorf("ways to log in: %v", is.Login)
	}
	eventually(t, time.Minute, "the API server trusts the provider", func() bool {
		s.browser()
		s.http.Transport = p.Client().Transport
		status, location := s.follow(s.toCallback())
		return status == http.StatusSeeOther && location == "/"
	})
	is := get[sessionAnswer](s, "/api/v1/session")
	if !is.LoggedIn || is.User != "oidc:ada" || is.Groups[0] != "oidc:engineers" {
		t.Errorf("logged in as %+v", is)
	}
	if len(p.wrongs) > 0 {
		t.Errorf("the token endpoint found wrong: %v", p.wrongs)
	}
	for _, secret := range []string{"eyJ", dashboardSecret, "code=", "state="} {
		if strings.Contains(s.logs.String(), secret) {
			t.Errorf("%q is in the log: %s", secret, s.logs)
		}
	}
}

func TestOIDC_TheWayToTheProvider(t *testing.T) {
	s, _ := openWithProvider(t)
	status, there := s.follow(s.base + "/auth/login")
	address, err := url.Parse(there)
	if err != nil || status != http.StatusFound {
		t.Fatal(status, there, err)
	}
	query := address.Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": dashboardClient, "code_challenge_method": "S256", "redirect_uri": s.base + "/auth/callback",
		"scope": "openid groups",
	} {
		if query.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, query.Get(name), want)
		}
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if len(query.Get(name)) < 40 {
			t.Errorf("%s is %q", name, query.Get(name))
		}
	}
	if query.Has("client_secret") || query.Has("code_verifier") {
		t.Error("a secret is in the address")
	}
}

func TestLoginsThatGoWrong(t *testing.T) {
	later := func(o *Options) { o.Now = func() time.Time { return time.Now().Add(loginLasts + time.Minute) } }
	for name, c := range map[string]struct {
		twist  func(map[string]any)
		back   func(s *site, back string) string
		change func(*http.Request)
		option func(*Options)
		want   string
	}{
		"an ID token of another login":   {twist: func(c map[string]any) { c["nonce"] = "other" }, want: loginFailed},
		"an ID token without a nonce":    {twist: func(c map[string]any) { delete(c, "nonce") }, want: loginFailed},
		"an ID token that has expired":   {twist: func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() }, want: loginFailed},
		"an ID token for another client": {twist: func(c map[string]any) { c["aud"] = "other" }, want: loginFailed},
		"an ID token of another issuer":  {twist: func(c map[string]any) { c["iss"] = "https://evil.example.com" }, want: loginFailed},
		"a state that was never issued":  {back: replaced("state", "guess"), want: loginExpired},
		"no state":                       {back: replaced("state", ""), want: loginExpired},
		"a code that was never issued":   {back: replaced("code", "guess"), want: loginFailed},
		"no code":                        {back: replaced("code", ""), want: loginRefused},
		"the provider refuses":           {back: replaced("error", "access_denied"), want: loginRefused},
		"another browser":                {change: otherCookie, back: otherBrowser, want: loginExpired},
		"a browser without cookies":      {back: otherBrowser, want: loginExpired},
		"a link that was used before":    {back: func(s *site, back string) string { s.follow(back); return back }, want: loginExpired},
		"a user who took eleven minutes": {option: later, want: loginExpired},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := openWithProvider(t)
			p.twisted(c.twist)
			defer p.twisted(nil)
			back := s.toCallback()
			if c.option != nil {
				var o Options
				c.option(&o)
				s.server.provider.now = o.Now
			}
			if c.back != nil {
				back = c.back(s, back)
			}
			var change []func(*http.Request)
			if c.change != nil {
				change = append(change, c.change)
			}
			if status, location := s.follow(back, change...); status != http.StatusSeeOther || location != "/login?error="+c.want {
				t.Errorf("status %d, leads to %q, want %s; log: %s", status, location, c.want, s.logs)
			}
			if name != "a link that was used before" && get[sessionAnswer](s, "/api/v1/session").LoggedIn {
				t.Error("a user is logged in")
			}
			if strings.Contains(s.logs.String(), "secret details") || strings.Contains(s.logs.String(), "eyJ") {
				t.Errorf("the provider's answer is in the log: %s", s.logs)
			}
		})
	}
}

// replaced changes a parameter of the callback address.
func replaced(name, value string) func(*site, string) string {
	return func(s *site, back string) string {
		address, err := url.Parse(back)
		if err != nil {
			s.Fatal(err)
		}
		query := maps.Clone(address.Query())
		query.Set(name, value)
		address.RawQuery = query.Encode()
		return address.String()
	}
}

func otherCookie(r *http.Request) { r.Header.Set("Cookie", "kyma-login=other") }

func otherBrowser(s *site, back string) string {
	transport := s.http.Transport
	s.browser()
	s.http.Transport = transport
	return back
}

func TestOIDC_AProviderThatDoesNotAnswer(t *testing.T) {
	s := open(t, ModeCluster, func(o *Options) {
		o.OIDC = &OIDC{Issuer: "https://127.0.0.1:1", ClientID: dashboardClient, Redirect: "https://x/auth/callback"}
	})
	if status, location := s.follow(s.base + "/auth/login"); status != http.StatusSeeOther || location != "/login?error="+loginNoAnswer {
		t.Errorf("status %d, leads to %q", status, location)
	}
}

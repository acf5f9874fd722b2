package registryauth

import (
	"cmp"
	"crypto/x509"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// fromFlags is the source of a login from flags.
const fromFlags = "the flags"

// Refusal is a registry's refusal of a login, explained in one line.
type Refusal struct {
	// Host is the registry; empty when it is not known.
	Host string
	text string
	err  error
}

// Error returns which registry refused which login, and the remedy.
func (r *Refusal) Error() string { return r.text }

// Unwrap returns the cause, whose text is longer.
func (r *Refusal) Unwrap() error { return r.err }

// Explain turns an error of a call with this Access into one line:
//
//  1. A refused login: its source, and the remedy.
//  2. A registry that uses http, or whose certificate is not trusted: the remedy.
//  3. Any other error keeps its text, on one line.
//
// host is the registry that was called, for errors that do not name it; empty means the one that the command names.
func (o *Options) Explain(err error, host string) error {
	if err == nil {
		return nil
	}
	status, at, refused := refusal(err)
	if at == "" {
		at = cmp.Or(Host(host), o.known.only())
	}
	if !refused {
		if text := unsuitable(err, at); text != "" {
			return &Refusal{Host: at, text: text, err: err}
		}
		if line := oneLine(err.Error()); line != err.Error() {
			return &Refusal{Host: at, text: line, err: err}
		}
		return err
	}
	return &Refusal{Host: at, text: o.refusedText(status, at), err: err}
}

// refusedText words the refusal by the source of the login.
func (o *Options) refusedText(status int, host string) string {
	where := "the registry"
	if host != "" {
		where, host = "registry "+host, " "+host
	}
	name := strings.TrimSpace(host)
	source := o.known.source(name)
	switch {
	case source == "" && o.known.withheld(name) != "":
		return where + " requires a login, and the one in " + o.known.withheld(name) + " is not sent without TLS, where anyone on the network " +
			"could read it: have the registry speak https, or give --username and --password-stdin"
	case source == "" && o.known.foreign(name):
		return where + " requires a login: run docker login" + host // flags apply only to the registries that the command names
	case source == "":
		return where + " requires a login: give --username and --password-stdin, or run docker login" + host
	case status == http.StatusForbidden:
		return where + " does not allow that with the login from " + source + ": ask for the right, or use another login"
	case source == fromFlags && o.Username != "":
		return where + " refuses user " + o.Username + ": the user or the password is wrong"
	case source == fromFlags:
		return where + " refuses the token: it is wrong or expired, or the registry wants --username with it"
	default:
		return where + " refuses the login from " + source + ": run docker login" + host + ", or give --username and --password-stdin"
	}
}

// unsuitable explains a wrong protocol or certificate; empty when the error has another cause.
func unsuitable(err error, host string) string {
	text := err.Error()
	where := "the registry"
	if host != "" {
		where = "registry " + host
	}
	unknown, named := errors.AsType[x509.UnknownAuthorityError](err)
	switch {
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return where + " uses http, not https: if that is intended, write http:// before it, use --plain-http, or name it " +
			"with plainHTTP in --registries-file"
	case named && unknown.Cert != nil && unknown.Cert.Issuer.CommonName != "":
		return where + " has a certificate of " + unknown.Cert.Issuer.CommonName + ", which is not trusted here: " +
			"pass the issuer's certificate with --ca-file"
	case named || strings.Contains(text, "certificate signed by unknown authority"):
		return where + " has a certificate that no trusted authority signed: give the signer's with --ca-file"
	}
	return ""
}

// refusal reports whether an error is the refusal of a login. Errors of the OCM library are only text.
func refusal(err error) (status int, host string, refused bool) {
	var answer *errcode.ErrorResponse
	text := err.Error()
	if named := address.FindStringSubmatch(text); named != nil {
		host = named[1]
	}
	switch {
	case errors.As(err, &answer):
		status = answer.StatusCode
		if answer.URL != nil {
			host = answer.URL.Host
		}
		return status, host, status == http.StatusUnauthorized || status == http.StatusForbidden
	case errors.Is(err, auth.ErrBasicCredentialNotFound), saysUnauthorized.MatchString(text):
		return http.StatusUnauthorized, host, true
	case saysForbidden.MatchString(text):
		return http.StatusForbidden, host, true
	}
	return 0, host, false // an error while finding a login has a text of its own
}

var (
	saysUnauthorized = regexp.MustCompile(`(?i)\b401 unauthorized|\bstatus code 401\b|missing username or password for basic auth`)
	address          = regexp.MustCompile(`"https?://([^/"@]+)/v2/`)
	saysForbidden    = regexp.MustCompile(`(?i)\b403 forbidden|\bstatus code 403\b`)
)

// oneLine returns a text without line breaks.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

package communitycatalog

import (
	"net/url"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Kind is the kind of place that a catalog is read from.
type Kind string

// The kinds.
const (
	// HTTPS is a file on a web server: https://HOST/PATH.
	HTTPS Kind = "https"
	// OCI is an artifact of a registry: oci://HOST/PATH:TAG or oci://HOST/PATH@sha256:... .
	OCI Kind = "oci"
	// Cluster is a namespace of the cluster itself: cluster://NAMESPACE.
	Cluster Kind = "cluster"
)

// Source is one catalog that a user added. The names of the JSON fields are a contract.
type Source struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	Kind Kind   `json:"kind"`
	// Digest that the catalog must have: that of the file, or of the artifact's manifest. Empty accepts any.
	Digest string `json:"digest,omitempty"`
	// Key is a public key in PEM with which the catalog's signature must be verified. Empty requires no signature.
	Key string `json:"key,omitempty"`
	// RequireFreshness refuses a signed catalog that does not have both a version and an expiry. It requires a key.
	RequireFreshness bool `json:"requireFreshness,omitempty"`
	// Version is the highest version of the catalog that was seen with that address and key; older ones are refused. 0 means none.
	Version int64 `json:"version,omitempty"`
	// Checked is when the source was last tried, and Error why that failed; Read is when it was last read successfully, and Modules how many
	// modules it had then.
	Checked *time.Time `json:"checked,omitempty"`
	Read    *time.Time `json:"read,omitempty"`
	Modules int        `json:"modules"`
	Error   string     `json:"error,omitempty"`
}

// maxSourceName leaves room for the prefix in the name of a ConfigMap.
const maxSourceName = 40

// digestPattern is the format of a digest in this package.
var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Pinned reports whether a digest or a signature secures the source's content.
func (s Source) Pinned() bool { return s.Digest != "" || s.Key != "" }

// noteAgain is how long an outcome is not stored again. Pages of the dashboard read a source at each visit, and reading should not cause
// writes.
const noteAgain = time.Minute

// Noted reports whether this outcome of reading the source is stored already, by a check shortly before now.
func (s Source) Noted(modules int, trouble error, now time.Time) bool {
	if s.Checked == nil || now.Sub(*s.Checked).Abs() >= noteAgain || s.Error != troubleText(trouble) {
		return false
	}
	return trouble != nil || s.Modules == modules
}

// troubleText returns the stored text of a read error; empty if there is none.
func troubleText(trouble error) string {
	if trouble == nil {
		return ""
	}
	text := []rune(trouble.Error())
	return string(text[:min(len(text), maxTrouble)])
}

// Complete fills in the kind and validates a source, before any request is sent or anything is stored.
//
//  1. The name is a DNS label with at most 40 characters.
//  2. The address is https://, oci:// or cluster://. It has no login, no query and no fragment: every reader of the source would see them.
//  3. The digest is one of SHA-256, and the key a public key.
//  4. A version and an expiry can be required only with a key, and without a digest that pins the catalog.
func (s Source) Complete() (Source, error) {
	if len(s.Name) > maxSourceName || len(validation.IsDNS1123Label(s.Name)) > 0 {
		return s, invalid("%q is no name for a source: use up to %d lower-case letters and digits with dashes between them",
			short(s.Name), maxSourceName)
	}
	kind, err := kindOf(s.URL)
	if err != nil {
		return s, err
	}
	s.Kind = kind
	if s.Digest != "" && !strings.Contains(s.Digest, ":") {
		s.Digest = "sha256:" + strings.ToLower(s.Digest) // as sha256sum prints it
	}
	if s.Digest != "" && !digestPattern.MatchString(s.Digest) {
		return s, invalid("it is not a digest: write sha256: and the 64 hex digits that sha256sum prints")
	}
	if s.Key != "" {
		if _, err := publicKey(s.Key); err != nil {
			return s, err
		}
	}
	if kind == Cluster && s.Pinned() {
		return s, invalid("a namespace of the cluster has neither digest nor signature: leave both away")
	}
	if s.RequireFreshness && !s.Remembers() {
		return s, invalid("a version and an expiry are asked for where a key vouches for them, and no digest keeps the catalog as it is: " +
			"give the key, and leave the digest away")
	}
	return s, nil
}

// kindOf validates an address, and returns its kind.
func kindOf(address string) (Kind, error) {
	if len(address) > maxText || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", invalid("the address is longer than %d characters, or has spaces or control characters in it", maxText)
	}
	scheme, rest, _ := strings.Cut(address, "://")
	switch Kind(scheme) {
	case HTTPS:
		_, err := webAddress(address)
		return HTTPS, err
	case OCI:
		_, err := content.ParseImage(rest)
		return OCI, err
	case Cluster:
		if len(validation.IsDNS1123Label(rest)) > 0 {
			return "", invalid("%q is no namespace: write cluster://NAMESPACE", short(rest))
		}
		return Cluster, nil
	}
	if strings.EqualFold(scheme, "http") {
		return "", invalid("a catalog is not read without encryption: use https")
	}
	return "", invalid("the address of a catalog begins with https://, oci:// or cluster://")
}

// webAddress parses the address of a web server. Errors omit parts that may be secret.
func webAddress(text string) (*url.URL, error) {
	address, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, invalid("the address cannot be read: write it as https://HOST/PATH")
	case address.User != nil:
		return nil, invalid("the address contains a login, which every user would see: remove the part before the @")
	case address.RawQuery != "" || address.ForceQuery || address.Fragment != "":
		return nil, invalid("the address has a query or a fragment, which every user would see: remove it; catalogs are plain files")
	case address.Scheme != string(HTTPS) || address.Hostname() == "" || address.Opaque != "":
		return nil, invalid("the address names no host: write it as https://HOST/PATH")
	}
	return address, nil
}

func invalid(format string, args ...any) error {
	return fail(content.ReasonSourceInvalid, format, args...)
}

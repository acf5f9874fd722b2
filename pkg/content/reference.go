package content

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"oras.land/oras-go/v2/registry"
)

const (
	digestPrefix = "sha256:"
	digestHexLen = 64
	// maxNameLength is the limit of the distribution specification for host and path together.
	maxNameLength = 255
	maxLabel      = 63
)

var hostLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// Reference names one blob in one repository.
type Reference struct {
	// Registry is host[:port], in lower case.
	Registry string
	// Repository is the path in the registry.
	Repository string
	// Digest is "sha256:" and 64 lower-case hex digits.
	Digest string
}

// ParseReference joins the three parts of an image specification: repo ("host[:port]/path", with or without a scheme), name (may be empty)
// and ref (a digest; tags are refused). The scheme is not part of the Reference: plainHTTP reports whether it was "http://", and the caller
// decides whether to trust that.
func ParseReference(repo, name, ref string) (reference Reference, plainHTTP bool, err error) {
	rest, plainHTTP, err := cutScheme(repo)
	if err != nil {
		return Reference{}, false, err
	}
	host, path, _ := strings.Cut(strings.TrimSuffix(rest, "/"), "/")
	host = strings.ToLower(host)
	if err := CheckHost(host); err != nil {
		return Reference{}, false, sourceInvalid("repo %q: %w; it must be host[:port]/path", repo, err)
	}
	switch {
	case path == "":
		path = name
	case name != "":
		path += "/" + name
	}
	reference = Reference{Registry: host, Repository: path, Digest: ref}
	if err := checkRepository(path); err != nil {
		return Reference{}, false, sourceInvalid("repo %q with name %q gives the repository %q, which no registry can have: "+
			"use lower-case path components", repo, name, path)
	}
	if len(host)+1+len(path) > maxNameLength {
		return Reference{}, false, sourceInvalid("repo %q with name %q is longer than %d characters", repo, name, maxNameLength)
	}
	if _, err := digestHex(ref); err != nil {
		return Reference{}, false, err
	}
	return reference, plainHTTP, nil
}

func checkRepository(path string) error {
	return (registry.Reference{Repository: path}).ValidateRepository()
}

// String returns "registry/repository@digest".
func (r Reference) String() string { return r.Registry + "/" + r.Repository + "@" + r.Digest }

// validate protects Layer from References that ParseReference did not return.
func (r Reference) validate() error {
	parsed, _, err := ParseReference(r.Registry+"/"+r.Repository, "", r.Digest)
	if err == nil && parsed != r {
		return sourceInvalid("reference %q is not in its normal form %q", r, parsed)
	}
	return err
}

func cutScheme(repo string) (rest string, plainHTTP bool, err error) {
	scheme, rest, found := strings.Cut(repo, "://")
	switch {
	case !found:
		return repo, false, nil
	case scheme == "http":
		return rest, true, nil
	case scheme == "https":
		return rest, false, nil
	default:
		return "", false, sourceInvalid("repo %q: scheme %q is not accepted; use host[:port]/path, http:// or https://", repo, scheme)
	}
}

// CheckHost returns an error unless hostport is a host name or an IP address, with or without a port.
func CheckHost(hostport string) error {
	host, port, err := splitPort(hostport)
	if err != nil {
		return err
	}
	if port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 || port[0] == '0' {
			return fmt.Errorf("%q is no port", port)
		}
	}
	if strings.HasPrefix(host, "[") {
		address, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if err != nil || !address.Is6() || address.Zone() != "" {
			return fmt.Errorf("%q is no IPv6 address", host)
		}
		return nil
	}
	for label := range strings.SplitSeq(host, ".") {
		if len(label) > maxLabel || !hostLabel.MatchString(label) {
			return fmt.Errorf("%q is no host name", host)
		}
	}
	return nil
}

// splitPort is stricter than net.SplitHostPort: a colon requires a port after it, and only a port may follow brackets.
func splitPort(hostport string) (host, port string, err error) {
	host, port, found := strings.Cut(hostport, ":")
	if strings.HasPrefix(hostport, "[") {
		end := strings.IndexByte(hostport, ']')
		if end < 0 {
			return "", "", fmt.Errorf("%q has no closing bracket", hostport)
		}
		host = hostport[:end+1]
		var before string
		before, port, found = strings.Cut(hostport[end+1:], ":")
		if before != "" {
			return "", "", fmt.Errorf("%q is no host", hostport)
		}
	}
	if found && port == "" {
		return "", "", fmt.Errorf("%q has a colon and no port", hostport)
	}
	return host, port, nil
}

// digestHex returns the hex part of a digest, which is safe as a file name.
func digestHex(digest string) (string, error) {
	digits, ok := strings.CutPrefix(digest, digestPrefix)
	if !ok {
		return "", sourceInvalid("ref %q is no sha256 digest; content is fetched by digest only, never by tag", digest)
	}
	if _, err := hex.DecodeString(digits); err != nil || len(digits) != digestHexLen || strings.ToLower(digits) != digits {
		return "", sourceInvalid("ref %q is no digest: %q and %d lower-case hex digits were expected", digest, digestPrefix, digestHexLen)
	}
	return digits, nil
}

// CheckDigest returns an error unless digest is "sha256:" and 64 lower-case hex digits.
func CheckDigest(digest string) error {
	_, err := digestHex(digest)
	return err
}

func sourceInvalid(format string, args ...any) error {
	return Errorf(ReasonSourceInvalid, format, args...)
}

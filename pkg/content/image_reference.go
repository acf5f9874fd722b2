package content

import (
	"regexp"
	"strings"
)

// tagPattern is what the distribution specification allows for tags.
var tagPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// maxImage has room for the longest name, tag and digest.
const maxImage = 512

// Image names an image or another artifact in a registry, by tag or by digest. If both are set, the digest wins and the tag is informative.
type Image struct {
	// Registry is host[:port], in lower case.
	Registry string
	// Repository is the path in the registry.
	Repository string
	// Tag may be empty if there is a digest.
	Tag string
	// Digest is "sha256:" and 64 lower-case hex digits, or empty.
	Digest string
}

// ParseImage parses "host[:port]/path:tag", "host[:port]/path@sha256:..." or both combined.
//
//  1. The text after "@" is the digest.
//  2. The text after a colon behind the last slash is the tag.
//  3. The host must be explicit: it has a dot or a port, or is "localhost". Neither the host nor the tag "latest" is a default.
func ParseImage(image string) (Image, error) {
	if len(image) > maxImage {
		return Image{}, sourceInvalid("the image is longer than the %d characters that host, path, tag and digest can have", maxImage)
	}
	rest, digest, hasDigest := strings.Cut(image, "@")
	if hasDigest && !strings.HasPrefix(digest, digestPrefix) {
		// Not quoted: the text before an "@" may be a password.
		return Image{}, sourceInvalid("the image has an @ that no sha256 digest follows: " +
			"give host/path:tag or host/path@sha256:..., without a login")
	}
	if strings.Contains(rest, "://") {
		return Image{}, sourceInvalid("image %s has a scheme: leave it out; how a host is spoken to is set per registry", Quote(image))
	}
	found := Image{Digest: digest}
	if colon := strings.LastIndexByte(rest, ':'); colon > strings.LastIndexByte(rest, '/') {
		rest, found.Tag = rest[:colon], rest[colon+1:]
		if !tagPattern.MatchString(found.Tag) {
			return Image{}, sourceInvalid("image %s: %s is no tag", Quote(image), Quote(found.Tag))
		}
	}
	if found.Tag == "" && digest == "" {
		return Image{}, sourceInvalid("image %s has neither tag nor digest: add :tag or @sha256:...", Quote(image))
	}
	if digest != "" {
		if _, err := digestHex(digest); err != nil {
			return Image{}, err
		}
	}
	var err error
	if found.Registry, found.Repository, err = splitImage(rest, image); err != nil {
		return Image{}, err
	}
	return found, nil
}

// splitImage splits host and path.
func splitImage(hostAndPath, image string) (host, path string, err error) {
	host, path, _ = strings.Cut(hostAndPath, "/")
	host = strings.ToLower(host)
	err = CheckHost(host)
	switch {
	case err == nil && !strings.ContainsAny(host, ".:") && host != "localhost":
		err = sourceInvalid("image %s does not name its registry: begin with its host, such as docker.io/library/...", Quote(image))
	case err != nil:
		err = sourceInvalid("image %s: %w; it must be host[:port]/path", Quote(image), err)
	case checkRepository(path) != nil:
		err = sourceInvalid("image %s has the repository %s, which no registry can have: use lower-case path components",
			Quote(image), Quote(path))
	case len(hostAndPath) > maxNameLength:
		err = sourceInvalid("image %s is longer than %d characters", Quote(image), maxNameLength)
	}
	return host, path, err
}

// String returns the image as written.
func (i Image) String() string {
	text := i.Registry + "/" + i.Repository
	if i.Tag != "" {
		text += ":" + i.Tag
	}
	if i.Digest != "" {
		text += "@" + i.Digest
	}
	return text
}

// at returns the reference of a manifest or layer in the image's repository.
func (i Image) at(digest string) Reference {
	return Reference{Registry: i.Registry, Repository: i.Repository, Digest: digest}
}

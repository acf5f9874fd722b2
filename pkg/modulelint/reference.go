package modulelint

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/distribution/reference"

	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

const (
	minReference = 3
	maxReference = 256
	// quotedBytes bounds how much of a value a message repeats.
	quotedBytes = 120
)

var (
	// moving are tags that are moved from image to image.
	moving = []string{"latest", "main"}
	// unnamable matches characters that the name of a resource cannot contain.
	unnamable = regexp.MustCompile(`[^a-z0-9_+-]+`)
	// unversioned matches characters that a prerelease cannot contain.
	unversioned = regexp.MustCompile(`[^0-9A-Za-z.-]`)
)

// parseImage reads a reference by Docker's grammar and refuses one that does not identify an image.
//
//  1. A digest identifies it; the tag beside it is for users.
//  2. Without a digest there must be a tag, and not one that moves.
func parseImage(text string) (named reference.Named, problem, fix string) {
	const fixed = "name a version, by a tag such as :1.2.3 or by @sha256:..."
	if text == "" {
		return nil, "has no image", fixed
	}
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return nil, quoted(text) + " is not a reference to an image", "write host/path:tag or host/path@sha256:..."
	}
	tag := tagOf(named)
	switch {
	case digestOf(named) != "":
		return named, "", ""
	case tag == "":
		return nil, quoted(text) + " has neither tag nor digest", fixed
	case slices.Contains(moving, tag):
		return nil, quoted(text) + " has the tag " + tag + ", which names another image tomorrow", fixed
	default:
		return named, "", ""
	}
}

// isReference reports whether an arbitrary value is a reference to an image. A value that might as well be an address is none.
//
//  1. It has 3 to 256 characters, is one word and not a URL, and follows Docker's grammar.
//  2. A digest makes it a reference.
//  3. So does a tag, when the path begins with a host: "registry.example.com/a:1", "localhost:5000/a:1".
//  4. Without a host it needs a folder, and a tag that is a semantic version: "prom/prometheus:v2.45.0", and not "db:5432" or "a/b:80".
func isReference(text string) bool {
	if len(text) < minReference || len(text) > maxReference || strings.ContainsAny(text, " \t\r\n") || strings.Contains(text, "://") {
		return false
	}
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return false
	}
	if digestOf(named) != "" {
		return true
	}
	tag := tagOf(named)
	host, _, hasFolder := strings.Cut(text, "/")
	if tag == "" || !hasFolder {
		return false
	}
	return strings.ContainsAny(host, ".:") || host == "localhost" || isSemantic(tag)
}

func tagOf(named reference.Named) string {
	if tagged, ok := named.(reference.Tagged); ok {
		return tagged.Tag()
	}
	return ""
}

// digestOf returns the hex part of the digest.
func digestOf(named reference.Named) string {
	if digested, ok := named.(reference.Digested); ok {
		return digested.Digest().Encoded()
	}
	return ""
}

// isSemantic reports whether a tag is a full semantic version, with or without "v".
func isSemantic(tag string) bool {
	_, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v"))
	return err == nil
}

// resourceName returns the last segment of the path in the characters of resource names, and a part of the digest if there is one.
func resourceName(named reference.Named) string {
	name := strings.Trim(unnamable.ReplaceAllString(path.Base(reference.Path(named)), "-"), "-_+")
	if len(name) < 2 {
		name = "image-" + name
	}
	if digest := digestOf(named); digest != "" {
		name += "-" + digest[:8]
	}
	return strings.Trim(name, "-")
}

// resourceVersion returns a semantic version that distinguishes images.
func resourceVersion(named reference.Named) string {
	version := "0.0.0"
	if tag := tagOf(named); isSemantic(tag) {
		version = tag
	} else if tag != "" {
		version += "-" + prerelease(tag)
	}
	if digest := digestOf(named); digest != "" {
		version += "+sha256." + digest[:12]
	}
	return version
}

// prerelease returns a tag as the prerelease of a version: characters that a prerelease cannot contain become dashes.
func prerelease(tag string) string {
	text := unversioned.ReplaceAllString(tag, "-")
	for _, candidate := range []string{text, strings.ReplaceAll(text, ".", "-")} {
		if isSemantic("0.0.0-" + candidate) {
			return candidate
		}
	}
	return "tag-" + strings.ReplaceAll(text, ".", "-")
}

func hexOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func quoted(text string) string {
	return strconv.Quote(excerpt.Cut(text, quotedBytes))
}

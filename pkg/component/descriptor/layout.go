package descriptor

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	// namespace is the path segment that OCM puts before component names.
	namespace = "component-descriptors"
	// fileName is the descriptor's name in its tar.
	fileName = "component-descriptor.yaml"
	// buildSeparator replaces the "+" of a version, which a tag cannot contain.
	buildSeparator = ".build-"
	// tarSlack is how much larger than its one file a descriptor's tar may be: header, padding and tar's blocking.
	tarSlack = 16 << 10
	// maxTarEntries limits the search in the tar; OCM writes a single entry.
	maxTarEntries = 16
)

// configMediaTypes are those by which OCM distinguishes a component version from other OCI artifacts: the current one and the two before.
var configMediaTypes = []string{
	"application/vnd.ocm.software.component.config.v1+json",
	"application/vnd.gardener.cloud.cnudie.component.config.v1+json",
	"application/vnd.oci.gardener.cloud.cnudie.component-descriptor-metadata.config.v2+json",
}

// tarMediaTypes are the media types of a descriptor in a tar.
var tarMediaTypes = []string{
	"application/vnd.ocm.software.component-descriptor.v2+yaml+tar",
	"application/vnd.gardener.cloud.cnudie.component-descriptor.v2+yaml+tar",
	"application/vnd.oci.gardener.cloud.cnudie.component-descriptor.config.v2+yaml+tar",
}

// plainMediaTypes are the media types of a plain descriptor. JSON is YAML, so one decoder serves both.
var plainMediaTypes = []string{
	"application/vnd.ocm.software.component-descriptor.v2+yaml",
	"application/vnd.ocm.software.component-descriptor.v2+json",
	"application/vnd.gardener.cloud.cnudie.component-descriptor.v2+yaml",
	"application/vnd.gardener.cloud.cnudie.component-descriptor.v2+json",
}

var (
	// namePattern is OCM's pattern of component names: a domain and at least one more segment.
	namePattern = regexp.MustCompile(`^[a-z][-a-z0-9]*(\.[a-z][-a-z0-9]*)*\.[a-z]{2,}(/[a-z][-_a-z0-9]*(\.[a-z][-_a-z0-9]*)*)+$`)
	// versionPattern is a semantic version that may start with "v" and leave out minor and patch, as OCM allows.
	versionPattern = regexp.MustCompile(`^v?(0|[1-9]\d*)(\.(0|[1-9]\d*)){0,2}(-` + identifiers + `)?(\+` + identifiers + `)?$`)
)

// identifiers are the parts of a version after "-" and "+".
const identifiers = `[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*`

// maxNameLength is OCM's limit for component names.
const maxNameLength = 255

// place is the location of one component version.
type place struct {
	component  string // name:version, for messages
	registry   string // host[/sub], for messages
	repository string // path of the repository below the host, without the part that stands for the component
	name       string // that part
	tag        string
}

// path returns the repository's full path below the host.
func (p place) path() string { return path.Join(p.repository, p.name) }

// reference is what was requested below the host, as a user would type it.
func (p place) reference() string { return p.path() + ":" + p.tag }

// CheckIdentity returns an *Error with ReasonInvalid for a component name or a version that OCM does not allow.
func CheckIdentity(name, version string) error {
	if len(name) > maxNameLength || !namePattern.MatchString(name) {
		return invalid("%q is no OCM component name: it needs a domain, a slash and a path, in lower case", name)
	}
	if !versionPattern.MatchString(version) {
		return invalid("%q is no version of component %s: it must be a semantic version such as 1.2.3", version, name)
	}
	return nil
}

// locate returns the location of a component version in a registry.
func locate(subPath string, mapping Mapping, name, version string) (place, error) {
	if err := CheckIdentity(name, version); err != nil {
		return place{}, err
	}
	subPath = strings.Trim(subPath, "/")
	found := place{component: name + ":" + version, tag: strings.ReplaceAll(version, "+", buildSeparator)}
	switch mapping {
	case URLPath, "":
		found.repository, found.name = path.Join(subPath, namespace), name
	case SHA256:
		sum := sha256.Sum256([]byte(name))
		found.repository, found.name = subPath, hex.EncodeToString(sum[:])
	default:
		return place{}, invalid("component name mapping %q is unknown: use %s or %s", mapping, URLPath, SHA256)
	}
	return found, nil
}

// layerLimit returns the maximum size of the layer with the descriptor: a tar is larger than the file in it.
func layerLimit(mediaType string, limit int64) (int64, error) {
	switch {
	case slices.Contains(tarMediaTypes, mediaType):
		return limit + tarSlack, nil
	case slices.Contains(plainMediaTypes, mediaType):
		return limit, nil
	default:
		return 0, invalid("component descriptor has media type %q, which is none that OCM uses", mediaType)
	}
}

// unpack returns the descriptor that a layer of that media type holds.
func unpack(mediaType string, layer []byte, limit int64) ([]byte, error) {
	if !slices.Contains(tarMediaTypes, mediaType) {
		return layer, nil
	}
	archive := tar.NewReader(bytes.NewReader(layer))
	for range maxTarEntries {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, invalid("component descriptor is no readable tar: %w", err)
		}
		if strings.TrimLeft(strings.TrimPrefix(header.Name, "./"), "/") != fileName {
			continue
		}
		if header.Typeflag != tar.TypeReg {
			return nil, invalid("%s is not a regular file in its tar", fileName)
		}
		if header.Size > limit {
			return nil, invalid("%s has %d bytes, %d are allowed: %w", fileName, header.Size, limit, ErrTooLarge)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, invalid("%s is cut off in its tar: %w", fileName, err)
		}
		return data, nil
	}
	return nil, invalid("component descriptor's tar has no %s in its first %d entries", fileName, maxTarEntries)
}

// checkSize refuses content by its announced size, before a byte of it is fetched.
func checkSize(what string, size, limit int64) error {
	if size < 0 || size > limit {
		return invalid("%s has %d bytes, %d are allowed: %w", what, size, limit, ErrTooLarge)
	}
	return nil
}

// baseURL returns the registry as it appears in messages and Component.Repository.
func baseURL(registry, subPath string) string {
	return path.Join(registry, strings.Trim(subPath, "/"))
}

package content

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// ChartSource is a Helm chart in an OCI registry.
type ChartSource struct {
	OCI *OCI
	// Repository is host/path/chart, without oci://.
	Repository string
	// Version is an exact version, a range such as "~1.4", or empty for the newest one that is not a prerelease.
	Version string
}

// Reference returns the repository and the requested version.
func (s *ChartSource) Reference() string {
	if _, err := s.image("latest"); err != nil {
		return "a chart whose repository cannot be read"
	}
	return s.Repository + " " + cmp.Or(s.Version, "(newest)")
}

// Resolve requests the digest of an exact version; for a range it first lists the chart's tags.
func (s *ChartSource) Resolve(ctx context.Context) (Resolved, error) {
	version := s.Version
	if !isExact(version) {
		image, err := s.image("latest")
		if err != nil {
			return Resolved{}, err
		}
		wanted, err := parseRange(version)
		if err != nil {
			return Resolved{}, err
		}
		tags, err := s.OCI.tags(ctx, image.Registry, image.Repository)
		if err != nil {
			return Resolved{}, err
		}
		if version, err = pickVersion(tags, wanted); err != nil {
			return Resolved{}, fmt.Errorf("chart %s: %w", s.Repository, err)
		}
	}
	image, err := s.image(tagOf(version))
	if err != nil {
		return Resolved{}, err
	}
	resolved, err := s.OCI.resolve(ctx, image)
	resolved.Version = version
	if err != nil {
		return Resolved{}, err
	}
	return resolved, nil
}

// Fetch returns the files of the chart, without the top folder of the packaged chart.
func (s *ChartSource) Fetch(ctx context.Context, resolved Resolved) (*Tree, error) {
	image, err := s.image("latest")
	if err != nil {
		return nil, err
	}
	ref := image.at(resolved.Digest)
	manifest, err := s.OCI.manifest(ctx, ref)
	if err != nil {
		return nil, err
	}
	layer, err := chartLayer(manifest)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", ref, err)
	}
	limits := s.OCI.Store.Limits
	if err := checkLayers([]ocispec.Descriptor{layer}, limits.OrDefault()); err != nil {
		return nil, fmt.Errorf("chart %s: %w", ref, err)
	}
	path, err := s.OCI.listed(ctx, image, layer)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", ref, err)
	}
	if err := takeRoomFor(ctx, limits, path); err != nil {
		return nil, err
	}
	return Unpack(path, limits)
}

// image returns the chart's repository with a tag.
func (s *ChartSource) image(tag string) (Image, error) {
	if strings.Contains(s.Repository, "@") || strings.LastIndexByte(s.Repository, ':') > strings.LastIndexByte(s.Repository, '/') {
		// Not quoted: the text before an "@" may be a password.
		return Image{}, sourceInvalid("a chart's repository is host[:port]/path/chart, without tag, digest or login")
	}
	return ParseImage(s.Repository + ":" + tag)
}

// chartLayer returns the chart's layer; a provenance file and other layers may be beside it.
func chartLayer(manifest document) (layer ocispec.Descriptor, err error) {
	count := 0
	for _, each := range manifest.Layers {
		if each.MediaType == mediaTypeChart {
			layer = each
			count++
		}
	}
	if count != 1 {
		return layer, invalid("it has %d layers of media type %s and a Helm chart has one: push it with helm push", count, mediaTypeChart)
	}
	return layer, nil
}

// tagOf returns the tag of a version: tags cannot contain a "+".
func tagOf(version string) string { return strings.ReplaceAll(version, "+", "_") }

// isExact distinguishes a version from a range; "1.2" is a range.
func isExact(version string) bool {
	_, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	return err == nil
}

func parseRange(text string) (*semver.Constraints, error) {
	wanted, err := semver.NewConstraint(cmp.Or(text, "*"))
	if err != nil || len(text) > maxVersion {
		return nil, sourceInvalid("version %s is neither a version nor a range: write 1.2.3, ~1.4 or >=1.2, <2", Quote(text))
	}
	return wanted, nil
}

// pickVersion returns the requested version.
//
//  1. Tags that are not complete semantic versions do not count.
//  2. Prereleases count only if the range names one.
//  3. The newest matching version wins; among equal ones, which differ only in build metadata, the last by name.
func pickVersion(tags []string, wanted *semver.Constraints) (string, error) {
	var best *semver.Version
	picked, versions := "", 0
	for _, tag := range tags {
		name := strings.ReplaceAll(tag, "_", "+")
		version, err := semver.StrictNewVersion(strings.TrimPrefix(name, "v"))
		if err != nil || !tagPattern.MatchString(tag) {
			continue
		}
		versions++
		if !wanted.Check(version) {
			continue
		}
		if order := compareTo(version, best); order > 0 || order == 0 && name > picked {
			best, picked = version, name
		}
	}
	if best == nil {
		return "", &Error{Reason: ReasonContentNotFound, Err: fmt.Errorf(
			"none of its %d versions fits %s: publish one that does, or ask for another (prereleases are taken only when a range names one)",
			versions, Quote(wanted.String()))}
	}
	return picked, nil
}

// compareTo compares two versions; it returns 1 if best is nil.
func compareTo(version, best *semver.Version) int {
	if best == nil {
		return 1
	}
	return version.Compare(best)
}

package communitycatalog

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Annotations with the version and the expiry of a catalog, on all of its objects. They are in the file, and therefore covered by its
// digest and its signature; readers that do not support them see only annotations.
const (
	// AnnotationVersion is the version of the catalog: a number that increases with each catalog.
	AnnotationVersion = v1beta2.OperatorPrefix + "catalog-version"
	// AnnotationExpires is the time from which the catalog is no longer used, in RFC 3339.
	AnnotationExpires = v1beta2.OperatorPrefix + "catalog-expires"
)

// Reasons for the refusal of a catalog with a valid signature: they are reasons of content errors, and of no condition.
const (
	// WhyExpired: the catalog has expired.
	WhyExpired = "CatalogExpired"
	// WhyOutdated: a newer catalog of the source was seen, or the source requires a version and an expiry that the catalog does not have.
	WhyOutdated = "CatalogOutdated"
)

// MaxVersion is the highest version that a catalog may have.
const MaxVersion = 999_999_999_999_999_999

// expiresSoon is how long before the expiry of a catalog a warning begins.
const expiresSoon = 7 * 24 * time.Hour

// Freshness is the version and expiry of a catalog.
type Freshness struct {
	// Version is higher than in all previous catalogs; 0 means none.
	Version int64
	// Expires is the time from which the catalog is no longer used; zero means none.
	Expires time.Time
	// Address is the address that it was built for; empty if the catalog has neither version nor expiry, since the addresses in older catalogs
	// are not enforced.
	Address string
}

// versionPattern is the format of a version: a number of at least 1 that fits in an int64.
var versionPattern = regexp.MustCompile(`^[1-9][0-9]{0,17}$`)

// parseVersion parses the version of a catalog; 0 if there is none.
func parseVersion(text string) (version int64, ok bool) {
	if text == "" {
		return 0, true
	}
	if !versionPattern.MatchString(text) {
		return 0, false
	}
	version, err := strconv.ParseInt(text, 10, 64)
	return version, err == nil
}

// noted are the annotations of an object about its catalog.
type noted struct{ version, expires, address string }

// notedOn returns the annotations of an object about its catalog.
func notedOn(annotations map[string]string) noted {
	n := noted{version: annotations[AnnotationVersion], expires: annotations[AnnotationExpires]}
	if n != (noted{}) {
		n.address = annotations[AnnotationSource]
	}
	return n
}

// freshness parses the annotations.
func (n noted) freshness() (Freshness, error) {
	version, ok := parseVersion(n.version)
	if !ok {
		return Freshness{}, wrong("metadata.annotations["+AnnotationVersion+"]", "%q is no version of a catalog: build it again",
			short(n.version))
	}
	said := Freshness{Version: version, Address: n.address}
	if n.expires == "" {
		return said, nil
	}
	expires, err := time.Parse(time.RFC3339, n.expires)
	if err != nil {
		return Freshness{}, wrong("metadata.annotations["+AnnotationExpires+"]", "%q is no moment: build the catalog again", short(n.expires))
	}
	said.Expires = expires.UTC()
	return said, nil
}

// taken removes the annotations about the catalog from an object: they apply to the whole, and must be the same on all objects.
func (n noted) taken(annotations map[string]string) error {
	if notedOn(annotations) != n {
		return wrong("metadata.annotations", "say another version, expiry or address of the catalog than the objects before: "+
			"two catalogs were put into one; build it of one folder")
	}
	delete(annotations, AnnotationVersion)
	delete(annotations, AnnotationExpires)
	return nil
}

// judge returns why a catalog with this freshness is refused now, or a warning for the users of the catalog:
//
//  1. A catalog that is requested by its digest was chosen deliberately: an expiry is only a warning.
//  2. An expired catalog is refused, signed or not: a copy of it may be served forever.
//  3. A signed catalog must not be below the version that was seen of the source, and must be built for the source's address.
//  4. A catalog without a version is below all others. If no version was seen, it is used with a warning, unless the source requires more.
func (f Freshness) judge(source Source, now time.Time) (warning string, err error) {
	over := !f.Expires.IsZero() && !now.Before(f.Expires)
	if source.pinned() {
		if over {
			warning = source.URL + " expired on " + day(f.Expires) + "; it is used anyway, since its digest is pinned"
		}
		return warning, nil
	}
	if over {
		return "", fail(WhyExpired, "%s%s expired on %s: an old copy may be served in place of a new one. Ask who publishes it to build and "+
			"sign it again; a source with the digest of this one keeps to it", source.URL, f.called(), day(f.Expires))
	}
	if source.Key == "" {
		return "", nil
	}
	if err := f.outdated(source); err != nil {
		return "", err
	}
	switch missing := f.missing(); {
	case missing != "" && source.RequireFreshness:
		return "", fail(WhyOutdated, "%s is signed but has no %s, and the source requires both: an old copy cannot be "+
			"distinguished from the newest one. Ask who publishes it to build it by kyma catalog build --key", source.URL, missing)
	case missing != "":
		return source.URL + " is signed and says no " + missing + ": an old copy of it is not told from the newest one. " +
			"kyma catalog build --key notes both", nil
	case f.Expires.Sub(now) < expiresSoon:
		return source.URL + " expires on " + day(f.Expires) + ", and is refused from then on: it has to be built and signed again before", nil
	}
	return "", nil
}

// Counts returns why a catalog that was read before does not count any more for a source as it is now: it has expired meanwhile, or a newer
// one of the source was seen.
func (c Catalog) Counts(source Source, now time.Time) error {
	_, err := c.Freshness.judge(source, now)
	return err
}

// outdated refuses a signed catalog that is older than one seen before, or a different catalog of the same signer.
func (f Freshness) outdated(source Source) error {
	const anew = "To begin anew with it, remove the source and add it again, or pull the module again where no source is kept"
	switch {
	case f.Version == 0 && source.Version > 0:
		return fail(WhyOutdated, "%s says no version, and version %d of it was seen before: an old catalog is served in place of a newer "+
			"one. Ask who publishes it. %s", source.URL, source.Version, anew)
	case f.Version < source.Version:
		return fail(WhyOutdated, "%s is version %d, and version %d of it was seen before: an old catalog is served in place of a newer one. "+
			"Ask who publishes it. %s", source.URL, f.Version, source.Version, anew)
	case source.Kind == HTTPS && strings.HasPrefix(f.Address, "https://") && twin(f.Address) != twin(source.URL):
		return unsigned("%s serves the catalog that was built for %s, with its signature: add the source with that address, have it built with "+
			"--source %s, or ask for it by its digest", source.URL, short(f.Address), source.URL)
	}
	return nil
}

// twin returns the common part of the addresses of the two files of a catalog.
func twin(address string) string {
	for _, name := range []string{FileYAML, FileJSON} {
		if folder, is := strings.CutSuffix(address, "/"+name); is {
			return folder + "/"
		}
	}
	return address
}

// missing returns the missing parts for a message.
func (f Freshness) missing() string {
	switch {
	case f.Version == 0 && f.Expires.IsZero():
		return "version and no expiry"
	case f.Version == 0:
		return "version"
	case f.Expires.IsZero():
		return "expiry"
	}
	return ""
}

// called returns the version for a message, if there is one.
func (f Freshness) called() string {
	if f.Version == 0 {
		return ""
	}
	return " (version " + strconv.FormatInt(f.Version, 10) + ")"
}

// day returns a time for a message.
func day(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// Seen returns the version of a catalog that was read from the source, if it counts; otherwise 0.
func (s Source) Seen(found Catalog) int64 {
	if !s.Remembers() {
		return 0
	}
	return found.Freshness.Version
}

// pinned reports whether a source accepts only one particular catalog, by its digest.
func (s Source) pinned() bool {
	if s.Digest != "" {
		return true
	}
	image, err := content.ParseImage(strings.TrimPrefix(s.URL, "oci://"))
	return s.Kind == OCI && err == nil && image.Digest != ""
}

// Remembers reports whether the version of a catalog counts for the source: only if a key is required and no digest. Without a key, the
// server could raise the version, so that the right catalog would be refused from then on.
func (s Source) Remembers() bool { return s.Key != "" && !s.pinned() }

package communitycatalog

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// What a catalog notes on everything in it of how fresh it is. It stands inside of the file, and so under its digest and its signature;
// readers that do not know it see annotations.
const (
	// AnnotationVersion is the version of the catalog: a number that is higher in each catalog than in the one before.
	AnnotationVersion = v1beta2.OperatorPrefix + "catalog-version"
	// AnnotationExpires is the moment from which the catalog is not used any more, as RFC 3339 writes it.
	AnnotationExpires = v1beta2.OperatorPrefix + "catalog-expires"
)

// Why a catalog is refused that is signed and whole: reasons of an error of content, and of no condition.
const (
	// WhyExpired: the catalog says that it has ended.
	WhyExpired = "CatalogExpired"
	// WhyOutdated: a newer one was seen of the source, or the source asks for a version and an expiry and there is none.
	WhyOutdated = "CatalogOutdated"
)

// MaxVersion is the highest version that a catalog may have.
const MaxVersion = 999_999_999_999_999_999

// expiresSoon is how long before its end a catalog is warned of.
const expiresSoon = 7 * 24 * time.Hour

// Freshness is what a catalog says of itself.
type Freshness struct {
	// Version is higher than in all catalogs before; 0 says nothing.
	Version int64
	// Expires is when it has ended; zero says nothing.
	Expires time.Time
	// Address is the one that it was built for; empty where it says neither version nor expiry, which addresses of before are not held to.
	Address string
}

// versionPattern is a version as it is noted: a number from 1 on that an int64 holds.
var versionPattern = regexp.MustCompile(`^[1-9][0-9]{0,17}$`)

// parseVersion reads the version of a catalog; 0 where there is none.
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

// noted is what one object says of the catalog that it is in.
type noted struct{ version, expires, address string }

// notedOn reads the annotations of an object.
func notedOn(annotations map[string]string) noted {
	n := noted{version: annotations[AnnotationVersion], expires: annotations[AnnotationExpires]}
	if n != (noted{}) {
		n.address = annotations[AnnotationSource]
	}
	return n
}

// freshness returns what an object says, read.
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

// taken takes what an object says of its catalog off it: it is said of the whole, and all objects must say the same.
func (n noted) taken(annotations map[string]string) error {
	if notedOn(annotations) != n {
		return wrong("metadata.annotations", "say another version, expiry or address of the catalog than the objects before: "+
			"two catalogs were put into one; build it of one folder")
	}
	delete(annotations, AnnotationVersion)
	delete(annotations, AnnotationExpires)
	return nil
}

// judge returns why a catalog that says that of itself is not used now, or what a user should know who uses it:
//
//  1. What is requested by its digest was chosen: its age is told, and refuses nothing.
//  2. One that has ended is refused, signed or not: a copy of it may be served for ever.
//  3. Signed ones are held to what they say: not below the version that was seen of the source, and built for its address.
//  4. One that says no version is below all that do. Where none was seen it is used, with a warning, unless the source asks for more.
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
		return "", fail(WhyOutdated, "%s is signed, says no %s, and the source asks for both: nothing tells an old copy of it from the "+
			"newest one. Ask who publishes it to build it by kyma catalog build --key", source.URL, missing)
	case missing != "":
		return source.URL + " is signed and says no " + missing + ": an old copy of it is not told from the newest one. " +
			"kyma catalog build --key notes both", nil
	case f.Expires.Sub(now) < expiresSoon:
		return source.URL + " expires on " + day(f.Expires) + ", and is refused from then on: it has to be built and signed again before", nil
	}
	return "", nil
}

// outdated refuses a signed catalog that is older than one that was seen, or another one of the same signer.
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

// twin returns what the addresses of the two files of one catalog have in common.
func twin(address string) string {
	for _, name := range []string{FileYAML, FileJSON} {
		if folder, is := strings.CutSuffix(address, "/"+name); is {
			return folder + "/"
		}
	}
	return address
}

// missing returns what a catalog does not say, in words.
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

// called returns the version in a sentence, where there is one.
func (f Freshness) called() string {
	if f.Version == 0 {
		return ""
	}
	return " (version " + strconv.FormatInt(f.Version, 10) + ")"
}

// day returns a moment in a sentence.
func day(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// Seen returns the version of a catalog that was read from the source, as far as it counts; 0 where it does not.
func (s Source) Seen(found Catalog) int64 {
	if !s.Remembers() {
		return 0
	}
	return found.Freshness.Version
}

// pinned reports whether a source asks for one catalog and no other, by its digest.
func (s Source) pinned() bool {
	if s.Digest != "" {
		return true
	}
	image, err := content.ParseImage(strings.TrimPrefix(s.URL, "oci://"))
	return s.Kind == OCI && err == nil && image.Digest != ""
}

// Remembers reports whether the version of a catalog counts for the source: where a key vouches for it, and no digest is requested.
// Elsewhere its server could raise the version, so that the right one is refused from then on.
func (s Source) Remembers() bool { return s.Key != "" && !s.pinned() }

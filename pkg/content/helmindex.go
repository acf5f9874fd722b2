package content

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v2"
)

const (
	// maxIndex is above the largest public index (about 20 MiB) and limits the cost of reading one.
	maxIndex = 32 << 20
	// maxVersion is the maximum length of a version.
	maxVersion = 256
	// maxListed is how many versions an error lists.
	maxListed = 5
	// nameColumn is the column in which Helm writes the names of charts.
	nameColumn = 2
	// maxVersions is how many versions of one chart are read; no public chart has a tenth of that.
	maxVersions = 20_000
	// maxMarks limits what is parsed as YAML, by the characters that can begin a node: a text of only those takes a few hundred bytes of
	// memory for each. 30 MiB of descriptions have half as many.
	maxMarks = 1 << 20
	// fewMarks is the size that may be parsed while another index is.
	fewMarks = 20_000
)

// readingIndex serializes the parsing of large indexes: each takes a few hundred MiB temporarily.
var readingIndex sync.Mutex

// plainName matches names that YAML does not quote.
var plainName = regexp.MustCompile(`^[A-Za-z][-A-Za-z0-9_.]*$`)

// indexEntry is one version of one chart.
type indexEntry struct {
	Version string   `yaml:"version"`
	URLs    []string `yaml:"urls"`
	Digest  string   `yaml:"digest"`
}

// index is the part of an index.yaml that is read. Of every version three fields are kept; most of a large index is descriptions.
type index struct {
	Entries map[string][]indexEntry `yaml:"entries"`
}

// decodeIndex returns the versions of one chart from a repository's index. Helm's own package is not used because it brings a WebAssembly
// runtime, and because it requires all charts to be valid: here, errors in other charts do not matter.
func decodeIndex(data []byte, chart string) ([]indexEntry, error) {
	found, ok, err := entriesOf(data, chart)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, notFound("its index.yaml has no chart %s: correct the name, or publish it", Quote(chart))
	}
	usable := slices.DeleteFunc(found, func(entry indexEntry) bool { return entry.Version == "" || len(entry.Version) > maxVersion })
	if len(usable) == 0 {
		return nil, notFound("its index.yaml has no version of chart %s that can be read", Quote(chart))
	}
	return usable, nil
}

// entriesOf tries the cheap methods first: parsing 30 MiB of YAML takes six seconds and 400 MiB of memory as a whole, and next to nothing
// for the lines of one chart.
//
//  1. JSON, which is YAML too.
//  2. The lines of the chart, if the index has Helm's layout.
//  3. The whole index.
func entriesOf(data []byte, chart string) (found []indexEntry, ok bool, err error) {
	if found, ok, understood, err := jsonIndex(data, chart); understood {
		return found, ok, err
	}
	if lines, understood := chartLines(data, chart); understood {
		if lines == nil {
			return nil, false, nil
		}
		read, err := parseIndex(lines)
		if ReasonOf(err) == ReasonContentTooLarge {
			return nil, false, err
		}
		if err == nil && len(read.Entries) == 1 {
			return read.versions(chart)
		}
	}
	read, err := parseIndex(data)
	switch {
	case ReasonOf(err) == ReasonContentTooLarge:
		return nil, false, err
	case err != nil:
		return nil, false, invalid("its index.yaml cannot be read: %w", err)
	case read.Entries == nil:
		return nil, false, invalid("its index.yaml lists no charts: is this the URL of a Helm repository?")
	}
	return read.versions(chart)
}

func (i index) versions(chart string) (found []indexEntry, ok bool, err error) {
	found, ok = i.Entries[chart]
	if len(found) > maxVersions {
		return nil, false, tooManyVersions(chart)
	}
	return found, ok, nil
}

func tooManyVersions(chart string) error {
	return tooLarge("its index.yaml has more than %d versions of chart %s: remove old ones", maxVersions, Quote(chart))
}

// parseIndex ignores fields of an unexpected type. It refuses a text that would take far more memory than an index does.
func parseIndex(data []byte) (read index, err error) {
	count := marks(data)
	if count > maxMarks {
		return read, tooLarge("its index.yaml has more than %d lists, fields and lines: lay it out as helm repo index does, or make it smaller",
			maxMarks)
	}
	if count > fewMarks {
		readingIndex.Lock()
		defer readingIndex.Unlock()
	}
	err = yaml.Unmarshal(data, &read)
	if _, wrongType := errors.AsType[*yaml.TypeError](err); wrongType {
		err = nil
	}
	return read, err
}

// marks counts the characters of YAML that can begin a node.
func marks(data []byte) (count int) {
	for _, mark := range []string{"\n", ",", "[", "{", "- ", "? "} {
		count += bytes.Count(data, []byte(mark))
	}
	return count
}

// chartLines returns the lines of one chart in an index with Helm's layout: "entries:" in the first column, the names of charts in the
// third, and the fields of a chart deeper, or as a list in the third column. In YAML only a name can then be in that position. understood
// reports whether the index has that layout; lines is nil if it does not contain the chart.
func chartLines(data []byte, chart string) (lines []byte, understood bool) {
	inside, wanted := false, false
	for line := range bytes.Lines(data) {
		text := bytes.TrimRight(line, " \r\n")
		deep := len(text) - len(bytes.TrimLeft(text, " "))
		switch {
		case !inside:
			inside = string(text) == "entries:"
			continue
		case len(text) == deep, text[deep] == '#' && deep <= nameColumn:
			continue
		case deep == 0:
			return lines, understood
		case deep == nameColumn && text[deep] != '-':
			name, ok := strings.CutSuffix(string(text[deep:]), ":")
			if !ok || !plainName.MatchString(name) {
				return nil, false
			}
			wanted, understood = name == chart && lines == nil, true
			if wanted {
				lines = []byte("entries:\n")
			}
		case deep < nameColumn, !understood:
			return nil, false
		}
		if wanted {
			lines = append(lines, line...)
		}
	}
	return lines, understood
}

// pickEntry returns the requested version.
//
//  1. The version that is identical to the requested one.
//  2. The newest that matches the range; without a range, the newest that is not a pre-release.
//  3. Among equally new ones, which differ in their build metadata, the one that sorts last.
func pickEntry(entries []indexEntry, want string) (indexEntry, error) {
	for _, entry := range entries {
		if entry.Version == want {
			return entry, nil
		}
	}
	fits, err := semver.NewConstraint(cmp.Or(want, "*"))
	if err != nil || len(want) > maxVersion {
		return indexEntry{}, sourceInvalid("version %s is neither a version nor a range: write 1.2.3 or ^1.2", Quote(want))
	}
	var best indexEntry
	var newest *semver.Version
	for _, entry := range entries {
		version, err := semver.NewVersion(entry.Version)
		if err != nil || !fits.Check(version) {
			continue
		}
		if newest == nil || cmp.Or(version.Compare(newest), strings.Compare(entry.Version, best.Version)) > 0 {
			best, newest = entry, version
		}
	}
	if newest == nil {
		return indexEntry{}, notFound("no version fits %s; there are %s", Quote(cmp.Or(want, "without pre-releases")), listed(entries))
	}
	return best, nil
}

func listed(entries []indexEntry) string {
	names := make([]string, 0, maxListed)
	for _, entry := range entries[:min(len(entries), maxListed)] {
		names = append(names, Quote(entry.Version))
	}
	list := strings.Join(names, ", ")
	if more := len(entries) - maxListed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// copyHashed copies up to most bytes and returns their digest.
func copyHashed(into io.Writer, from io.Reader, most int64) (digest string, err error) {
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(into, sum), io.LimitReader(from, most+1))
	if err != nil {
		return "", fmt.Errorf("receive content: %w", err)
	}
	if size > most {
		return "", tooLarge("it has more than the accepted %d bytes: make it smaller or raise the limit", most)
	}
	return digestPrefix + hexSum(sum), nil
}

func notFound(format string, args ...any) error {
	return &Error{Reason: ReasonContentNotFound, Err: fmt.Errorf(format, args...)}
}

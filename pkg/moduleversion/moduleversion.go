// Package moduleversion compares versions of modules. There are two comparisons, which must not be confused: users and catalogs order
// versions by semantic versioning, pre-releases included; the lifecycle manager's rule against downgrades ignores pre-releases.
//
// Non-goals: it selects no version for a channel and validates none.
package moduleversion

import (
	"cmp"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Compare orders versions by semantic versioning, and those of equal precedence as text. A text that is no version is below all versions,
// and ordered as text among its kind. The result is negative, zero or positive, as that of cmp.Compare.
func Compare(a, b string) int {
	left, leftErr := semver.NewVersion(a)
	right, rightErr := semver.NewVersion(b)
	switch {
	case leftErr == nil && rightErr == nil:
		return cmp.Or(left.Compare(right), cmp.Compare(a, b))
	case leftErr == nil:
		return 1
	case rightErr == nil:
		return -1
	}
	return cmp.Compare(a, b)
}

// IsLower reports whether version a precedes b by semantic versioning: 1.0.0-rc precedes 1.0.0. A text that is no version is neither lower
// nor higher than any other.
func IsLower(a, b string) bool {
	left, right, ok := parse(a, b)
	return ok && left.LessThan(right)
}

// IsDowngrade reports whether version to is below from by major, minor and patch. Pre-releases do not count, as in the public
// lifecycle-manager: from 1.0.0 to 1.0.0-rc is no downgrade. A text that is no version is neither lower nor higher than any other.
func IsDowngrade(from, to string) bool {
	before, after, ok := parse(from, to)
	return ok && core(after).LessThan(core(before))
}

func parse(a, b string) (left, right *semver.Version, ok bool) {
	left, leftErr := semver.NewVersion(a)
	right, rightErr := semver.NewVersion(b)
	return left, right, leftErr == nil && rightErr == nil
}

func core(version *semver.Version) *semver.Version {
	return semver.New(version.Major(), version.Minor(), version.Patch(), "", "")
}

// Satisfies reports whether a version is in a range such as ">=1.2.0 <2". An empty range has none, and a pre-release is only in one that
// names a pre-release. The error says what is wrong with the range; a text that is no version is in no range.
func Satisfies(version, within string) (bool, error) {
	if strings.TrimSpace(within) == "" {
		return false, nil
	}
	constraint, err := semver.NewConstraint(within)
	if err != nil {
		return false, err
	}
	parsed, err := semver.NewVersion(version)
	return err == nil && constraint.Check(parsed), nil
}

package catalogcmd

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
)

const (
	// defaultExpiry is how long a signed catalog is used by default: authors who publish one less often than twice a year must set a longer
	// time, and readers of an old copy notice it within that time.
	defaultExpiry = "180d"
	// never is the value of --expires for a catalog without an expiry.
	never = "never"
	// mostDays is far above every --expires that makes sense.
	mostDays = 100 * 365
)

// options returns what the catalog states about itself, at a time.
func (b *building) options(ctx context.Context, now time.Time) (communitycatalog.BuildOptions, error) {
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	updated, err := day(b.updated, epoch)
	if err != nil {
		return communitycatalog.BuildOptions{}, err
	}
	fresh, err := b.freshness(ctx, epoch, now)
	return communitycatalog.BuildOptions{Source: b.source, Updated: updated, Version: fresh.Version, Expires: fresh.Expires}, err
}

// freshness returns the values of the flags; otherwise those of the files that --check compares; otherwise, with a key, those of the
// clock.
func (b *building) freshness(ctx context.Context, epoch string, now time.Time) (fresh communitycatalog.Freshness, err error) {
	if b.version < 0 || b.version > communitycatalog.MaxVersion {
		return fresh, console.Usage("--version=%d is no version of a catalog", b.version).
			With("use a number from 1 to %d", communitycatalog.MaxVersion)
	}
	clock := now
	if epoch != "" {
		if clock, err = day("", epoch); err != nil {
			return fresh, err
		}
	}
	switch {
	case b.check && epoch == "":
		fresh = b.there(ctx)
	case b.key != "":
		fresh.Version = clock.Unix()
		fresh.Expires, _ = expiry(defaultExpiry, clock) // the default is valid
	}
	fresh.Version = cmp.Or(b.version, fresh.Version)
	if b.expires != "" {
		if fresh.Expires, err = expiry(b.expires, clock); err != nil {
			return fresh, err
		}
	}
	if !b.check && !fresh.Expires.IsZero() && !fresh.Expires.After(now) {
		return fresh, console.Usage("the catalog would have expired on %s, so that readers refuse it", fresh.Expires.Format(time.RFC3339)).
			With("set a later day by --expires, or build without SOURCE_DATE_EPOCH")
	}
	return fresh, nil
}

// there returns the freshness of the catalog that was built before; empty if there is none.
func (b *building) there(ctx context.Context) communitycatalog.Freshness {
	text, err := userfile.Read(ctx, filepath.Join(b.to, communitycatalog.FileYAML))
	if err != nil {
		return communitycatalog.Freshness{}
	}
	found, err := communitycatalog.Parse(text)
	if err != nil {
		return communitycatalog.Freshness{} // --check reports it as a file that differs
	}
	return found.Freshness
}

// expiry parses --expires; zero means no expiry.
func expiry(text string, now time.Time) (time.Time, error) {
	if text == "" || text == never {
		return time.Time{}, nil
	}
	if days, is := strings.CutSuffix(text, "d"); is {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= mostDays {
			return now.UTC().Truncate(time.Second).AddDate(0, 0, n), nil
		}
	} else if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at, nil
	}
	return time.Time{}, console.Usage("--expires=%s is no day", text).With("write it as 2026-12-31, as days from now such as 180d, or never")
}

// day returns the day of a catalog: that of the flag, or else of the environment, or else none.
func day(flag, epoch string) (time.Time, error) {
	switch {
	case flag != "":
		at, err := time.Parse(time.DateOnly, flag)
		if err != nil {
			return at, console.Usage("--updated=%s is no day", flag).With("write it as 2026-01-31")
		}
		return at, nil
	case epoch != "":
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return time.Time{}, console.Usage("SOURCE_DATE_EPOCH is no number of seconds")
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	return time.Time{}, nil
}

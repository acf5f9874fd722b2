package revision_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

const (
	byItself = v1beta2.ReasonProgressDeadlineExceeded
	// back is the outcome of what went back by itself.
	back = "RolledBack " + byItself
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// key returns the key of a version; "1.2.0/b" has other content than "1.2.0", which has content "a", and "1.2.0#B" another template.
func key(text string) revision.Key {
	text, template, edited := strings.Cut(text, "#")
	if !edited {
		template = "0"
	}
	version, content, named := strings.Cut(text, "/")
	if !named {
		content = "a"
	}
	return revision.Key{Version: version, Digest: "sha256:" + strings.Repeat(content, 64), Template: strings.Repeat(template, 16)}
}

func refer(text string) string { return revision.Reference(key(text).Version, key(text).Digest) }

// history reads "3 1.2.0 Succeeded, 4 1.3.0/b Failed ObjectFailed, 5 1.4.0".
func history(text string) []v1beta2.Revision {
	var known []v1beta2.Revision
	for line := range strings.SplitSeq(text, ", ") {
		fields := append(strings.Fields(line), "", "")
		if len(fields) < 4 {
			continue
		}
		k := key(fields[1])
		r := v1beta2.Revision{Version: k.Version, Digest: k.Digest, Template: k.Template, At: metav1.NewTime(noon)}
		if _, err := fmt.Sscan(fields[0], &r.Number); err != nil {
			panic(err)
		}
		r.Outcome, r.Reason = v1beta2.RevisionOutcome(fields[2]), fields[3]
		known = append(known, r)
	}
	return known
}

// written is the opposite of history.
func written(known []v1beta2.Revision) string {
	lines := make([]string, 0, len(known))
	for _, r := range known {
		version := r.Version
		if content := r.Digest[len(r.Digest)-1:]; content != "a" {
			version += "/" + content
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s %s %s", r.Number, version, r.Outcome, r.Reason)))
	}
	return strings.Join(lines, ", ")
}

func TestBegin(t *testing.T) {
	for _, test := range []struct{ sentence, have, begins, reason, want string }{
		{"the first has number 1", "", "1.0.0", "", "1 1.0.0"},
		{"what is asked for already begins nothing", "3 1.0.0 Succeeded", "1.0.0", byItself, "3 1.0.0 Succeeded"},
		{"what has not ended is superseded", "1 1.0.0", "1.1.0", "", "1 1.0.0 Superseded, 2 1.1.0"},
		{"what succeeded stays so when a later version follows", "1 1.0.0 Succeeded", "1.1.0", "", "1 1.0.0 Succeeded, 2 1.1.0"},
		{"what failed stays so", "1 1.0.0 Failed ObjectFailed", "1.1.0", "", "1 1.0.0 Failed ObjectFailed, 2 1.1.0"},
		{"a lower version takes back what has not ended", "1 1.1.0", "1.0.0", byItself, "1 1.1.0 " + back + ", 2 1.0.0"},
		{"a lower version takes back what succeeded", "1 1.1.0 Succeeded", "1.0.0", "Rollout", "1 1.1.0 RolledBack Rollout, 2 1.0.0"},
		{"a lower version takes back what failed", "1 1.1.0 Failed ObjectFailed", "1.0.0", "", "1 1.1.0 RolledBack Requested, 2 1.0.0"},
		{"a pre-release is lower than its release", "1 1.1.0", "1.1.0-rc", "", "1 1.1.0 RolledBack Requested, 2 1.1.0-rc"},
		{"what the operator did not write, a person did", "1 1.1.0", "1.0.0", "rm -rf", "1 1.1.0 RolledBack Requested, 2 1.0.0"},
		{"content published again follows", "1 1.0.0 Succeeded", "1.0.0/b", "", "1 1.0.0 Succeeded, 2 1.0.0/b"},
		{
			"the content before it is published once more, whatever annotation is there: a way back leads to another version",
			"1 1.0.0 Succeeded, 2 1.0.0/b", "1.0.0", byItself, "1 1.0.0 Succeeded, 2 1.0.0/b Superseded, 3 1.0.0",
		},
		{
			"what succeeded stays a way back then, and what failed is not held",
			"1 1.0.0 Succeeded, 2 1.0.0/b Failed A", "1.0.0", byItself, "1 1.0.0 Succeeded, 2 1.0.0/b Failed A, 3 1.0.0",
		},
		{
			"a template that is edited there and back, after a way back, is none: what was gone back from stays held",
			"1 1.1.0 " + back + ", 2 1.0.0 Succeeded, 3 1.0.0/b Succeeded", "1.0.0", byItself,
			"1 1.1.0 " + back + ", 2 1.0.0 Succeeded, 3 1.0.0/b Succeeded, 4 1.0.0",
		},
		{
			"of versions that cannot be compared the history tells which came first", "1 one Succeeded, 2 two", "one", byItself,
			"1 one Succeeded, 2 two " + back + ", 3 one",
		},
		{
			"nor does it when a later version follows", "1 1.1.0 " + back + ", 2 1.0.0 Succeeded", "1.1.0", byItself,
			"1 1.1.0 " + back + ", 2 1.0.0 Succeeded, 3 1.1.0",
		},
		{"versions that cannot be compared follow each other", "1 one Succeeded", "two", "", "1 one Succeeded, 2 two"},
		{
			"three are kept", "1 1.0.0 Succeeded, 2 1.1.0 Succeeded, 3 1.2.0 Succeeded", "1.3.0", "",
			"2 1.1.0 Succeeded, 3 1.2.0 Succeeded, 4 1.3.0",
		},
		{
			"the newest that succeeded is kept", "1 1.0.0 Succeeded, 2 1.1.0, 3 1.2.0, 4 1.3.0", "1.4.0", "",
			"1 1.0.0 Succeeded, 3 1.2.0, 4 1.3.0 Superseded, 5 1.4.0",
		},
		{
			"the newest that failed is kept", "1 1.0.0 Failed A, 2 1.1.0 Failed B, 3 1.2.0 Succeeded, 4 1.3.0 Succeeded", "1.4.0", "",
			"2 1.1.0 Failed B, 3 1.2.0 Succeeded, 4 1.3.0 Succeeded, 5 1.4.0",
		},
		{
			"so is the one that a person went back from", "1 1.1.0 RolledBack Requested, 2 1.0.0 Succeeded, 3 1.2.0 Succeeded, 4 1.3.0", "1.4.0", "",
			"1 1.1.0 RolledBack Requested, 3 1.2.0 Succeeded, 4 1.3.0 Superseded, 5 1.4.0",
		},
		{
			"what is held is worth more than what failed later",
			"1 1.9.0 " + back + ", 2 1.0.0 Succeeded, 3 1.1.0 Failed A, 4 1.2.0", "1.3.0", "",
			"1 1.9.0 " + back + ", 2 1.0.0 Succeeded, 3 1.1.0 Failed A, 4 1.2.0 Superseded, 5 1.3.0",
		},
		{
			"five are the most", "1 1.0.0 Failed A, 2 1.1.0 Succeeded, 3 1.2.0, 4 1.3.0, 5 1.4.0", "1.5.0", "",
			"1 1.0.0 Failed A, 2 1.1.0 Succeeded, 4 1.3.0, 5 1.4.0 Superseded, 6 1.5.0",
		},
	} {
		have := history(test.have)
		got := revision.Begin(have, key(test.begins), v1beta2.StateReady, test.reason, noon)
		if written(got) != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.sentence, written(got), test.want)
		}
		if written(have) != test.have {
			t.Errorf("%s: the history that was passed is now %s", test.sentence, written(have))
		}
	}
}

func TestBegin_SaysWhenAndFromWhat(t *testing.T) {
	got := revision.Begin(nil, key("1.0.0"), v1beta2.StateWarning, "", noon.Add(time.Millisecond))
	want := v1beta2.Revision{
		Number: 1, Version: "1.0.0", Digest: key("1.0.0").Digest, Template: key("1.0.0").Template, At: metav1.NewTime(noon),
		Before: v1beta2.StateWarning,
	}
	if len(got) != 1 || !got[0].At.Equal(&want.At) || got[0].Before != want.Before || revision.KeyOf(got[0]) != key("1.0.0") {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestEnd(t *testing.T) {
	const succeeded, failed = v1beta2.RevisionSucceeded, v1beta2.RevisionFailed
	for _, test := range []struct {
		sentence, have string
		outcome        v1beta2.RevisionOutcome
		reason, want   string
	}{
		{"nothing begun ends nothing", "", succeeded, "", ""},
		{"it succeeds, which needs no reason", "1 1.0.0 Failed A, 2 1.1.0", succeeded, "Ready", "1 1.0.0 Failed A, 2 1.1.0 Succeeded"},
		{"it fails", "2 1.1.0", failed, "ObjectFailed", "2 1.1.0 Failed ObjectFailed"},
		{"success takes the place of failure", "2 1.1.0 Failed ObjectFailed", succeeded, "", "2 1.1.0 Succeeded"},
		{"the first failure stays", "2 1.1.0 Failed ObjectFailed", failed, "Other", "2 1.1.0 Failed ObjectFailed"},
		{"what succeeded does not fail later", "2 1.1.0 Succeeded", failed, "ObjectFailed", "2 1.1.0 Succeeded"},
		{"only Begin takes back", "2 1.1.0", v1beta2.RevisionRolledBack, "Requested", "2 1.1.0"},
	} {
		have := history(test.have)
		if got := written(revision.End(have, test.outcome, test.reason)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.sentence, got, test.want)
		}
		if written(have) != test.have {
			t.Errorf("%s: the history that was passed is now %s", test.sentence, written(have))
		}
	}
}

func TestWayBack(t *testing.T) {
	for _, test := range []struct {
		sentence, have, leaves, avoid string
		chosen, want                  int64
	}{
		{"nothing happened yet", "", "", "", 0, 0},
		{"nothing succeeded", "1 1.0.0 Failed A, 2 1.1.0", "", "", 0, 0},
		{"the newest that succeeded", "1 1.0.0 Succeeded, 2 1.1.0 Succeeded, 3 1.2.0", "", "", 0, 2},
		{"what is installed may be it", "1 1.1.0 RolledBack Requested, 2 1.0.0 Succeeded", "1.1.0", "", 0, 2},
		{"not what is left", "1 1.0.0 Succeeded, 2 1.1.0 Succeeded, 3 1.2.0", "1.1.0", "", 0, 1},
		{"nor that with an earlier template", "1 1.0.0 Succeeded, 2 1.1.0#A Succeeded, 3 1.1.0#B", "1.1.0#B", "", 0, 1},
		{"not what a person avoids", "1 1.0.0 Succeeded, 2 1.1.0 Succeeded, 3 1.2.0", "1.2.0", "1.1.0", 0, 1},
		{"whatever its template", "1 1.0.0 Succeeded, 2 1.1.0#A Succeeded, 3 1.1.0#B Succeeded, 4 1.2.0", "1.2.0", "1.1.0", 0, 1},
		{"other content of the version that is avoided", "1 1.1.0 Succeeded, 2 1.1.0/b Succeeded", "", "1.1.0/b", 0, 1},
		{"not what was gone back from since", "1 1.0.0 Succeeded, 2 1.1.0 Succeeded, 3 1.1.0 RolledBack Requested, 4 1.0.0", "", "", 0, 1},
		{"not even when it is the only one", "2 1.1.0 Succeeded, 3 1.1.0 RolledBack Requested, 4 1.0.0", "", "", 0, 0},
		{"it may have been gone back from before", "1 1.1.0 RolledBack Requested, 2 1.0.0 Succeeded, 3 1.1.0 Succeeded, 4 1.2.0", "", "", 0, 3},
		{"so it may by itself, and succeed when a person retries", "1 1.1.0 " + back + ", 2 1.0.0 Succeeded, 3 1.1.0 Succeeded, 4 1.2.0", "1.2.0", "", 0, 3},
		{
			"a corrected template of what went back by itself succeeded later", "1 1.0.0 Succeeded, 2 1.1.0#A " + back +
				", 3 1.0.0 Succeeded, 4 1.1.0#B Succeeded, 5 1.2.0", "1.2.0", "", 0, 4,
		},
		{
			"a failure on the way back leads no further back", "1 1.0.0 Succeeded, 2 1.1.0 Succeeded, 3 1.2.0 RolledBack A, 4 1.1.0 Failed A",
			"1.2.0", "", 0, 2,
		},
		{"a person chooses another one", "1 1.0.0 Succeeded, 2 1.1.0 Succeeded, 3 1.2.0", "1.2.0", "1.2.0", 1, 1},
		{"even one that failed", "1 1.0.0 Succeeded, 2 1.1.0 Failed A, 3 1.2.0", "1.2.0", "1.2.0", 2, 2},
		{"not what is left with another template", "1 1.1.0#A Succeeded, 2 1.1.0#B", "1.1.0#B", "1.1.0", 1, 0},
		{"nor what is avoided while another version is left", "1 1.0.0 Succeeded, 2 1.1.0, 3 1.2.0", "1.2.0", "1.1.0", 2, 0},
		{"a choice without a version to avoid says nothing", "1 1.0.0 Succeeded, 2 1.1.0 Succeeded, 3 1.2.0", "1.2.0", "", 1, 2},
		{"a choice that is not kept any more leaves the newest that succeeded", "2 1.1.0 Succeeded, 3 1.2.0", "1.2.0", "1.2.0", 1, 2},
	} {
		var leaves revision.Key
		if test.leaves != "" {
			leaves = key(test.leaves)
		}
		if test.avoid != "" {
			test.avoid = refer(test.avoid)
		}
		got, ok := revision.WayBack(history(test.have), leaves, test.avoid, test.chosen)
		if ok != (test.want > 0) || ok && got.Number != test.want {
			t.Errorf("%s: revision %d, %v, want %d", test.sentence, got.Number, ok, test.want)
		}
	}
}

func TestWayBack_AContentThatIsNotKnownIsEveryOneOfTheVersion(t *testing.T) {
	known := history("1 1.0.0 Succeeded, 2 1.1.0 Succeeded, 3 1.1.0/b Succeeded")
	if got, ok := revision.WayBack(known, revision.Key{Version: "1.1.0"}, "", 0); !ok || got.Number != 1 {
		t.Errorf("revision %d, %v", got.Number, ok)
	}
}

func TestHeld(t *testing.T) {
	for _, test := range []struct {
		sentence, have string
		retry          int64
		want           string
	}{
		{"nothing happened yet", "", 0, ""},
		{"a failure alone holds nothing", "1 1.0.0 Failed " + byItself + ", 2 1.1.0", 0, ""},
		{"what went back by itself", "1 1.1.0 " + back + ", 2 1.0.0 Succeeded", 0, refer("1.1.0")},
		{"not what a person went back from", "1 1.1.0 RolledBack Requested, 2 1.0.0 Succeeded", 0, ""},
		{"not what a rollout took back", "1 1.1.0 RolledBack Rollout, 2 1.0.0 Succeeded", 0, ""},
		{"the last of several", "1 1.1.0 " + back + ", 2 1.0.0, 3 1.2.0 " + back + ", 4 1.0.0", 0, refer("1.2.0")},
		{"a retry releases it", "1 1.1.0 " + back + ", 2 1.0.0 Succeeded", 1, ""},
		{"a retry releases earlier ones, too", "1 1.1.0 " + back + ", 2 1.0.0 Succeeded, 3 1.2.0 " + back, 3, ""},
		{"a retry of an earlier one releases no later one", "1 1.1.0 " + back + ", 2 1.0.0, 3 1.2.0 " + back, 1, refer("1.2.0")},
		{"a retry of what was never begun releases nothing", "1 1.1.0 " + back + ", 2 1.0.0 Succeeded", 3, refer("1.1.0")},
		{"what succeeded in a retry is not, even without that retry", "1 1.1.0 " + back + ", 2 1.0.0, 3 1.1.0 Succeeded", 0, ""},
		{"what failed again is held again", "1 1.1.0 " + back + ", 2 1.0.0, 3 1.1.0 " + back + ", 4 1.0.0", 1, refer("1.1.0")},
		{"what a person went back from after the retry is not", "1 1.1.0 " + back + ", 2 1.0.0, 3 1.1.0 RolledBack Requested, 4 1.0.0", 0, ""},
	} {
		if got := revision.Held(history(test.have), test.retry); got != test.want {
			t.Errorf("%s: %q, want %q", test.sentence, got, test.want)
		}
		held, ok := revision.Holding(history(test.have), test.retry)
		if ok != (test.want != "") || ok && revision.ReferenceOf(held) != test.want {
			t.Errorf("%s: revision %d, %v, want %q", test.sentence, held.Number, ok, test.want)
		}
	}
}

func TestParseReference(t *testing.T) {
	if version, digest, ok := revision.ParseReference(refer("1.2.0-rc.1")); version != "1.2.0-rc.1" || digest != key("").Digest || !ok {
		t.Errorf("version %q, digest %q, %v", version, digest, ok)
	}
	for _, text := range []string{
		"", "1.2.0", "@" + layerA, "1.2.0@", "1.2.0@sha256:", "1.2.0@sha512:" + layerA[7:], "1.2.0@" + layerA + "0",
		"1.2.0@" + strings.ToUpper(layerA), "1.2.0@1@" + layerA,
	} {
		if version, digest, ok := revision.ParseReference(text); version != "" || digest != "" || ok {
			t.Errorf("%q is read as version %q, digest %q", text, version, digest)
		}
	}
}

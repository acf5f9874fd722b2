package moduleversion_test

import (
	"slices"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

func TestVersionsAreCompared(t *testing.T) {
	for _, test := range []struct {
		a, b             string
		lower, downgrade bool // a is lower than b; from b to a is a downgrade
	}{
		{"1.0.0", "1.0.1", true, true},
		{"1.9.0", "1.10.0", true, true},
		{"v1.0.0", "1.0.1", true, true},
		{"1.0.0", "1.0.0", false, false},
		{"v1.0.0", "1.0.0", false, false},
		{"1.0.0-rc", "1.0.0", true, false},
		{"1.0.0-alpha", "1.0.0-beta", true, false},
		{"1.0.0-rc", "1.0.1-rc", true, true},
		{"1.0.0+a", "1.0.0+b", false, false},
		{"latest", "1.0.0", false, false},
		{"1.0.0", "latest", false, false},
		{"", "1.0.0", false, false},
	} {
		if got := moduleversion.IsLower(test.a, test.b); got != test.lower {
			t.Errorf("%q is lower than %q: %v", test.a, test.b, got)
		}
		if got := moduleversion.IsDowngrade(test.b, test.a); got != test.downgrade {
			t.Errorf("from %q to %q is a downgrade: %v", test.b, test.a, got)
		}
	}
}

func TestVersionsAreOrderedTotally(t *testing.T) {
	want := []string{"", "latest", "x", "1.0.0-alpha", "1.0.0-rc", "1.0.0", "v1.0.0", "1.9.0", "1.10.0"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, moduleversion.Compare)
	for i := range len(want) - 1 {
		if below, above := moduleversion.Compare(want[i], want[i+1]), moduleversion.Compare(want[i+1], want[i]); below >= 0 || above <= 0 {
			t.Errorf("%q against %q is %d, the other way round %d", want[i], want[i+1], below, above)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

// FuzzCompare holds that Compare is an order, and agrees with the two other comparisons.
func FuzzCompare(f *testing.F) {
	f.Add("1.0.0", "v1.0.0-rc.1", "x")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if moduleversion.Compare(a, b) != -moduleversion.Compare(b, a) || (moduleversion.Compare(a, b) == 0) != (a == b) {
			t.Fatalf("%q and %q are ordered both ways", a, b)
		}
		if moduleversion.Compare(a, b) <= 0 && moduleversion.Compare(b, c) <= 0 && moduleversion.Compare(a, c) > 0 {
			t.Fatalf("%q, %q and %q have no order", a, b, c)
		}
		if moduleversion.IsLower(a, b) && moduleversion.Compare(a, b) >= 0 || moduleversion.IsDowngrade(b, a) && !moduleversion.IsLower(a, b) {
			t.Fatalf("%q and %q are compared in two ways", a, b)
		}
	})
}

func TestAVersionIsInARange(t *testing.T) {
	for _, test := range []struct {
		version, within string
		want, broken    bool
	}{
		{"1.2.0", ">=1.2.0 <2", true, false},
		{"v1.9.9", ">=1.2.0 <2", true, false},
		{"2.0.0", ">=1.2.0 <2", false, false},
		{"1.2.0-rc", ">=1.0.0", false, false},
		{"1.2.0-rc", ">=1.2.0-0", true, false},
		{"1.0.0", "1.0.0 || 3.x", true, false},
		{"1.0.0", "", false, false},
		{"1.0.0", " ", false, false},
		{"latest", "*", false, false},
		{"1.0.0", "newer", false, true},
	} {
		got, err := moduleversion.Satisfies(test.version, test.within)
		if got != test.want || (err != nil) != test.broken {
			t.Errorf("%q is in %q: %v, %v", test.version, test.within, got, err)
		}
	}
}

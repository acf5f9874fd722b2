package report

import (
	"math"
	"strconv"
	"strings"
)

// Figure writes a number as users read it: three significant digits below a thousand, whole and grouped above, so that counted figures up
// to a million stay exact.
func Figure(v float64) string {
	abs := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "n/a"
	case v == math.Trunc(v) || abs >= 1000:
		return group(strconv.FormatFloat(math.Round(v), 'f', 0, 64))
	case abs >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case abs >= 10:
		return trim(strconv.FormatFloat(v, 'f', 1, 64))
	case abs >= 1:
		return trim(strconv.FormatFloat(v, 'f', 2, 64))
	}
	return trim(strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(abs))), 64))
}

// group puts a comma between thousands.
func group(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// trim drops zeros behind the point.
func trim(digits string) string {
	return strings.TrimSuffix(strings.TrimRight(digits, "0"), ".")
}

// natural compares texts as users sort them: K=100 before K=1000, B2 before B10.
func natural(a, b string) int {
	for a != "" && b != "" {
		na, nb := leadingDigits(a), leadingDigits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if len(x) != len(y) {
				return len(x) - len(y)
			}
			if x != y {
				return strings.Compare(x, y)
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func leadingDigits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}

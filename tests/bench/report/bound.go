package report

import "fmt"

// Bound is what a figure is held to. The zero Bound holds it to nothing.
type Bound struct {
	// Is tells how to compare: "<=", ">=" or "=".
	Is    Relation `json:"is,omitempty"`
	Limit float64  `json:"limit"`
}

// Relation is how a value compares to its limit.
type Relation string

const (
	atMost  Relation = "<="
	atLeast Relation = ">="
	exactly Relation = "="
)

// AtMost holds a figure to limit or less.
func AtMost(limit float64) Bound { return Bound{atMost, limit} }

// AtLeast holds a figure to limit or more.
func AtLeast(limit float64) Bound { return Bound{atLeast, limit} }

// Exactly holds a figure to limit.
func Exactly(limit float64) Bound { return Bound{exactly, limit} }

// Met reports whether value keeps the bound.
func (b Bound) Met(value float64) bool {
	switch b.Is {
	case "":
		return true
	case atMost:
		return value <= b.Limit
	case atLeast:
		return value >= b.Limit
	case exactly:
		return value == b.Limit
	}
	return false
}

// String tells the bound as in "<= 200", and "" without one.
func (b Bound) String() string {
	if b.Is == "" {
		return ""
	}
	return fmt.Sprintf("%s %s", b.Is, Figure(b.Limit))
}

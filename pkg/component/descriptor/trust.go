package descriptor

// Requirement says how much a missing or bad signature matters.
type Requirement string

const (
	// RequireOff does not look at signatures.
	RequireOff Requirement = "off"
	// RequireWarn looks, tells, and goes on.
	RequireWarn Requirement = "warn"
	// RequireEnforce refuses what is not signed as it has to be.
	RequireEnforce Requirement = "enforce"
)

// SignaturePolicy says what is asked of the signatures of some components. It is shared and not to be changed; nil asks for nothing.
type SignaturePolicy struct {
	Require Requirement
	Trust   Trust
}

// Asks tells whether signatures are looked at.
func (p *SignaturePolicy) Asks() bool { return p != nil && p.Require != RequireOff && p.Require != "" }

// Enforced tells whether what is not signed as it has to be is refused.
func (p *SignaturePolicy) Enforced() bool { return p != nil && p.Require == RequireEnforce }

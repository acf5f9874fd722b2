// Package records answers: where do the results of benches lie, and on which machine were they taken?
//
// A folder has one JSON file for each bench. Results are put over those of before, so that a run of hours can be done in parts, and the
// page and the pictures can be recreated without measuring. It refuses to judge: that is what report is for.
package records

// Package diagnostics describes problems in files: what is wrong, where, and how to fix it.
//
// A [Finding] describes one problem: a rule, its severity, file, line and field, a sentence and what to do. The package orders findings,
// counts them and writes them as rows, as JSON (the fields of Finding) and as SARIF 2.1.0, which code hosts show beside the lines.
//
// It judges nothing and reads no file: the rules are in the packages that produce findings. It never adds the place or time of a run, so
// that the same findings are the same bytes.
package diagnostics

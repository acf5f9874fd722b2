// Package diagnostics answers: what is wrong with these files, where, and how is it put right?
//
// A [Finding] says it for one place: a rule, how bad it is, file, line and field, a sentence and what to do. The package orders findings,
// counts them and writes them as rows, as JSON (the fields of Finding) and as SARIF 2.1.0, which code hosts show beside the lines.
//
// It judges nothing and reads no file: the rules stand in the packages that find. It never adds where or when it ran, so that the same
// findings are the same bytes.
package diagnostics

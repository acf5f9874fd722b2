// Package report answers: how do we tell what was measured?
//
// Results and curves become a table for the terminal, the page docs/benchmarks.md, pictures of how cost grows (SVG), and JSON by which a
// long run is put together from parts. The same results give the same bytes.
//
// It refuses to measure, to read or write files, and to judge without a bound that was stated beforehand: a figure without a bound is
// told, and neither met nor missed.
package report

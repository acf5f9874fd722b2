// Package fit answers: which law do these points follow, and which value do so many of them stay below?
//
// It has the line, the power law and the quantiles that benches tell. It is pure, and it refuses to guess: without enough points there is
// no law, which callers see by a Points of zero.
package fit

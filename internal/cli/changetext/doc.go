// Package changetext writes what a version of a module changes, for people: `kyma release preview` and `kyma diff` look alike.
//
// Non-goals: it compares nothing (internal/client/releasepreview does) and prints no document for programs.
package changetext

// Package hubwatch answers: how long does a watch of the hub last before it is renewed?
//
// It makes informers for caches of controller-runtime. It decides nothing about what they watch, list or keep.
package hubwatch

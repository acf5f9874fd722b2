// Package hubwatch sets how long a watch of the hub lasts before it is renewed.
//
// It creates informers for caches of controller-runtime. It decides nothing about what they watch, list or keep.
package hubwatch

// Package assignment decides which replica gets which bucket, and when one may change hands.
//
// An Assignment names the owner of every bucket and, while it moves, its next owner. Plan turns an Assignment and the observed replicas
// into the next Assignment: even shares, as few moves as possible, the same result for every caller. A HeartbeatObserver records when a
// replica was last seen to change, by the observer's own clock: clocks of two machines are never compared.
//
// Non-goals: it reads no clock, makes no calls, and never infers a replica's death from what it wrote, only from an unchanged heartbeat.
package assignment

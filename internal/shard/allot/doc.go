// Package allot answers: who gets which bucket, and when may one change hands?
//
// A Table says for every bucket who owns it and, while it moves, who gets it next. Plan makes of a Table and of the replicas as they were
// observed the Table to come: even shares, as few moves as possible, the same answer for everybody. A Book notes when somebody was last
// seen to move, by the observer's own clock: clocks of two machines are never compared.
//
// It refuses to read a clock, to talk to anybody and to decide that somebody is dead by what he wrote: only that he was not seen to move.
package allot

// Package turn answers one question: who may work now?
//
// A controller works on a few things at a time, each in a turn. A pass has one from when it gets its request until it is done, and gives it
// back before that when it does nothing but wait for a runtime that is late: somebody else works meanwhile, and the pass goes on without a
// turn as soon as it is answered. So runtimes that are dead or slow hold up nobody but themselves.
//
// It refuses to order anything: the queue does, and hands out the most urgent request the moment a turn is free. It refuses to take a turn
// away: whoever waits gives it back. It makes no call and knows no runtime; when an answer is late is for whoever waits for it to say.
package turn

// Package setup answers: which parts does the manager have, and how do they hang together?
//
// Flags become a Config, and Run builds everything from it in one list: nothing else in the project constructs a
// controller, so integration tests start the real thing. It decides nothing about modules.
package setup

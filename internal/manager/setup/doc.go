// Package setup creates the parts of the manager and connects them.
//
// Flags become a Config, and Run builds everything from it in one list: nothing else in the project constructs a controller, so integration
// tests start the real manager. It decides nothing about modules.
package setup

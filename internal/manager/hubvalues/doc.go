// Package hubvalues provides what the Secrets and ConfigMaps of the hub hold that entries of Kymas take values from.
//
// They carry a label, by which they are watched: reading costs no call, nothing is polled, and no entry can name an object that is not
// meant for that. ConfigMaps are left out where the manager may not watch them.
//
// Non-goals: it writes nothing, decides nothing, and puts no value into a log or an error.
package hubvalues

// Package install answers: how long does it take from the creation of a Kyma until its module runs, and what does it cost?
//
// Times are told beside those of a bare loop that creates the same objects in the same run, since a time alone says more about the
// machine than about the program. Calls are counted exactly.
package install

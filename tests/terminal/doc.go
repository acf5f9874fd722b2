// Package terminal answers one question: how does kyma behave on a real terminal?
//
// A test runs the program in a terminal of tmux, types what a user would type, and reads what stands on the screen: questions and their
// answers, Ctrl-C, progress that is redrawn, colours, narrow windows, completion in a shell. The API server is a real one; what a manager
// would write, the test writes. KYMA_PROGRAM names a kyma that is there already; without it one is built.
//
// What it refuses to do: it tests no decision, which the packages of the commands do, and it never passes for want of tmux.
package terminal

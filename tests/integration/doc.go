// Package integration answers: does the real manager, with the rights that it is deployed with, do on real API servers what the
// specification says?
//
// Every spec talks to the hub and to the runtimes as a user would and waits for what a user would see. The manager is built by
// internal/manager/setup and runs as its ServiceAccount, so a missing RBAC rule fails a spec; its calls are counted, so that "nothing at
// rest" is an assertion. Nothing here is a fake.
//
// `make test-integration` shares the specs among processes, each with a hub, runtimes and a registry of its own; within a process they run
// one after the other.
package integration

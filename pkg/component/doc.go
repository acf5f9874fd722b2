// Package component answers one question: how does a component version get into a registry, so that everybody else can read it?
//
// It builds component versions out of local content and pushes them with the OCM library. It is the only importer of that
// library, which is large; programs that only read component versions use pkg/component/descriptor instead.
//
// What it refuses to do: it never changes a version that the registry already has unless it is told to (Overwrite), never adds
// anything to a version that depends on when or where it was built, and takes no configuration from the machine it runs on:
// no ~/.ocmconfig, no Docker login. Everything comes in through its arguments.
package component

// Package await answers one question: how does a command show that it waits, and with which exit code does it end?
//
// What it refuses to do: it decides nothing about modules; internal/client/waitfor does.
package await

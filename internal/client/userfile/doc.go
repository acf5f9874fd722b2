// Package userfile reads and writes the files that users name on the command line, whatever their type: a regular file is replaced as a
// whole or not at all, a device or a pipe is written to and never read or replaced, and nothing delays a program that must exit. It refuses
// to read without a limit.
package userfile

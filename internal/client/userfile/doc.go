// Package userfile reads and writes the files that users name on the command line, whatever they are: a regular file takes its new content
// at once or keeps the old one, a device or a pipe is written to and never read or replaced, and nothing delays a program that is told to
// end. It refuses to read without a bound.
package userfile

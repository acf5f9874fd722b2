// Package contentflags holds the flags of commands that show what versions of modules install: which registry, with which login.
//
// Non-goals: it reads no version itself (internal/client/versioncontent does), and decides nothing.
package contentflags

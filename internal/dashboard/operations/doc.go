// Package operations answers one question: what happens between a user's click and the end of the requested change?
//
// A Request is a requested change. The Engine shows beforehand what it would change (Preview, by dry runs on the API server), and carries
// it out (Start) as that user, step by step, in the background. Running operations are recorded in ConfigMaps, one for each operation, so
// that they outlive a closed page, and other pages and servers see them; the records hold no token. If the server ends in the middle of
// an operation, the next user with the same permissions resumes it: every request may be repeated, and continues where it stopped.
//
// Packages modulestatus (WayToInstall, NextToDelete) and kymaedit decide whether something may be done at all, and packages kymaedit and
// directinstall write it, exactly as for the command line.
//
// Non-goals: it handles no HTTP, keeps no credential longer than an operation runs, acts only with the permissions of the requesting user,
// and deletes nothing that was not shown.
package operations

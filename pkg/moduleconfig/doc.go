// Package moduleconfig answers: what does this module configuration say, and does it say it rightly?
//
// It reads the files of three tools: the `create module` of the old CLI, modulectl, and our own, which has the fields of both and some
// more. What is wrong comes back as findings with line, field and what to do: unknown or duplicate keys, what is
// missing, names, versions, links that are not https, absolute paths. A file that has errors must not be used.
//
// It looks at the text alone: it opens no file, follows no link, and does not know whether the manifest fits; package modulelint does.
// What may be left out is decided by the tool that the file was written for, see [Dialect].
package moduleconfig

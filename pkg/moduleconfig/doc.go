// Package moduleconfig reads a module configuration and reports what is wrong with it.
//
// It reads the files of three tools: the `create module` of the old CLI, modulectl, and our own, which has the fields of both and some
// more. Problems are returned as findings with line, field and what to do: unknown or duplicate keys, missing fields, names, versions,
// links that are not https, absolute paths. A file that has errors must not be used.
//
// It reads only the text: it opens no file, follows no link, and does not check whether the manifest fits; package modulelint does. Which
// fields are optional depends on the tool for which the file was written, see [Dialect].
package moduleconfig

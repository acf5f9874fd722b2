package content

// Tree is unpacked content: regular files, held in memory within the limits. It is shared between readers and never changed.
type Tree struct {
	// Files in the order of their source. Content that is one file and no archive has exactly one, whose path is empty.
	Files []File
}

// File is one regular file of a Tree.
type File struct {
	// Path is clean, relative and separated by slashes, such as "manifests/01_namespace.yaml".
	Path string
	Data []byte
}

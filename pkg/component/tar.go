package component

import (
	"archive/tar"
	"bytes"
	"fmt"
)

// fileMode is the mode of every file in a tar, so that it does not depend on where the content was packed.
const fileMode = 0o644

// Tar packs one file, for a resource with MediaTypeTar. The same name and data give the same bytes on every machine: the header has no
// time, no owner and a fixed mode. Tar panics for a name that a tar cannot hold, such as one with a NUL byte.
func Tar(name string, data []byte) []byte {
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: fileMode}
	err := archive.WriteHeader(header)
	if err == nil {
		_, err = archive.Write(data)
	}
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		panic(fmt.Sprintf("pack %q: %v", name, err)) // writes to memory fail for the name alone
	}
	return packed.Bytes()
}

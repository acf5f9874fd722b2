package component

import (
	"archive/tar"
	"bytes"
	"fmt"
)

// fileMode is that of every file in a tar: what a content was packed with must not show.
const fileMode = 0o644

// Tar packs one file, for a resource with MediaTypeTar. The same name and data give the same bytes on every machine: the
// header has no time, no owner and a fixed mode.
//
// It panics for a name that no tar can hold, that is one with a NUL byte.
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

package content

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// readWhole is the announced size of a file, in bytes, up to which memory is reserved at once.
const readWhole = 1 << 20

// Unpack reads all files of a tar archive, plain or gzip, into memory. It refuses what FirstFile refuses, and also duplicate names and
// bytes after the archive's end. It leaves out files named "._*", which macOS adds.
func Unpack(path string, limits Limits) (*Tree, error) {
	return unpackOne(path, limits, &unpacker{})
}

func unpackOne(path string, limits Limits, unpack *unpacker) (*Tree, error) {
	unpack.limits = limits.OrDefault()
	found, err := unpack.next(path)
	if err != nil {
		return nil, err
	}
	if len(found.files) == 0 {
		return nil, invalid("the archive holds no regular file: put the manifest into it")
	}
	return &Tree{Files: found.files}, nil
}

// unpacker reads archives that form one content; its limits apply to their sum.
type unpacker struct {
	limits Limits
	// canonical: the archive was made by Archive, and all its files are returned unchanged.
	canonical bool
	// layered: the archives are the layers of an image, and names that begin with ".wh." remove files of lower layers.
	layered bool

	entries int
	bytes   int64
}

// unpacked is the content of one archive.
type unpacked struct {
	files []File
	shape shape
	// gone are the paths that this archive removes from lower layers, opaque the folders that it empties.
	gone, opaque map[string]bool
}

// next reads the next archive.
func (u *unpacker) next(path string) (*unpacked, error) {
	archive, err := openNext(path, u.limits, u.bytes)
	if err != nil {
		return nil, err
	}
	found := &unpacked{shape: shape{}, gone: map[string]bool{}, opaque: map[string]bool{}}
	source := archive.reader
	err = u.read(source, found)
	if counted, ok := source.(*capped); ok {
		u.bytes += counted.count
	}
	if err != nil {
		return nil, errors.Join(archive.wrap(err), archive.Close())
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("close content: %w", err)
	}
	return found, nil
}

func (u *unpacker) read(archive io.Reader, into *unpacked) error {
	reader := tar.NewReader(archive)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return onlyZeros(archive)
		}
		if err != nil {
			return unreadable(err)
		}
		if u.entries++; u.entries > u.limits.Entries {
			return refuse("it has more than %d entries", u.limits.Entries)
		}
		if err := checkEntry(header, u.limits); err != nil {
			return err
		}
		if err := u.entry(header, reader, into); err != nil {
			return err
		}
	}
}

// entry adds one entry that checkEntry has accepted.
func (u *unpacker) entry(header *tar.Header, data io.Reader, into *unpacked) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	name, err := CleanPath(header.Name)
	if err != nil {
		return err
	}
	if u.layered {
		if done, err := into.whiteout(name, header); done || err != nil {
			return err
		}
	}
	if header.Typeflag == tar.TypeDir {
		if name == "." {
			return nil
		}
		return into.shape.add(name, false)
	}
	switch {
	case name == "." && u.canonical:
		name = ""
	case name == ".", strings.HasSuffix(header.Name, "/"):
		return refuse("entry %s is a file and has the name of a folder", Quote(header.Name))
	case strings.HasPrefix(path.Base(name), "._") && !u.canonical:
		return nil
	}
	if err := into.shape.add(name, true); err != nil {
		return err
	}
	content, err := readFile(data, header.Size)
	if err != nil {
		return unreadable(err)
	}
	into.files = append(into.files, File{Path: name, Data: content})
	return nil
}

// readFile reserves memory for a likely size, and grows with the bytes that are read.
func readFile(from io.Reader, size int64) ([]byte, error) {
	if size > readWhole {
		return io.ReadAll(from)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(from, data); err != nil {
		return nil, err
	}
	return data, nil
}

// onlyZeros reads the padding after the archive's end, and refuses anything else. Reading it also verifies the checksum of a gzip.
func onlyZeros(rest io.Reader) error {
	block := make([]byte, 32<<10)
	for {
		n, err := rest.Read(block)
		for _, each := range block[:n] {
			if each != 0 {
				return refuse("data follows its end")
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unreadable(err)
		}
	}
}

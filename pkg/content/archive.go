package content

import (
	"archive/tar"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxQuoted is the maximum length of a name in an error, in bytes.
const maxQuoted = 120

// FirstFile opens the first regular file of a tar archive, plain or gzip (source type oci-dir); files named "._*", which macOS adds, do not
// count. It checks the whole archive first: one entry that is not accepted refuses the archive, wherever the entry is.
func FirstFile(path string, limits Limits) (io.ReadCloser, error) {
	archive, err := openLayer(path, limits)
	if err != nil {
		return nil, err
	}
	entry, err := inspect(archive, archive.limits)
	if err == nil {
		err = archive.rewind()
	}
	if err != nil {
		return nil, errors.Join(archive.wrap(err), archive.Close())
	}
	reader := tar.NewReader(archive.reader)
	for range entry + 1 {
		if _, err := reader.Next(); err != nil {
			return nil, errors.Join(archive.wrap(err), archive.Close())
		}
	}
	archive.reader = reader
	return archive, nil
}

// inspect reads the whole archive and returns the index of the entry to read.
func inspect(archive io.Reader, limits Limits) (entry int, err error) {
	reader := tar.NewReader(archive)
	entry = -1
	for count := 0; ; count++ {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, unreadable(err)
		}
		if count >= limits.Entries {
			return 0, refuse("it has more than %d entries", limits.Entries)
		}
		if err := checkEntry(header, limits); err != nil {
			return 0, err
		}
		if entry < 0 && header.Typeflag == tar.TypeReg && !strings.HasPrefix(path.Base(header.Name), "._") {
			entry = count
		}
	}
	if entry < 0 {
		return 0, invalid("it holds no regular file: put the manifest into it")
	}
	return entry, nil
}

// checkEntry refuses entries that a manifest never needs. Nothing is unpacked to disk, so a link would be harmless here; but an archive
// with one was not made for this purpose, and other tools that read the same bytes might follow it.
func checkEntry(header *tar.Header, limits Limits) error {
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeDir, tar.TypeXGlobalHeader:
	case tar.TypeSymlink, tar.TypeLink:
		return refuse("entry %s is a link to %s", Quote(header.Name), Quote(header.Linkname))
	default:
		return refuse("entry %s is neither file nor directory (tar type %q)", Quote(header.Name), header.Typeflag)
	}
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return refuse("entry %s is sparse", Quote(header.Name))
		}
	}
	if err := checkName(header.Name); err != nil {
		return err
	}
	if header.Size > limits.Unpacked {
		return tooLarge("entry %s has %d bytes and %d are accepted", Quote(header.Name), header.Size, limits.Unpacked)
	}
	return nil
}

// checkName refuses names that are not below the root of the archive.
func checkName(name string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "\\\x00"):
		return refuse("entry name %s is not accepted", Quote(name))
	case path.IsAbs(name):
		return refuse("entry name %s is absolute", Quote(name))
	case slices.Contains(strings.Split(name, "/"), ".."):
		return refuse("entry name %s leads out of the archive", Quote(name))
	}
	return nil
}

// Quote quotes and shortens a foreign name: it may be a mebibyte long, and ends up in the status of an object.
func Quote(name string) string {
	if len(name) <= maxQuoted {
		return strconv.Quote(name)
	}
	return strconv.Quote(name[:maxQuoted]) + "..."
}

// unreadable keeps an error that has a reason, and wraps others as errors of the tar reader.
func unreadable(err error) error {
	if _, typed := errors.AsType[*Error](err); typed {
		return err
	}
	if errors.Is(err, tar.ErrInsecurePath) {
		return refuse("an entry leads out of it: %w", err)
	}
	return invalid("it cannot be read as a tar archive: %w", err)
}

func refuse(format string, args ...any) error {
	return Errorf(ReasonArchiveRefused, "archive refused: "+format, args...)
}

func invalid(format string, args ...any) error {
	return Errorf(ReasonContentInvalid, format, args...)
}

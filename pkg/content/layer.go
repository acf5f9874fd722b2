package content

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ratioFloor is the size, in bytes, up to which the ratio is not checked: a tar archive of one small file is mostly zeros.
const ratioFloor = 1 << 20

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// Plain opens a layer that is one file (source type oci-ref); reading decompresses gzip.
func Plain(path string, limits Limits) (io.ReadCloser, error) { return openLayer(path, limits) }

// layer is an open file of the store, read with decompression and limits.
type layer struct {
	file   *os.File
	size   int64
	limits Limits
	// before is how many bytes the other files of the same content have already given.
	before int64
	reader io.Reader
}

func openLayer(path string, limits Limits) (*layer, error) { return openNext(path, limits, 0) }

// openNext opens one of several files of a content: before bytes were unpacked from the others.
func openNext(path string, limits Limits, before int64) (*layer, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open content: %w", err)
	}
	opened := &layer{file: file, limits: limits.OrDefault(), before: before}
	info, err := file.Stat()
	if err == nil {
		opened.size = info.Size()
		err = opened.rewind()
	}
	if err != nil {
		return nil, errors.Join(opened.wrap(err), file.Close())
	}
	return opened, nil
}

// rewind starts again at the first byte.
func (l *layer) rewind() error {
	if l.size > l.limits.Packed {
		return tooLarge("it has %d bytes and %d are accepted", l.size, l.limits.Packed)
	}
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	buffered := bufio.NewReader(l.file)
	magic, err := buffered.Peek(len(zstdMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.Equal(magic, zstdMagic) {
		return invalid("it is compressed with zstd, which is not read here: publish it with gzip")
	}
	if !bytes.HasPrefix(magic, gzipMagic) {
		l.reader = &capped{source: buffered, most: l.limits.Unpacked, before: l.before}
		return nil
	}
	unpacked, err := gzip.NewReader(buffered)
	if err != nil {
		return invalid("it begins like gzip, but is not valid gzip: %w", err)
	}
	l.reader = &capped{
		source: unpacked, most: l.limits.Unpacked, before: l.before, mostByRatio: max(ratioFloor, l.size*l.limits.Ratio),
	}
	return nil
}

// Read adds context to every error: the caller does not know where the bytes came from.
func (l *layer) Read(p []byte) (int, error) {
	n, err := l.reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = l.wrap(err)
	}
	return n, err
}

// Close closes the file.
func (l *layer) Close() error { return l.file.Close() }

func (l *layer) wrap(err error) error {
	return fmt.Errorf("layer %s: %w", filepath.Base(l.file.Name()), err)
}

// capped returns an error, not a short read, if there are more bytes than expected.
type capped struct {
	source      io.Reader
	most        int64
	before      int64 // what counts towards most and came from elsewhere
	mostByRatio int64 // 0: the source is not compressed
	count       int64
}

func (c *capped) Read(p []byte) (int, error) {
	n, err := c.source.Read(p)
	c.count += int64(n)
	var local *fs.PathError
	switch {
	case c.before+c.count > c.most:
		return 0, tooLarge("it has more than %d bytes unpacked: make it smaller or raise the limit", c.most)
	case c.mostByRatio > 0 && c.count > c.mostByRatio:
		return 0, refuse("it grows to more than %d bytes when unpacked, far more than its size suggests", c.mostByRatio)
	case err == nil, errors.Is(err, io.EOF), errors.As(err, &local):
		return n, err
	default:
		return n, invalid("it is damaged: %w", err)
	}
}

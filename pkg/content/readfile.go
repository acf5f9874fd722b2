package content

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// The first block of a tar archive, which is the same in every tar format.
const (
	tarBlock       = 512
	tarChecksum    = 148
	tarChecksumEnd = 156
	tarMagic       = 257
)

// treeOf reads a stored file by the format of its bytes: a tar archive, plain or gzip, gives its files, and everything else one file
// without a path, decompressed if it is gzip.
func treeOf(path string, limits Limits) (*Tree, error) {
	file, err := openLayer(path, limits)
	if err != nil {
		return nil, err
	}
	begin := make([]byte, tarBlock)
	n, err := io.ReadFull(file, begin)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if err != nil || isArchive(begin[:n]) {
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		return Unpack(path, limits)
	}
	data, err := io.ReadAll(io.MultiReader(bytes.NewReader(begin[:n]), file))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, invalid("the file is empty: put a manifest or an archive there")
	}
	return &Tree{Files: []File{{Data: data}}}, nil
}

// isArchive reports whether block begins a tar. Older archives have no magic number, but a checksum, which no text matches by chance.
func isArchive(block []byte) bool {
	if len(block) < tarBlock {
		return false
	}
	if bytes.HasPrefix(block[tarMagic:], []byte("ustar")) {
		return true
	}
	written, err := strconv.ParseUint(strings.Trim(string(block[tarChecksum:tarChecksumEnd]), " \x00"), 8, 32)
	if err != nil {
		return false
	}
	sum := uint64(tarChecksumEnd-tarChecksum) * ' '
	for i, each := range block {
		if i < tarChecksum || i >= tarChecksumEnd {
			sum += uint64(each)
		}
	}
	return sum == written
}

package component_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

func TestTarIsTheSameEveryTime(t *testing.T) {
	first, second := component.Tar("module.yaml", []byte("kind: A")), component.Tar("module.yaml", []byte("kind: A"))
	if !bytes.Equal(first, second) {
		t.Error("two tars of the same file differ")
	}
	archive := tar.NewReader(bytes.NewReader(first))
	header, err := archive.Next()
	if err != nil {
		t.Fatal(err)
	}
	if header.Name != "module.yaml" || header.Mode != 0o644 || header.Uid != 0 || header.Gid != 0 || header.Uname != "" ||
		header.ModTime.Unix() != 0 || header.Typeflag != tar.TypeReg {
		t.Errorf("the header tells where it was made: %+v", header)
	}
	if data, err := io.ReadAll(archive); err != nil || string(data) != "kind: A" {
		t.Errorf("file has %q, error %v", data, err)
	}
	if _, err := archive.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("there is more than one entry, or %v", err)
	}
}

func TestTarPanicsForANameThatNoTarCanHold(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	component.Tar("a\x00b", []byte("x"))
}

package userfile_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
)

func TestWriteToAFullDevice(t *testing.T) {
	const full = "/dev/full"
	changed, err := userfile.Write(t.Context(), full, []byte("text"))
	if !errors.Is(err, syscall.ENOSPC) || changed || strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), full) != 1 {
		t.Errorf("%v %v", changed, err)
	}
}

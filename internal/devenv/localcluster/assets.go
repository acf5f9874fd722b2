package localcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// assetsVariable names the directory in which envtest looks for the programs.
	assetsVariable = "KUBEBUILDER_ASSETS"
	// stagesFolder is beside the programs and holds the stages that make kwok's nodes and pods ready: without it kwok does nothing.
	stagesFolder = "stages"
)

// modulePath identifies this repository's go.mod among the others in it.
const modulePath = "github.com/kyma-project/lifecycle-manager"

// programs are required for a control plane with workloads, besides the folder with kwok's stages.
var programs = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok", stagesFolder}

// Assets returns the folder with the programs: KUBEBUILDER_ASSETS when it holds all of them, otherwise what
// hack/controlplane/build.sh builds. The first build takes minutes and reports its progress on standard error.
func Assets(ctx context.Context) (string, error) {
	if dir := os.Getenv(assetsVariable); dir != "" && lacks(dir) == "" {
		return filepath.Abs(dir)
	}
	root, err := Root()
	if err != nil {
		return "", fmt.Errorf("cannot build the control plane programs, set %s to a folder that holds them: %w", assetsVariable, err)
	}
	var out bytes.Buffer
	build := exec.CommandContext(ctx, filepath.Join(root, "hack", "controlplane", "build.sh"))
	build.Stdout, build.Stderr = &out, os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("hack/controlplane/build.sh failed, see its output: %w", err)
	}
	dir := strings.TrimSpace(out.String())
	if missing := lacks(dir); missing != "" {
		return "", fmt.Errorf("hack/controlplane/build.sh named folder %q, which has no %s: delete the folder and run it again", dir, missing)
	}
	return dir, nil
}

// Root returns the root of this repository: the checkout that holds the working directory, or else the one that holds this program.
func Root() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	starts := []string{here}
	if program, err := os.Executable(); err == nil {
		if program, err = filepath.EvalSymlinks(program); err == nil {
			starts = append(starts, filepath.Dir(program))
		}
	}
	for _, start := range starts {
		if root, err := upwards(start); root != "" || err != nil {
			return root, err
		}
	}
	return "", fmt.Errorf("neither %s nor a folder above it is a checkout of %s, nor is this program in one", here, modulePath)
}

// upwards returns the checkout that holds a folder; "" where there is none.
func upwards(start string) (string, error) {
	for dir := start; ; dir = filepath.Dir(dir) {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(data, []byte("module "+modulePath+"\n")) {
			return dir, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if dir == filepath.Dir(dir) {
			return "", nil
		}
	}
}

// lacks returns the first program that a folder does not have; "" when it has all of them.
func lacks(dir string) string {
	for _, name := range programs {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return name
		}
	}
	return ""
}

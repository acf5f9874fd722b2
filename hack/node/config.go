//go:build linux

package main

import (
	"bytes"
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"
)

// templates are the configuration files of the programs.
//
//go:embed config
var templates embed.FS

// configure writes the configuration of all programs.
func (o *options) configure() error {
	values := map[string]string{
		"Name": o.Name, "Dir": o.Dir, "Programs": o.Programs,
		"NodeIP": nodeIP, "PodRange": podRange, "Pause": pauseImage, "Socket": containerdSocket,
	}
	all, err := template.ParseFS(templates, "config/*")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.path("config", "net.d"), 0o700); err != nil {
		return err
	}
	places := map[string]string{"bridge.conflist": "net.d"}
	for _, file := range all.Templates() {
		var text bytes.Buffer
		if err := file.Execute(&text, values); err != nil {
			return err
		}
		if err := os.WriteFile(o.path("config", places[file.Name()], file.Name()), text.Bytes(), 0o600); err != nil {
			return err
		}
	}
	for _, user := range []string{"kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"} {
		if err := kubeconfig(o.path("config", user+".kubeconfig"), o.path("pki"), user, "https://"+nodeIP+":"+apiPort); err != nil {
			return err
		}
	}
	return nil
}

// lookUp finds a system program by its name, and checks that one of ours exists.
func lookUp(path string) (string, error) {
	if filepath.IsAbs(path) {
		_, err := os.Stat(path)
		return path, err
	}
	return exec.LookPath(path)
}

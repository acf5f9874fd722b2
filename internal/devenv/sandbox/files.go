//go:build unix

package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/playground"
)

// keyBits is the size of the key that signs the sample modules.
const keyBits = 2048

// writeFiles writes the files that users and programs need to use the sandbox, and records their paths.
func (h *supervisedSandbox) writeFiles(context.Context) error {
	s := &h.sandbox
	s.Registry = Registry{Host: h.registry.Host, URL: "http://" + h.registry.Host}
	s.Hub = describe(h.hub)
	s.Kubeconfig, s.Env = filepath.Join(s.Dir, mergedFile), filepath.Join(s.Dir, envFile)
	for _, plane := range h.runtimes {
		s.Runtimes = append(s.Runtimes, describe(plane))
		access, err := playground.RuntimeAccess(plane)
		if err != nil {
			return err
		}
		if err := replace(filepath.Join(s.Dir, plane.Name, accessFile), access); err != nil {
			return err
		}
	}
	if err := useNamespace(s.Hub.Kubeconfig); err != nil {
		return err
	}
	if err := s.writeMerged(); err != nil {
		return err
	}
	bin := filepath.Join(s.Dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return err
	}
	if err := os.Symlink(h.hub.Kubectl, filepath.Join(bin, "kubectl")); err != nil {
		return err
	}
	return errors.Join(writeKey(filepath.Join(s.Dir, keyFile)), replace(s.Env, []byte(s.Environment())))
}

func describe(plane *localcluster.ControlPlane) Cluster {
	return Cluster{Name: plane.Name, Kubeconfig: plane.Kubeconfig, Server: strings.TrimSuffix(plane.Config.Host, "/")}
}

// useNamespace makes the namespace of Kymas the default namespace of kubectl.
func useNamespace(kubeconfig string) error {
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		return err
	}
	for _, c := range config.Contexts {
		c.Namespace = v1beta2.DefaultNamespace
	}
	return clientcmd.WriteToFile(*config, kubeconfig)
}

// writeMerged writes a kubeconfig with all clusters.
func (s *Sandbox) writeMerged() error {
	all := clientcmdapi.NewConfig()
	for _, cluster := range append([]Cluster{s.Hub}, s.Runtimes...) {
		one, err := clientcmd.LoadFromFile(cluster.Kubeconfig)
		if err != nil {
			return err
		}
		name := cluster.Name
		all.Clusters[name], all.AuthInfos[name], all.Contexts[name] = one.Clusters[name], one.AuthInfos[name], one.Contexts[name]
	}
	all.CurrentContext = hubName
	data, err := clientcmd.Write(*all)
	if err != nil {
		return err
	}
	return replace(s.Kubeconfig, data)
}

// writeKey writes the key with which sample modules are signed.
func writeKey(path string) error {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return err
	}
	data, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return replace(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: data}))
}

package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1alpha1"
	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/conversion"
)

// describeCertificate are the specs about what the webhook identifies itself with.
func describeCertificate(of func() *days) {
	It("shares one certificate among replicas, also when they start at the same time", func() {
		key := types.NamespacedName{Namespace: v1beta2.DefaultNamespace, Name: "shared"}
		served := of().replicas(key, 3)
		Eventually(func() int { return len(served()) }).Should(Equal(1))
		secret := &corev1.Secret{}
		Expect(of().env.Hub.Client.Get(ctx(), key, secret)).To(Succeed())
		leaf := served()[0]
		Expect(secret.Data[corev1.TLSCertKey]).NotTo(BeEmpty())

		By("a user deletes it: all follow to the next")
		of().env.Hub.Delete(secret)
		Eventually(func() []string {
			if now := served(); len(now) == 1 && now[0] != leaf {
				return now
			}
			return nil
		}).Should(HaveLen(1))
	})

	It("renews the certificate under load, and no one notices", func() {
		of().stop()
		Expect(of().env.Hub.Client.Delete(ctx(), of().secret())).To(Succeed())
		of().start(30 * time.Second)
		load := of().load()
		first := of().bundle()
		seen := map[string]bool{}
		Eventually(func() int {
			seen[string(of().secret().Data[corev1.TLSCertKey])] = true
			return len(seen)
		}, "3m", "200ms").Should(Equal(3), "certificates of two rotations")
		Expect(of().bundle()).NotTo(Equal(first))
		failures, conversions, handshakes := load()
		Expect(failures).To(BeEmpty())
		Expect(conversions).To(BeNumerically(">", 50))
		Expect(handshakes).To(BeNumerically(">", 50))
		Expect(decodeCAs(of().bundle())).To(HaveLen(2), "the CA of the one before and of the one that serves")
	})
}

func (d *days) secret() *corev1.Secret {
	GinkgoHelper()
	found := &corev1.Secret{}
	key := client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: "klm-webhook-certificate"}
	Eventually(func() error { return d.env.Hub.Client.Get(ctx(), key, found) }).Should(Succeed())
	return found
}

// bundle returns what the API server trusts.
func (d *days) bundle() []byte {
	GinkgoHelper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Expect(d.env.Hub.Client.Get(ctx(), client.ObjectKey{Name: conversion.Definitions[0]}, crd)).To(Succeed())
	return crd.Spec.Conversion.Webhook.ClientConfig.CABundle
}

func decodeCAs(bundle []byte) []string {
	var found []string
	for part := range strings.SplitSeq(string(bundle), "-----END CERTIFICATE-----") {
		if strings.Contains(part, "BEGIN") {
			found = append(found, part)
		}
	}
	return found
}

// replicas starts webhooks that share a Secret and touch no definition, and returns what tells the different certificates that they serve.
func (d *days) replicas(secret types.NamespacedName, count int) func() []string {
	GinkgoHelper()
	running, cancel := context.WithCancel(context.Background())
	addresses, done := make(chan net.Addr, count), make(chan error, count)
	for range count {
		access, err := dynamic.NewForConfig(d.env.Hub.Config)
		Expect(err).NotTo(HaveOccurred())
		w := &conversion.Webhook{
			Addr: "127.0.0.1:0", Endpoint: conversion.Endpoint{Service: types.NamespacedName{Namespace: "kcp-system", Name: "shared"}}, Secret: secret,
			Lifetime: time.Hour, Client: apart{access}, Log: d.env.Log.Logger(), Now: time.Now, Listening: func(a net.Addr) { addresses <- a },
		}
		go func() { done <- w.Start(running) }()
	}
	var all []string
	for range count {
		all = append(all, (<-addresses).String())
	}
	DeferCleanup(func() {
		cancel()
		for range count {
			Eventually(done).Should(Receive(BeNil()))
		}
	})
	return func() []string {
		found := map[string]bool{}
		for _, address := range all {
			connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
			if err != nil {
				return nil
			}
			found[connection.ConnectionState().PeerCertificates[0].SerialNumber.String()] = true
			_ = connection.Close()
		}
		var names []string
		for name := range found {
			names = append(names, name)
		}
		return names
	}
}

// load reads and writes as v1alpha1, and shakes hands with the CAs that the definition names, until the returned function is called. That
// tells what failed, and how often what was done.
func (d *days) load() func() (failures []string, conversions, handshakes int64) {
	GinkgoHelper()
	running, cancel := context.WithCancel(context.Background())
	access, err := dynamic.NewForConfig(d.env.Hub.Config)
	Expect(err).NotTo(HaveOccurred())
	kymas := access.Resource(v1alpha1.GroupVersion.WithResource("kymas")).Namespace(v1beta2.DefaultNamespace)
	var converted, shaken atomic.Int64
	told := make(chan string, 10000)
	finished := make(chan struct{}, 2)
	go func() {
		defer func() { finished <- struct{}{} }()
		for n := 0; running.Err() == nil; n++ {
			patch := fmt.Appendf(nil, `{"metadata":{"labels":{"round":"%d"}}}`, n)
			if _, err := kymas.Patch(ctx(), "kyma-sample", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				told <- err.Error()
			}
			converted.Add(1)
		}
	}()
	go func() {
		defer GinkgoRecover()
		defer func() { finished <- struct{}{} }()
		for running.Err() == nil {
			roots, before := x509.NewCertPool(), d.bundle()
			roots.AppendCertsFromPEM(before)
			connection, err := tls.Dial("tcp", strings.TrimPrefix(d.url, "https://"), &tls.Config{RootCAs: roots})
			if err != nil {
				if bytes.Equal(before, d.bundle()) { // as clients see it that do not hold an older one
					told <- err.Error()
				}
				continue
			}
			_ = connection.Close()
			shaken.Add(1)
		}
	}()
	return func() ([]string, int64, int64) {
		cancel()
		<-finished
		<-finished
		close(told)
		var failures []string
		for failure := range told {
			failures = append(failures, failure)
		}
		return failures, converted.Load(), shaken.Load()
	}
}

// apart is a client that sees no definition, so that these replicas do not argue with the manager about what it says.
type apart struct{ dynamic.Interface }

// Resource leads to an empty kind instead.
func (a apart) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	if resource.Resource == "customresourcedefinitions" {
		resource = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	}
	return a.Interface.Resource(resource)
}

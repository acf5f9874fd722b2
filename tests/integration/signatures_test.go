package integration

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// rule is an entry of the signatures file.
type rule map[string]any

// writeSignatures replaces the signatures file at once.
func writeSignatures(rules ...rule) {
	GinkgoHelper()
	data, err := json.Marshal(map[string]any{"signatures": append([]rule{}, rules...)})
	Expect(err).NotTo(HaveOccurred())
	draft := signaturesFile + ".new"
	Expect(os.WriteFile(draft, data, 0o600)).To(Succeed())
	Expect(os.Rename(draft, signaturesFile)).To(Succeed())
}

// enforceSignatures replaces the file and waits until the manager follows it: what a spec leaves in force would judge the next one.
func enforceSignatures(rules ...rule) {
	GinkgoHelper()
	inForce := func() int { return env.Log.Times("signatures", "File is in force") }
	times := inForce()
	before, err := os.ReadFile(signaturesFile)
	Expect(err).NotTo(HaveOccurred())
	writeSignatures(rules...)
	after, err := os.ReadFile(signaturesFile)
	Expect(err).NotTo(HaveOccurred())
	if !bytes.Equal(before, after) { // the manager tells a change only
		Eventually(inForce).Should(BeNumerically(">", times))
	}
}

func signingKey() *rsa.PrivateKey {
	GinkgoHelper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	Expect(err).NotTo(HaveOccurred())
	return key
}

// requiring returns a rule that a module's component must be signed with a key.
func requiring(require, module string, key *rsa.PrivateKey) rule {
	GinkgoHelper()
	raw, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	Expect(err).NotTo(HaveOccurred())
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: raw})
	return rule{"components": testkit.ComponentName(module), "require": require, "publicKeys": []string{string(text)}}
}

// sign signs a published version of a module.
func sign(module, version string, key *rsa.PrivateKey, chain ...*x509.Certificate) {
	GinkgoHelper()
	registry := component.Registry{Host: env.Registry.Host, PlainHTTP: true}
	_, err := component.Sign(ctx(), registry, testkit.ComponentName(module), version, &component.Signer{Key: key, Chain: chain})
	Expect(err).NotTo(HaveOccurred())
}

// offerUnsigned publishes a version that no one was pointed to yet.
func offerUnsigned(module, version string) {
	GinkgoHelper()
	env.Offer(module, version, testkit.ConfigMaps(module, version, 1))
}

var _ = Describe("A component that has to be signed", func() {
	var module string
	var key *rsa.PrivateKey
	installed := func() (string, error) { return versionIn(env.Runtimes[0], module+"-0")() }
	// signed is what condition Signed of the Kyma says.
	signed := func(status metav1.ConditionStatus, reason string) OmegaMatcher {
		return HaveField("Status.Conditions", ContainElement(And(
			HaveField("Type", v1beta2.ConditionSigned), HaveField("Status", status), HaveField("Reason", reason))))
	}
	BeforeEach(func() {
		module, key = testkit.Unique("signed"), signingKey()
		enforceSignatures(requiring("enforce", module, key))
		DeferCleanup(func() { enforceSignatures() })
	})

	// runs installs version 1.0.0, signed.
	runs := func() *v1beta2.Kyma {
		GinkgoHelper()
		offerUnsigned(module, "1.0.0")
		sign(module, "1.0.0", key)
		env.Point(module, "1.0.0", "regular")
		kyma := newKyma(env.Runtimes[0], testkit.OnChannel("regular"), testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(installed()).To(Equal("1.0.0"))
		return kyma
	}
	// keeps sees that a version is refused and the installed one stays as it is.
	keeps := func(kyma *v1beta2.Kyma, reason string, texts ...string) {
		GinkgoHelper()
		before := manifestOf(kyma, module)
		env.Point(module, "1.1.0", "regular")
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, reason, texts...))
		Consistently(installed).Should(Equal("1.0.0"))
		Expect(manifestOf(kyma, module)).To(And(HaveField("Generation", before.Generation), testkit.HaveState(v1beta2.StateReady)))
	}

	It("is installed once it is, and costs no calls then", func() {
		offerUnsigned(module, "1.0.0")
		env.Point(module, "1.0.0", "regular")
		kyma := newKyma(env.Runtimes[0], testkit.OnChannel("regular"), testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonSignatureMissing, "kyma-module-signature"))
		Consistently(installed).Should(BeEmpty())
		sign(module, "1.0.0", key)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(installed()).To(Equal("1.0.0"))
		expectNoCalls()
		remove(kyma)
	})

	It("is installed under audit, which tells what enforce would refuse", func() {
		enforceSignatures(requiring("audit", module, key))
		offerUnsigned(module, "1.0.0")
		env.Point(module, "1.0.0", "regular")
		kyma := newKyma(env.Runtimes[0], testkit.OnChannel("regular"), testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateReady), signed(metav1.ConditionFalse, v1beta2.ReasonSignatureMissing)))
		Expect(installed()).To(Equal("1.0.0"))
		expectNoCalls()

		By("and tells who signed once the next version is")
		offerUnsigned(module, "1.1.0")
		sign(module, "1.1.0", key)
		env.Point(module, "1.1.0", "regular")
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateReady), signed(metav1.ConditionTrue, v1beta2.ReasonVerified),
			HaveField("Status.Modules", ConsistOf(HaveField("Signature.Signers", ConsistOf(HaveField("Key", descriptor.KeyID(&key.PublicKey))))))))

		By("and nothing that runs goes when the key is revoked")
		revoke := func(trusted *rsa.PrivateKey) {
			GinkgoHelper()
			data, err := json.Marshal(map[string]any{
				"signatures": []rule{requiring("enforce", module, trusted)}, "revoked": []string{descriptor.KeyID(&key.PublicKey)},
			})
			Expect(err).NotTo(HaveOccurred())
			Expect(os.WriteFile(signaturesFile, data, 0o600)).To(Succeed())
		}
		revoke(key)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateReady), signed(metav1.ConditionFalse, v1beta2.ReasonSignatureRevoked)))
		Consistently(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(installed()).To(Equal("1.1.0"))
		Expect(manifestOf(kyma, module)).To(testkit.HaveState(v1beta2.StateReady))

		By("and the key signs nothing new, until another one signs it")
		other := signingKey()
		offerUnsigned(module, "1.2.0")
		sign(module, "1.2.0", key)
		env.Point(module, "1.2.0", "regular")
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonSignatureRevoked, "1.2.0"))
		Expect(installed()).To(Equal("1.1.0"))
		sign(module, "1.2.0", other)
		revoke(other)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateReady), signed(metav1.ConditionTrue, v1beta2.ReasonVerified), testkit.HaveModule(module, testkit.HaveVersion("1.2.0"))))
		remove(kyma)
	})

	It("and is signed by another user never replaces what runs, until the policy file says otherwise", func() {
		kyma, other := runs(), signingKey()
		offerUnsigned(module, "1.1.0")
		sign(module, "1.1.0", other)
		keeps(kyma, v1beta2.ReasonSignatureUntrusted, "1.1.0")
		enforceSignatures(requiring("enforce", module, other))
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveModule(module, testkit.HaveVersion("1.1.0"))))
		Eventually(installed).Should(Equal("1.1.0"))

		By("asking for another signature of what runs")
		enforceSignatures(requiring("enforce", module, key))
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), signed(metav1.ConditionFalse, v1beta2.ReasonSignatureUntrusted)))
		Consistently(installed).Should(Equal("1.1.0"))
		enforceSignatures(requiring("enforce", module, other))
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(And(testkit.HaveState(v1beta2.StateReady), signed(metav1.ConditionTrue, v1beta2.ReasonVerified)))
		remove(kyma)
	})

	It("and whose certificate expired never replaces what runs", func() {
		kyma, other := runs(), signingKey()
		authority := certificateOf("authority", other, nil, other, time.Now().Add(time.Hour))
		leaf := certificateOf("signer", other, authority, other, time.Now().Add(-time.Minute))
		offerUnsigned(module, "1.1.0")
		sign(module, "1.1.0", other, leaf)
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw})
		enforceSignatures(rule{"components": ".*/" + module, "require": "enforce", "certificates": []string{string(text)}})
		keeps(kyma, v1beta2.ReasonSignatureUntrusted, "expired")
		remove(kyma)
	})

	It("and was changed after that never replaces what runs", func() {
		kyma := runs()
		offerUnsigned(module, "1.1.0")
		sign(module, "1.1.0", key)
		signed := env.Publish(testkit.ComponentName(testkit.Unique("layer")), "1.0.0", testkit.RawManifest(testkit.ConfigMaps(module, "1.1.0", 1).YAML())).Source
		other := testkit.RawManifest([]byte(mapNamed(module+"-1", "1.1.0")))
		repoint(module, "1.1.0", signed.Ref, other.Data)
		keeps(kyma, v1beta2.ReasonSignatureInvalid, "points to")
		remove(kyma)
	})

	It("cannot be got round by a Manifest that is written by hand", func() {
		published := env.Publish(testkit.ComponentName(module), "1.0.0", testkit.RawManifest([]byte(mapNamed(module+"-0", "1.0.0"))))
		sign(module, "1.0.0", key)
		of := func(m *v1beta2.Manifest) {
			metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1beta2.AnnotationOCMComponentName, testkit.ComponentName(module))
		}
		good := standAlone(published.Source, of)
		Eventually(testkit.Live(env.Hub, good)).Should(ready())

		other := publish(testkit.RawManifest([]byte(mapNamed(module+"-1", "1.0.0"))))
		bad := standAlone(other, of)
		Eventually(testkit.Live(env.Hub, bad)).Should(Satisfy(haveReason(v1beta2.StateError, v1beta2.ReasonContentNotCovered)))
		Expect(settings(module + "-1")()).To(BeNil())

		By("and what is installed stays when its source is turned to other content")
		another := publish(testkit.RawManifest([]byte(mapNamed(module+"-2", "1.0.0"))))
		testkit.Edit(env.Hub, good, func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(another) })
		Eventually(testkit.Live(env.Hub, good)).Should(Satisfy(haveReason(v1beta2.StateError, v1beta2.ReasonContentNotCovered)))
		Expect(installed()).To(Equal("1.0.0"))

		By("until the policy asks for nothing")
		enforceSignatures()
		Eventually(testkit.Live(env.Hub, bad), atOnce).Should(ready())
		Expect(settings(module + "-1")()).NotTo(BeNil())
		remove(bad)
		remove(good)
	})
})

// certificateOf makes a certificate; issuer nil means an authority of its own.
func certificateOf(subject string, key *rsa.PrivateKey, issuer *x509.Certificate, by *rsa.PrivateKey, ends time.Time) *x509.Certificate {
	GinkgoHelper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: subject}, NotBefore: time.Now().Add(-time.Hour), NotAfter: ends,
		BasicConstraintsValid: true, IsCA: issuer == nil, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if issuer == nil {
		issuer = template
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, by)
	Expect(err).NotTo(HaveOccurred())
	made, err := x509.ParseCertificate(raw)
	Expect(err).NotTo(HaveOccurred())
	return made
}

// repoint is what a user does who may write to the registry and cannot sign: the descriptor stays as it was signed, but for where a
// resource lies.
func repoint(module, version, from string, to []byte) {
	GinkgoHelper()
	repository, err := remote.NewRepository(env.Registry.Host + "/component-descriptors/" + testkit.ComponentName(module))
	Expect(err).NotTo(HaveOccurred())
	repository.PlainHTTP = true
	fetch := func(of ocispec.Descriptor) []byte {
		GinkgoHelper()
		data, err := content.FetchAll(ctx(), repository, of)
		Expect(err).NotTo(HaveOccurred())
		return data
	}
	push := func(mediaType string, data []byte) ocispec.Descriptor {
		GinkgoHelper()
		described := content.NewDescriptorFromBytes(mediaType, data)
		Expect(repository.Push(ctx(), described, bytes.NewReader(data))).To(Succeed())
		return described
	}
	root, err := repository.Resolve(ctx(), version)
	Expect(err).NotTo(HaveOccurred())
	var manifest ocispec.Manifest
	Expect(json.Unmarshal(fetch(root), &manifest)).To(Succeed())
	var config struct {
		Layer ocispec.Descriptor `json:"componentDescriptorLayer"`
	}
	Expect(json.Unmarshal(fetch(manifest.Config), &config)).To(Succeed())

	layer := push(component.MediaTypeYAML, to)
	old := fetch(config.Layer)
	Expect(bytes.Contains(old, []byte(from))).To(BeTrue())
	config.Layer = push(config.Layer.MediaType, bytes.ReplaceAll(old, []byte(from), []byte(layer.Digest)))
	text, err := json.Marshal(config)
	Expect(err).NotTo(HaveOccurred())
	manifest.Config = push(manifest.Config.MediaType, text)
	manifest.Layers = append(manifest.Layers, config.Layer, layer)
	text, err = json.Marshal(manifest)
	Expect(err).NotTo(HaveOccurred())
	described := content.NewDescriptorFromBytes(root.MediaType, text)
	Expect(repository.PushReference(ctx(), described, bytes.NewReader(text), version)).To(Succeed())
}

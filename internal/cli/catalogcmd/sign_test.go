package catalogcmd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
)

// keyPair writes NAME.pem and NAME.pub.
func (s *shell) keyPair(name string) *rsa.PrivateKey {
	s.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		s.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		s.Fatal(err)
	}
	s.write(name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	s.write(name+".pub", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
	return key
}

// TestBuildSigns what it writes and what it pushes, so that source accepts it with the public key, and with no other one.
func TestBuildSigns(t *testing.T) {
	s := open(t)
	s.keyPair("ours")
	s.keyPair("theirs")
	s.folderWith("1.0.0")
	s.says(0, "catalog build --to www --key ours.pem", "www/all-modules.yaml.sig", "www/all-modules.json.sig", "written")
	s.says(0, "catalog build --to www --key ours.pem --check", "unchanged")
	s.says(1, "catalog build --to www --key theirs.pem --check", "www/all-modules.yaml.sig", "not what the folder gives")
	url := s.served("www") + "/all-modules."
	s.says(0, "catalog source test "+url+"yaml --key ours.pub"+near, "notes")
	s.says(0, "catalog source test "+url+"json --key ours.pub"+near, "notes")
	s.says(1, "catalog source test "+url+"yaml --key theirs.pub"+near, "SignatureInvalid")

	address := "oci://" + s.registry() + "/catalog:latest"
	push := "catalog build --to dist --version 7 --expires 2126-01-31 --push " + address + near + " -o json"
	s.says(0, push, `"pushed"`)
	s.says(1, "catalog source test "+address+" --key ours.pub"+near, "SignatureMissing")
	s.says(0, push+" --key ours.pem", "pushed and signed")
	s.says(1, "catalog source test "+address+" --key theirs.pub"+near, "SignatureInvalid")
	s.says(0, push+" --key theirs.pem", "pushed and signed")
	again := s.says(0, push+" --key ours.pem", "pushed and signed")
	s.says(0, "catalog source test "+address+" --key ours.pub"+near, "notes")
	s.says(0, "catalog source test "+address+" --key theirs.pub"+near, "notes")
	var done outputs
	if err := json.Unmarshal([]byte(again), &done); err != nil || len(done.Items) != 5 {
		t.Errorf("%v %+v", err, done)
	}
}

// TestKeysThatDoNotSign are refused before anything is written.
func TestKeysThatDoNotSign(t *testing.T) {
	s := open(t)
	s.folderWith("1.0.0")
	s.keyPair("ours")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	s.write("curve.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})))
	for name, c := range map[string]struct {
		file string
		code int
		said string
	}{
		"a key that is not there": {"none.pem", 4, "none.pem"},
		"a public key":            {"ours.pub", 64, "for those who verify"},
		"a key of another kind":   {"curve.pem", 64, "RSA"},
		"a file without any key":  {"modules/notes/notes-1.0.0.yaml", 64, "not in PEM"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, said := s.run(strings.Fields("catalog build --to dist --key " + c.file)...)
			if code != c.code || out != "" || !strings.Contains(said, c.said) {
				t.Errorf("exit code %d, %q, %s", code, out, said)
			}
		})
	}
}

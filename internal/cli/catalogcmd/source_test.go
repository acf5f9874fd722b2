package catalogcmd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
)

const near = " --ca-file ca.pem --allow-private-catalogs"

func TestSources(t *testing.T) {
	s, _, namespace := onCluster(t)
	in := " -n " + namespace
	s.folderWith("1.0.0", "1.1.0")
	s.says(0, "catalog build --to www")
	url := s.served("www") + "/all-modules.yaml"

	s.says(0, "catalog source list"+in, "There are no sources")
	s.says(64, "catalog source add ours "+url+" --ca-file ca.pem"+in, "private address", "--allow-private-catalogs")
	s.says(0, "catalog source list"+in, "There are no sources")
	s.says(0, "catalog source add ours "+url+near+in+" --dry-run client", "ours")
	s.says(0, "catalog source add ours "+url+near+in+" --dry-run server", "ours")
	s.says(0, "catalog source list"+in, "There are no sources")
	s.says(0, "catalog source add ours "+url+near+in, "Neither a digest nor a key vouches", "sha256:", "ours")
	s.says(0, "catalog source add ours "+url+near+in, "ours")
	var listed sourceListed
	if err := json.Unmarshal([]byte(s.says(0, "catalog source list -o json"+in)), &listed); err != nil {
		t.Fatal(err)
	}
	if len(listed.Items) != 1 || listed.Items[0].Modules != 1 || listed.Items[0].Checked == nil || listed.Items[0].Kind != communitycatalog.HTTPS {
		t.Errorf("%+v", listed.Items)
	}
	s.says(0, "catalog source test ours"+near+in, "notes", "1.1.0, 1.0.0", "Digest: sha256:", "warning")
	s.says(1, "catalog source add ours https://example.com/all-modules.yaml --test=false"+in, "already exists", "--force")
	s.says(0, "catalog source add ours https://example.com/all-modules.yaml --test=false --force"+in, "example.com")
	s.says(0, "catalog source remove ours"+in, "source/ours removed")
	s.says(4, "catalog source remove ours"+in, "not found")
	s.says(4, "catalog source test ours"+in, "not found")
}

func TestSourcesThatChanged(t *testing.T) {
	s, _, namespace := onCluster(t)
	in := " -n " + namespace
	s.folderWith("1.0.0")
	s.says(0, "catalog build --to www")
	url := s.served("www") + "/all-modules.yaml"
	digest := digest([]byte(s.read("www/all-modules.yaml")))
	s.says(0, "catalog source add pinned "+url+" --digest "+digest+near+in, "by digest")
	s.folderWith("1.1.0")
	s.says(0, "catalog build --to www")
	s.says(1, "catalog source test pinned"+near+in, "DigestMismatch", "it was changed")
	s.says(0, "catalog source list"+in, "it was changed")
	s.says(64, "catalog source test pinned --digest "+digest+in, "omit --digest")
}

func TestSignedSources(t *testing.T) {
	s, _, namespace := onCluster(t)
	in := " -n " + namespace
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	s.write("cosign.pub", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
	s.folderWith("1.0.0")
	s.says(0, "catalog build --to www")
	url := s.served("www") + "/all-modules.yaml"
	s.says(1, "catalog source add signed "+url+" --key cosign.pub"+near+in, "SignatureMissing")
	sum := sha256.Sum256([]byte(s.read("www/all-modules.yaml")))
	signature, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	s.write("www/all-modules.yaml.sig", string(signature))
	s.says(0, "catalog source add signed "+url+" --key cosign.pub"+near+in, "by key")
	s.says(0, "catalog source test signed"+near+in, "notes")
	s.says(4, "catalog source add signed "+url+" --key none.pub"+near+in, "none.pub")
	s.says(64, "catalog source add signed "+url+" --key ca.pem"+near+in, "public key")
}

func TestSourcesWithoutACluster(t *testing.T) {
	s := open(t)
	s.folderWith("1.0.0")
	s.says(0, "catalog build --to www")
	url := s.served("www") + "/all-modules.yaml"
	text := s.says(0, "catalog source test -o json "+url+near, "CatalogTest")
	var found tried
	if err := json.Unmarshal([]byte(text), &found); err != nil || len(found.Modules) != 1 || found.Digest == "" || found.Vouched {
		t.Errorf("%v %+v", err, found)
	}
	s.says(64, "catalog source test http://example.com/x", "without encryption")
	s.says(64, "catalog source test https://me:secret@example.com/x", "login")
	s.says(4, "catalog source test "+strings.Replace(url, "all-", "no-", 1)+near, "404")
	s.says(64, "catalog source add A https://example.com/x", "no name for a source")
	s.says(64, "catalog source add a https://example.com/x --dry-run perhaps", "is unknown")
	s.says(4, "catalog source list", "cannot read kubeconfig")
}

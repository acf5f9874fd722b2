package streams

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// virtual are the runtimes that this process serves.
type virtual struct {
	servers []*httptest.Server
	configs [][]byte
	watches atomic.Int64
	open    atomic.Int64 // connections
	stirred chan struct{}
}

// serve starts runtimes; each has a certificate authority of its own, as real ones have.
func serve(b *testing.B, n int) *virtual {
	b.Helper()
	v := &virtual{stirred: make(chan struct{})}
	for i := range n {
		ca, cert := certify(b, fmt.Sprintf("runtime-%d", i))
		server := httptest.NewUnstartedServer(&apiServer{virtual: v, number: i})
		server.EnableHTTP2 = true
		server.Config.ConnState = v.count
		server.Config.ErrorLog = log.New(nobody{}, "", 0)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
		server.StartTLS()
		v.servers = append(v.servers, server)
		v.configs = append(v.configs, kubeconfig(b, server.URL, ca, i))
	}
	b.Cleanup(func() {
		for _, server := range v.servers {
			server.CloseClientConnections()
			server.Close()
		}
	})
	return v
}

type nobody struct{}

func (nobody) Write(p []byte) (int, error) { return len(p), nil }

func (v *virtual) access(from, to int) []access {
	all := make([]access, 0, to-from)
	for i := from; i < to; i++ {
		all = append(all, access{Name: fmt.Sprintf("kyma-%04d", i), Kubeconfig: v.configs[i]})
	}
	return all
}

func (v *virtual) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		v.open.Add(1)
	case http.StateClosed:
		v.open.Add(-1)
	case http.StateActive, http.StateIdle, http.StateHijacked:
	}
}

// settle waits until every runtime has the one connection left that its streams go over, as it is at rest.
func (v *virtual) settle(b *testing.B, n int) {
	b.Helper()
	until(b, "connections", &v.open, n)
}

// await waits until that many streams are open.
func (v *virtual) await(b *testing.B, n int) {
	b.Helper()
	until(b, "streams", &v.watches, n)
}

func until(b *testing.B, what string, have *atomic.Int64, want int) {
	b.Helper()
	deadline := time.After(2 * time.Minute)
	for have.Load() != int64(want) {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			b.Errorf("%d %s, want %d", have.Load(), what, want)
			runtime.Goexit() // in a goroutine of its own, where Fatal is not allowed
		}
	}
}

// stir has every stream tell a change and a bookmark, so that no one is measured who has never read anything.
func (v *virtual) stir() { close(v.stirred) }

// apiServer is one runtime.
type apiServer struct {
	*virtual
	number int
}

// ServeHTTP implements http.Handler.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	resource := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
	full := !strings.Contains(req.Header.Get("Accept"), "PartialObjectMetadata")
	switch {
	case resource == "version":
		_, _ = fmt.Fprint(w, `{"major":"1","minor":"36"}`)
	case resource == "v1alpha1":
		_, _ = fmt.Fprint(w, `{"kind":"APIResourceList","resources":[{"name":"samples","kind":"Sample","namespaced":true}]}`)
	case req.URL.Query().Get("watch") != "":
		s.watch(w, req, resource, full)
	default:
		items := make([]string, 0, objects)
		for i := range objects {
			items = append(items, s.object(resource, i, 1000+i, full))
		}
		_, _ = fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"2000"},"items":[%s]}`, strings.Join(items, ","))
	}
}

func (s *apiServer) watch(w http.ResponseWriter, req *http.Request, resource string, full bool) {
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	s.watches.Add(1)
	defer s.watches.Add(-1)
	select {
	case <-s.stirred:
		_, _ = fmt.Fprintf(w, `{"type":"MODIFIED","object":%s}`+"\n", s.object(resource, 0, 3000, full))
		_, _ = fmt.Fprint(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"3001"}}}`+"\n")
		w.(http.Flusher).Flush()
	case <-req.Context().Done():
	}
	<-req.Context().Done()
}

// object is as large as a module's usually is: metadata with the managed fields of three writers, and a pod template in full ones.
func (s *apiServer) object(resource string, i, version int, full bool) string {
	fields := func(manager, operation, subresource string) metav1.ManagedFieldsEntry {
		set := `{"f:metadata":{"f:annotations":{"f:a":{},"f:b":{}},"f:labels":{"f:c":{},"f:d":{}}},"f:spec":{` +
			strings.TrimSuffix(strings.Repeat(`"f:template":{"f:spec":{"f:containers":{}}},`, 12), ",") + `}}`
		at := metav1.Unix(1_700_000_000, 0)
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), Subresource: subresource,
			APIVersion: "v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(set),
		}
	}
	object := map[string]any{
		"metadata": map[string]any{
			"name": fmt.Sprintf("module-%s-%d", resource, i), "namespace": v1beta2.RuntimeNamespace, "generation": 1,
			"uid":             fmt.Sprintf("%08x-0000-4000-8000-%012x", s.number, i),
			"resourceVersion": fmt.Sprint(version),
			"labels":          map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma},
			"annotations": map[string]string{
				v1beta2.AnnotationOwnedBy:    v1beta2.DefaultNamespace + "/" + fmt.Sprintf("kyma-%04d", s.number),
				v1beta2.AnnotationDisclaimer: v1beta2.DisclaimerText,
			},
			"managedFields": []metav1.ManagedFieldsEntry{
				fields(v1beta2.FieldManagerModule, "Apply", ""), fields("manager", "Update", ""), fields("manager", "Update", "status"),
			},
		},
	}
	if full {
		object["spec"] = map[string]any{"replicas": 1, "template": map[string]any{"spec": strings.Repeat("x", 3000)}}
		object["status"] = map[string]any{
			"state": "Ready", "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
			"conditions": []any{
				map[string]any{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
				map[string]any{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
			},
		}
	}
	data, err := json.Marshal(object)
	if err != nil {
		panic(err) // maps of texts
	}
	return string(data)
}

func certify(b *testing.B, name string) (ca []byte, cert tls.Certificate) {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		b.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func kubeconfig(b *testing.B, url string, ca []byte, i int) []byte {
	b.Helper()
	file := clientcmdapi.NewConfig()
	file.Clusters["c"] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: ca}
	file.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: strings.Repeat(fmt.Sprintf("token-%d-", i), 100)}
	file.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	file.CurrentContext = "x"
	data, err := clientcmd.Write(*file)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

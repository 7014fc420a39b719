package management

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestAskingWithACertificate: an extension that demands a certificate of its clients
// answers those that have one.
func TestAskingWithACertificate(t *testing.T) {
	t.Parallel()
	var server *httptest.Server
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The client has the server's own one.
		if !r.TLS.PeerCertificates[0].Equal(server.Certificate()) {
			t.Error("it was shown another certificate")
		}
		_, err := io.WriteString(w, `{"status": "Success", "controlPlaneUpgrades": [{"version": "v1.34.4"}], "workersUpgrades": [{"version": "v1.34.4"}]}`)
		if err != nil {
			t.Error(err)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	c := clientOf(interceptor.Funcs{Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
		if config, ok := into.(*runtimev1.ExtensionConfig); ok {
			config.Spec.ClientConfig = runtimev1.ClientConfig{URL: server.URL, CABundle: authority}
		} else {
			*into.(*clusterv1.Cluster) = clusterv1.Cluster{}
		}
		return nil
	}})
	ask := func(certificates []tls.Certificate) ([]string, error) {
		planner := Planner{Certificates: certificates}
		controlPlane, _, err := planner.Asking(c, client.ObjectKey{Namespace: "ns", Name: "c"}, "plan.ext")(t.Context(), "v1.34.4", "v1.33.1", "v1.33.1")
		return controlPlane, err
	}
	if _, err := ask(nil); !errors.As(err, new(*ExtensionError)) {
		t.Errorf("without a certificate: %v", err)
	}
	got, err := ask(server.TLS.Certificates)
	if diff := cmp.Diff([]string{"v1.34.4"}, got); diff != "" || err != nil {
		t.Errorf("with a certificate: %v (-want +got):\n%s", err, diff)
	}
}

package runtimeextension

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// maxBody bounds a request. It has a Cluster, and no object is larger than 1.5 MiB with
// etcd's default limit.
const maxBody = 4 << 20

// readWithin is how long the body of a request may take.
const readWithin = 10 * time.Second

// guarded refuses what is not a request of Cluster API before a handler sees it, and
// logs it once.
type guarded struct {
	webhook.Server
	log     logr.Logger
	metrics *metrics
}

// Register registers a handler behind the guard.
func (g guarded) Register(at string, handler http.Handler) {
	hook := hookOf(at)
	g.Server.Register(at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		body, problem := readRequest(w, r, hook)
		if problem != nil {
			g.log.Info("refused a request", "hook", hook, "from", r.RemoteAddr, "status", problem.status, "reason", problem.Error())
			g.metrics.refused(hook, problem.status)
			http.Error(w, problem.Error(), problem.status)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answered := &recorder{ResponseWriter: w}
		w.Header().Set("Content-Type", "application/json")
		handler.ServeHTTP(answered, r)
		status, message := answered.outcome()
		g.metrics.answered(hook, status, time.Since(began))
		if status == string(runtimehooksv1.ResponseStatusFailure) {
			g.log.Info("answered with a failure", "hook", hook, "from", r.RemoteAddr, "reason", message)
		} else {
			g.log.V(1).Info("answered", "hook", hook, "from", r.RemoteAddr, "message", message)
		}
	}))
}

// hookOf is the name of the hook that a path of Cluster API's form is for:
// /hooks.runtime.cluster.x-k8s.io/v1alpha1/generateupgradeplan/name.
func hookOf(at string) string {
	parts := strings.Split(strings.Trim(path.Clean(at), "/"), "/")
	if len(parts) < 3 {
		return at
	}
	return parts[2]
}

// refusal is why a request is not answered.
type refusal struct {
	status int
	error
}

// readRequest reads the body of a request for a hook.
func readRequest(w http.ResponseWriter, r *http.Request, hook string) ([]byte, *refusal) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, &refusal{http.StatusMethodNotAllowed, fmt.Errorf("method %s: use POST", r.Method)}
	}
	// Without a deadline, a slow client would keep the server from stopping.
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(readWithin)); err != nil {
		return nil, &refusal{http.StatusInternalServerError, fmt.Errorf("limiting the time to read: %w", err)}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, &refusal{http.StatusRequestEntityTooLarge, fmt.Errorf("the body is larger than %d bytes", maxBody)}
	}
	if err != nil {
		return nil, &refusal{http.StatusBadRequest, fmt.Errorf("reading the body: %w", err)}
	}
	var kind metav1.TypeMeta
	if err := json.Unmarshal(body, &kind); err != nil {
		return nil, &refusal{http.StatusBadRequest, fmt.Errorf("the body is not JSON: %w", err)}
	}
	if kind.APIVersion != runtimehooksv1.GroupVersion.String() || !strings.EqualFold(kind.Kind, hook+"Request") {
		return nil, &refusal{http.StatusBadRequest, fmt.Errorf("the body is a %q of %q, and not a request of this hook", kind.Kind, kind.APIVersion)}
	}
	return body, nil
}

// recorder keeps what is answered, to tell of it.
type recorder struct {
	http.ResponseWriter
	body []byte
}

func (r *recorder) Write(data []byte) (int, error) {
	r.body = append(r.body, data...)
	return r.ResponseWriter.Write(data)
}

// outcome is the status of a response, and its message.
func (r *recorder) outcome() (status, message string) {
	var response struct{ Status, Message string }
	if err := json.Unmarshal(r.body, &response); err != nil {
		return string(runtimehooksv1.ResponseStatusFailure), string(r.body)
	}
	return response.Status, response.Message
}

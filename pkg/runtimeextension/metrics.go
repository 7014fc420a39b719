package runtimeextension

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics count what is asked.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "clusterctl_x_runtime_extension_requests_total",
			Help: "Requests, by hook and outcome: the status of the response, or the HTTP status of a refusal.",
		}, []string{"hook", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "clusterctl_x_runtime_extension_request_duration_seconds",
			Help:    "How long answered requests took, by hook.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 8),
		}, []string{"hook"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) refused(hook string, status int) {
	m.requests.WithLabelValues(hook, strconv.Itoa(status)).Inc()
}

func (m *metrics) answered(hook, status string, took time.Duration) {
	m.requests.WithLabelValues(hook, status).Inc()
	m.seconds.WithLabelValues(hook).Observe(took.Seconds())
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Package logs sends what libraries log where it belongs: what people are to know is not in
// a log.
package logs

import (
	"flag"
	"fmt"
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/clusterctl-x/clusterctl-x/pkg/output"
)

// SetUp sends the log of the Kubernetes libraries to stderr, and only when it was asked for.
func SetUp(verbosity int) error {
	log.SetLogger(klog.Background()) // of controller-runtime
	if verbosity == 0 {
		klog.SetOutput(io.Discard)
		klog.LogToStderr(false)
		// klog writes errors to stderr whatever its output is, unless stderrthreshold is set.
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		klog.InitFlags(flags)
		return flags.Set("stderrthreshold", "FATAL")
	}
	var level klog.Level
	return level.Set(fmt.Sprint(verbosity))
}

// Structured is the log of a server, a line or an object of JSON for each event. What
// libraries log goes there too.
func Structured(w io.Writer, format string, verbosity int) logr.Logger {
	options := &slog.HandlerOptions{Level: slog.Level(-verbosity)}
	var handler slog.Handler = slog.NewTextHandler(w, options)
	if format == output.JSON {
		handler = slog.NewJSONHandler(w, options)
	}
	slog.SetDefault(slog.New(handler)) // and so for package log, which net/http logs by
	log := logr.FromSlogHandler(handler)
	klog.SetLogger(log.V(1)) // what libraries do is for who asks
	return log
}

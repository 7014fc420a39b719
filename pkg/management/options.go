package management

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Defaults of Options.
const (
	DefaultLeaseDuration = 15 * time.Second
	DefaultRenewInterval = 5 * time.Second
	DefaultRenewDeadline = 12 * time.Second
	DefaultRetryPeriod   = time.Second
	DefaultRetryTimeout  = 10 * time.Second
)

// Options are the clock and the durations of a Client. A field that is zero has its
// default.
type Options struct {
	// Clock tells the time; the default is the system's. Deadlines of contexts and requests
	// are the system's in any case.
	Clock clock.WithTicker

	// LeaseDuration is for how long a run holds a lock that it does not renew, in whole
	// seconds. Other runs read it from the Lease.
	LeaseDuration time.Duration
	// RenewInterval is how often a run renews its lock.
	RenewInterval time.Duration
	// RenewDeadline is for how long a run goes on without renewing its lock. It ends before
	// LeaseDuration, so that the last thing that the run sent arrives before another one
	// begins.
	RenewDeadline time.Duration
	// RetryPeriod is how often a run looks at the lock of another run, and tries to renew its
	// own where that failed.
	RetryPeriod time.Duration

	// RetryTimeout is for how long an API server that does not answer is asked again. It is
	// shorter than RenewDeadline.
	RetryTimeout time.Duration
	// RetryBackoff are the pauses between these requests. By default they double from 50 ms
	// to 2 s.
	RetryBackoff wait.Backoff

	// BootstrapFailures are how machines of infrastructure providers say that their
	// bootstrap failed for good: those of providers.Set.
	BootstrapFailures []state.BootstrapFailure
}

// withDefaults returns the options with the defaults of what is zero.
func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.LeaseDuration = cmp.Or(o.LeaseDuration, DefaultLeaseDuration)
	o.RenewInterval = cmp.Or(o.RenewInterval, DefaultRenewInterval)
	o.RenewDeadline = cmp.Or(o.RenewDeadline, DefaultRenewDeadline)
	o.RetryPeriod = cmp.Or(o.RetryPeriod, DefaultRetryPeriod)
	o.RetryTimeout = cmp.Or(o.RetryTimeout, DefaultRetryTimeout)
	o.RetryBackoff = cmp.Or(o.RetryBackoff, wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Cap: 2 * time.Second, Steps: math.MaxInt})
	return o
}

// Durations for a cluster that manages itself, whose API server is away for a while when its machine
// is replaced: requests wait for the load balancer, and controllers for their own requests.
const (
	ownLeaseDuration = time.Minute
	ownRenewDeadline = 50 * time.Second
	ownRetryTimeout  = 40 * time.Second
)

// itself returns the options for a cluster that manages itself.
func (o Options) itself() Options {
	o = o.withDefaults()
	o.LeaseDuration, o.RenewDeadline, o.RetryTimeout = max(o.LeaseDuration, ownLeaseDuration), max(o.RenewDeadline, ownRenewDeadline), max(o.RetryTimeout, ownRetryTimeout)
	return o
}

// check refuses durations with which two runs could write at the same time. The options
// have their defaults.
func (o Options) check() error {
	switch {
	case o.LeaseDuration < time.Second || o.LeaseDuration%time.Second != 0:
		return fmt.Errorf("LeaseDuration is %s; a Lease has whole seconds", o.LeaseDuration)
	case o.RenewDeadline >= o.LeaseDuration:
		return fmt.Errorf("RenewDeadline is %s; it must be shorter than LeaseDuration, %s", o.RenewDeadline, o.LeaseDuration)
	case o.RenewInterval >= o.RenewDeadline:
		return fmt.Errorf("RenewInterval is %s; it must be shorter than RenewDeadline, %s", o.RenewInterval, o.RenewDeadline)
	case o.RetryTimeout >= o.RenewDeadline:
		return fmt.Errorf("RetryTimeout is %s; it must be shorter than RenewDeadline, %s", o.RetryTimeout, o.RenewDeadline)
	case min(o.RenewInterval, o.RetryPeriod, o.RetryTimeout) <= 0:
		return fmt.Errorf("RenewInterval is %s, RetryPeriod %s and RetryTimeout %s; they must be longer than 0", o.RenewInterval, o.RetryPeriod, o.RetryTimeout)
	}
	return nil
}

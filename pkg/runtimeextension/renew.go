package runtimeextension

import (
	"bytes"
	"context"
	"time"
)

// lookEvery is how often a certificate is looked at while the server runs.
const lookEvery = 12 * time.Hour

// Renewal renews the certificate that OwnCertificate made.
type Renewal struct {
	Dir, Host string
	// Authority of the certificate, as PEM.
	Authority []byte
	// Write is as for OwnCertificate.
	Write func(path string, data []byte) error
	// Renewed is called with a new authority, until it returns no error.
	Renewed func(ctx context.Context, authority []byte) error
	// Failed is called with an error that is retried.
	Failed func(error)
}

// Run keeps the certificate good until ctx ends. The server reads the files again when
// they change.
func (r Renewal) Run(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			authority, err := OwnCertificate(r.Dir, r.Host, time.Now(), r.Write)
			if err == nil && !bytes.Equal(authority, r.Authority) {
				err = r.Renewed(ctx, authority)
			}
			if err != nil {
				r.Failed(err)
				continue
			}
			r.Authority = authority
		}
	}
}

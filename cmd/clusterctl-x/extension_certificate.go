package main

import (
	"crypto/tls"
	"fmt"

	"github.com/spf13/cobra"
)

// Flags for the certificate that runtime extensions are asked with, named as those of
// Cluster API's core controller.
const (
	extensionCertificateFlag = "runtime-extension-client-cert-file"
	extensionKeyFlag         = "runtime-extension-client-key-file"
)

func (a *app) addExtensionCertificate(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.options.ExtensionCertificate, extensionCertificateFlag, "", "path of the PEM-encoded client certificate for runtime extensions that demand one")
	cmd.Flags().StringVar(&a.options.ExtensionKey, extensionKeyFlag, "", "path of the PEM-encoded key of that certificate")
}

// extensionCertificates are those that runtime extensions are asked with; none where
// the user has none.
func (a *app) extensionCertificates() ([]tls.Certificate, error) {
	certificate, key := a.options.ExtensionCertificate, a.options.ExtensionKey
	switch {
	case certificate == "" && key == "":
		return nil, nil
	case certificate == "" || key == "":
		return nil, usageError{fmt.Errorf("--%s and --%s go together: the one has the certificate, the other its key", extensionCertificateFlag, extensionKeyFlag)}
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, usageError{fmt.Errorf("reading the client certificate for runtime extensions from %s and %s: %w; --%s and --%s name PEM files that belong together", certificate, key, err, extensionCertificateFlag, extensionKeyFlag)}
	}
	return []tls.Certificate{pair}, nil
}

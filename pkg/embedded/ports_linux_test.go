package embedded

import "testing"

// Linux has every address of 127.0.0.0/8; other systems have 127.0.0.1 alone.

func TestTakenOnAnotherAddress(t *testing.T) {
	t.Parallel()
	port := listen(t, "127.0.0.2:0")
	assertClaim(t, Ports{APIServer: port}, 0)
	assertClaim(t, Ports{CoreWebhook: port}, port)
}

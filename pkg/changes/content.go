package changes

import (
	"crypto/sha256"
	"encoding/hex"
)

// hashLength of the end of a template's name: 40 bits, for the few templates
// that one owner ever has.
const hashLength = 10

// ContentHash returns a short hash of content. Names of immutable templates end in
// the hash of their spec, so that one that is not changed keeps its name.
func ContentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])[:hashLength]
}

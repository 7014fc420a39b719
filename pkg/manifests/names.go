package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// hashLength of the end of a template's name: 40 bits, for the few templates
// that one owner ever has.
const hashLength = 10

// templateName names an immutable template after its owner and its spec.
func templateName(owner string, template templater.Object) (string, error) {
	var content struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(template.JSON, &content); err != nil {
		return "", fmt.Errorf("naming a template of %s: %w", owner, err)
	}
	sum := sha256.Sum256(content.Spec)
	return owner + "-" + hex.EncodeToString(sum[:])[:hashLength], nil
}

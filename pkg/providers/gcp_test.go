package providers_test

import "testing"

// TestGCPRules: what GCP's webhooks and schemas would refuse is refused at its line.
func TestGCPRules(t *testing.T) {
	t.Parallel()
	const (
		compute = "confidentialCompute: AMDEncryptedVirtualization\n"
		machine = "instanceType: n2d-standard-4"
		spec    = "69: spec: Invalid value: "
	)
	assertRules(t, "gcp-all-fields", map[string]ruleTest{
		"nothing wrong":                {"", "", ""},
		"migration":                    {"onHostMaintenance: Terminate", "onHostMaintenance: Migrate", spec + "confidentialCompute needs onHostMaintenance Terminate; set that, or remove confidentialCompute"},
		"SEV on another series":        {machine, "instanceType: n2-standard-4", spec + "this confidentialCompute needs an instanceType of series n2d, c2d or c3d; give one, or remove confidentialCompute"},
		"SEV on a series alike":        {machine, "instanceType: n2dx-standard-4", spec + "this confidentialCompute needs an instanceType of series n2d, c2d or c3d; give one, or remove confidentialCompute"},
		"SEV on its other series":      {machine, "instanceType: c3d-standard-4", ""},
		"SEV-SNP":                      {compute, "confidentialCompute: AMDEncryptedVirtualizationNestedPaging\n", ""},
		"SEV-SNP on a series of SEV":   {"instanceType: n1-standard-16", "instanceType: c2d-standard-16\n  confidentialCompute: AMDEncryptedVirtualizationNestedPaging", "104: spec: Invalid value: this confidentialCompute needs an instanceType of series n2d; give one, or remove confidentialCompute"},
		"TDX on a series of AMD":       {compute, "confidentialCompute: IntelTrustedDomainExtensions\n", spec + "this confidentialCompute needs an instanceType of series c3; give one, or remove confidentialCompute"},
		"another character in a tag":   {"value: platform", `value: "plat/form"`, `64: spec.resourceManagerTags[0].value: Invalid value: "plat/form": should match '^[A-Za-z0-9]([A-Za-z0-9 _.@%=+:,*#&()[\]{}-]{0,61}[A-Za-z0-9])?$'`},
		"tag of a machine that is odd": {"value: control-plane", `value: "-"`, `95: spec.resourceManagerTags[0].value: Invalid value: "-": should match '^[A-Za-z0-9]([A-Za-z0-9 _.@%=+:,*#&()[\]{}-]{0,61}[A-Za-z0-9])?$'`},
	})
}

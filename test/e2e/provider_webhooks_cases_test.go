package e2e_test

import (
	"fmt"
	"regexp"
	"strings"
)

// acceptedByProviders are the smallest objects by their kinds, and their specs with the
// defaults of the webhooks and of the schema.
func acceptedByProviders() map[string]struct{ manifest, spec string } {
	return map[string]struct{ manifest, spec string }{
		"AWSCluster": {awsCluster, `bastion:
  allowedCIDRBlocks:
  - 0.0.0.0/0
  - ::/0
  enabled: false
controlPlaneEndpoint:
  host: ""
  port: 0
controlPlaneLoadBalancer:
  crossZoneLoadBalancing: false
  loadBalancerType: classic
  scheme: internet-facing
identityRef:
  kind: AWSClusterControllerIdentity
  name: default
network:
  cni:
    cniIngressRules:
    - description: bgp (calico)
      fromPort: 179
      protocol: tcp
      toPort: 179
    - description: IP-in-IP (calico)
      fromPort: -1
      protocol: "4"
      toPort: 65535
  vpc:
    availabilityZoneSelection: Ordered
    availabilityZoneUsageLimit: 3
    subnetSchema: PreferPrivate
region: eu-central-1
`},
		"AWSMachineTemplate": {awsTemplate, `template:
  spec:
    hostAffinity: default
    instanceType: m7i.large
`},
		"GCPCluster": {gcpCluster, `network:
  minPortsPerVm: 64
  mtu: 1460
project: ours
region: europe-west3
`},
		"GCPMachineTemplate": {gcpTemplate, `template:
  spec:
    instanceType: n2-standard-2
    ipForwarding: Enabled
`},
	}
}

// objectValue is an object that a provider repeats in its message, with times and a UID.
var objectValue = regexp.MustCompile(`Invalid value: \{.*\}: `)

// askedOfProvider is what a provider answers; an empty answer is its consent.
type askedOfProvider struct {
	write write
	want  string
}

// answersOfProviders are those to wrong objects, and changes of the smallest ones that are not allowed.
func answersOfProviders() map[string]askedOfProvider {
	return map[string]askedOfProvider{
		// By the schema.
		"AWS: no instance type": {
			made(strings.ReplaceAll(awsTemplate, "instanceType: m7i.large", "ami: {id: ami-0a34}")),
			invalid("AWSMachineTemplate", "[spec.template.spec.instanceType: Required value, "+notChecked+"]"),
		},
		"AWS: misspelt field": {
			made(awsTemplate + "      imageLookupOrganisation: \"123\"\n"),
			`AWSMachineTemplate in version "v1beta2" cannot be handled as a AWSMachineTemplate: strict decoding error: unknown field "spec.template.spec.imageLookupOrganisation"`,
		},
		"AWS: spot instance in a reservation": {
			made(awsTemplate + "      marketType: Spot\n      capacityReservationId: cr-1\n"),
			invalid("AWSMachineTemplate", "spec.template.spec: Invalid value: capacityReservationId may not be set when marketType is Spot"),
		},
		"GCP: no project": {
			made(strings.ReplaceAll(gcpCluster, "  project: ours\n", "")),
			invalid("GCPCluster", "[spec.project: Required value, "+notChecked+"]"),
		},
		"GCP: MTU too large": {
			made(strings.ReplaceAll(gcpCluster, "network: {}", "network: {mtu: 9000}")),
			invalid("GCPCluster", "spec.network.mtu: Invalid value: 9000: spec.network.mtu in body should be less than or equal to 8896"),
		},
		// By the webhooks.
		"AWS: fields that a template may not have": {
			made(awsTemplate + "      providerID: aws:///a/i-1\n      cloudInit: {secretPrefix: any, secretCount: 1}\n"),
			denied("AWSMachineTemplate", "[spec.template.spec.cloudInit.secretPrefix: Forbidden: cannot be set in templates, "+
				"spec.cloudInit.secretCount: Forbidden: cannot be set in templates, "+
				"spec.template.spec.providerID: Forbidden: cannot be set in templates]"),
		},
		"AWS: volume without IOPS": {
			made(awsTemplate + "      rootVolume: {size: 8, type: io1}\n"),
			denied("AWSMachineTemplate", "spec.template.spec.rootVolume.iops: Required value: iops required if type is 'io1' or 'io2'"),
		},
		"AWS: health check of no load balancer": {
			made(awsCluster + "  controlPlaneLoadBalancer: {loadBalancerType: disabled, healthCheckProtocol: TCP}\n"),
			denied("AWSCluster", `spec.controlPlaneLoadBalancer.healthCheckProtocol: Invalid value: "TCP": healthcheck protocol cannot be set if the LoadBalancer reconciliation is disabled`),
		},
		"AWS: no CIDR block": {
			made(awsCluster + "  network: {subnets: [{id: a, cidrBlock: 10.0.0.0}]}\n"),
			denied("AWSCluster", `spec.network.subnets[0].cidrBlock: Invalid value: "10.0.0.0": subnet CIDR block is invalid`),
		},
		"GCP: confidential machine that migrates": {
			made(gcpTemplate + "      confidentialCompute: Enabled\n      onHostMaintenance: Migrate\n"),
			deniedAs("GCPMachineTemplate", "ConfidentialCompute require OnHostMaintenance to be set to Terminate, the current value is: Migrate"),
		},
		// Changes.
		"AWS: another region": {
			merged("awscluster/small", `{"spec":{"region":"eu-west-1"}}`),
			denied("AWSCluster", `spec.region: Invalid value: "eu-west-1": field is immutable`),
		},
		"AWS: another scheme of the load balancer": {
			merged("awscluster/small", `{"spec":{"controlPlaneLoadBalancer":{"scheme":"internal"}}}`),
			denied("AWSCluster", `spec.controlPlaneLoadBalancer.scheme: Invalid value: "internal": field is immutable`),
		},
		"AWS: another instance type": {
			merged("awsmachinetemplate/small", `{"spec":{"template":{"spec":{"instanceType":"m7i.xlarge"}}}}`),
			denied("AWSMachineTemplate", "spec.template.spec: Invalid value: OBJECT: AWSMachineTemplate.Spec is immutable"),
		},
		"AWS: another instance type in a dry run of a topology": {
			merged("awsmachinetemplate/small", topologyDryRun(`{"instanceType":"m7i.xlarge"}`)), "",
		},
		"GCP: another region and project": {
			merged("gcpcluster/small", `{"spec":{"project":"theirs","region":"europe-west4"}}`),
			denied("GCPCluster", `[spec.Project: Invalid value: "theirs": field is immutable, spec.Region: Invalid value: "europe-west4": field is immutable]`),
		},
		// The schema fills in the MTU of a network, and the webhook wants one.
		"GCP: any change, without a network": {
			merged("gcpcluster/small", `{"metadata":{"labels":{"a":"b"}},"spec":{"network":null}}`),
			denied("GCPCluster", "spec.Network.Mtu: Invalid value: 0: field cannot be lesser than 1300"),
		},
		"GCP: another instance type": {
			merged("gcpmachinetemplate/small", `{"spec":{"template":{"spec":{"instanceType":"n2-standard-4"}}}}`),
			denied("GCPMachineTemplate", "spec: Forbidden: cannot be modified"),
		},
		"GCP: another instance type in a dry run of a topology": {
			merged("gcpmachinetemplate/small", topologyDryRun(`{"instanceType":"n2-standard-4"}`)),
			denied("GCPMachineTemplate", "spec: Forbidden: cannot be modified"),
		},
		"GCP: other labels of machines": {
			merged("gcpmachinetemplate/small", `{"spec":{"template":{"spec":{"additionalLabels":{"a":"b"}}}}}`), "",
		},
	}
}

// topologyDryRun changes a template as the controller of Cluster API's topologies does, before
// it makes a new one.
func topologyDryRun(spec string) string {
	return `{"metadata":{"annotations":{"topology.cluster.x-k8s.io/dry-run":""}},"spec":{"template":{"spec":` + spec + `}}}`
}

// notChecked is what the API server adds when fields are missing.
const notChecked = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// invalid is what the API server says of the smallest object of a kind.
func invalid(kind, reason string) string {
	return fmt.Sprintf(`%s.infrastructure.cluster.x-k8s.io "small" is invalid: %s`, kind, reason)
}

// denied is what the API server says when a provider's webhook finds that.
func denied(kind, reason string) string { return deniedAs(kind, invalid(kind, reason)) }

// deniedAs is what the API server says of the error of a provider's webhook.
func deniedAs(kind, message string) string {
	return fmt.Sprintf(`admission webhook "validation.%s.infrastructure.cluster.x-k8s.io" denied the request: %s`, strings.ToLower(kind), message)
}

package plan

import (
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// Changes are those of one part, or of the cluster as a whole, besides versions and
// counts.
type Changes struct {
	Fields []changes.Change `json:"changes,omitempty"`
	// Templates is not nil where machines of the wanted version were made from other
	// templates than the wanted ones.
	Templates *TemplateChange `json:"templates,omitempty"`
	// Unknown is not nil where the changes cannot be computed.
	Unknown *Unknown `json:"unknownChanges,omitempty"`
}

// TemplateChange has the names of the templates that machines are made from.
type TemplateChange struct {
	// Old is empty where it is not known.
	Old []string `json:"old,omitempty"`
	New []string `json:"new"`
}

// Unknown says why changes cannot be computed. They may replace machines.
type Unknown struct {
	ClusterClass string        `json:"clusterClass"`
	Reason       UnknownReason `json:"reason"`
	// Message says more, in the words of Cluster API.
	Message string `json:"message,omitempty"`
}

// UnknownReason is a reason why changes cannot be computed.
type UnknownReason string

// Reasons why changes cannot be computed.
const (
	// ExternalPatches is that of a class that runtime extensions patch, which only
	// Cluster API asks.
	ExternalPatches UnknownReason = "ExternalPatches"
	// NothingGenerated is that of a class from which Cluster API can make nothing for
	// the cluster as it is.
	NothingGenerated UnknownReason = "NothingGenerated"
)

// changeAnything reports whether there are any changes.
func (c Changes) changeAnything() bool {
	return len(c.Fields) > 0 || c.Templates != nil || c.Unknown != nil
}

// replacing returns the changes that machines are replaced for.
func (c Changes) replacing() Changes {
	c.Fields = c.where(func(change changes.Change) bool { return change.ReplacesMachines })
	return c
}

// inPlace returns the changes that no machine is replaced for.
func (c Changes) inPlace() Changes {
	return Changes{Fields: c.where(func(change changes.Change) bool { return !change.ReplacesMachines })}
}

// ordered returns the changes with those first that machines are replaced for.
func (c Changes) ordered() Changes {
	c.Fields = slices.Concat(c.replacing().Fields, c.inPlace().Fields)
	return c
}

func (c Changes) where(chosen func(changes.Change) bool) []changes.Change {
	var fields []changes.Change
	for _, change := range c.Fields {
		if chosen(change) {
			fields = append(fields, change)
		}
	}
	return fields
}

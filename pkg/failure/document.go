package failure

import (
	"encoding/json"
	"errors"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// kind is the kind of the document of a failed command.
const kind = "Error"

// Document is what a failed command writes to stderr with -o json and -o yaml.
type Document struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Code       int       `json:"code"`
	Reason     string    `json:"reason"`
	Problems   []Problem `json:"problems"`
}

// Problem is one thing that is wrong. What does not apply is left out.
type Problem struct {
	// File and Line are where it is, and Path which field of the file.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Object is Kind/name on the management cluster, and Path which field of it.
	Object string `json:"object,omitempty"`
	Path   string `json:"path,omitempty"`
	// Check is the name of the preflight or of the refusal.
	Check   string `json:"check,omitempty"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
}

// text returns what a failed command writes to stderr, in the format of -o.
func text(format string, code int, err error) string {
	document := Document{APIVersion: v1alpha1.APIVersion, Kind: kind, Code: code, Reason: outcomeOf(err).reason}
	for _, one := range separate(err) {
		document.Problems = append(document.Problems, problemsOf(one)...)
	}
	switch format {
	case output.JSON:
		var line strings.Builder
		encoder := json.NewEncoder(&line) // on one line, which is the last one of stderr
		encoder.SetEscapeHTML(false)
		if encoder.Encode(document) == nil {
			return strings.TrimSuffix(line.String(), "\n")
		}
	case output.YAML:
		if lines, err := yaml.Marshal(document); err == nil {
			return strings.TrimSuffix(string(lines), "\n")
		}
	}
	return message(err)
}

// problemsOf returns what is wrong. Where an error has a list, the sentence that the list is
// about comes first.
func problemsOf(err error) []Problem {
	var (
		problems  strictyaml.Problems
		denied    validations.Refused
		no        *plan.NoPlanError
		preflight *management.PreflightError
		moved     *engine.StalePlanError
		conflict  *management.ConflictError
		exists    *management.AlreadyExistsError
		class     *management.ClassError
		refused   *management.RefusedError
	)
	first, _, _ := strings.Cut(err.Error(), "\n")
	all := []Problem{sentence(first)}
	switch {
	case errors.As(err, &problems):
		return inFile(problems)
	case errors.As(err, &denied):
		return inFile(denied.Problems)
	case errors.As(err, &no):
		return sentences(no.Reasons)
	case errors.As(err, &preflight):
		for _, finding := range preflight.Findings {
			all = append(all, sentence(finding.Reason).of(Problem{Check: finding.Check}))
		}
	case errors.As(err, &moved):
		all = append(all, sentences(moved.Reasons)...)
	case errors.As(err, &conflict):
		for _, one := range conflict.Fields {
			all = append(all, Problem{Object: one.Object, Path: one.Path, Problem: one.Reason})
		}
		for _, finding := range conflict.Reverted() {
			all = append(all, sentence(finding.Reason).of(Problem{Check: finding.Check}))
		}
	case errors.As(err, &exists):
		for _, change := range exists.Changes {
			all = append(all, Problem{Object: change.Object, Path: change.Path, Problem: change.Effect()})
		}
	case len(conflictCauses(err)) > 0:
		for _, cause := range conflictCauses(err) {
			all = append(all, Problem{Path: strings.TrimPrefix(cause.Field, "."), Problem: cause.Message})
		}
	case errors.As(err, &class):
		all = nil
		for _, reason := range class.Reasons {
			all = append(all, sentence(reason.Cause.Message).of(Problem{Object: reason.Object, Path: reason.Cause.Field}))
		}
	case errors.As(err, &refused):
		all = sentences(strings.Split(err.Error(), "\n"))
		for i := range all {
			all[i].Check = refused.Check
		}
	case first != err.Error(): // of others, who have no remedies
		all = []Problem{{Problem: err.Error()}}
	}
	return all
}

// inFile returns problems with their places.
func inFile(problems strictyaml.Problems) []Problem {
	all := make([]Problem, len(problems))
	for i, one := range problems {
		all[i] = sentence(one.Err.Detail).of(Problem{File: one.File, Line: one.Line, Path: one.Err.Field})
		if one.Err.Field != "" { // the field is invalid, forbidden, and so on
			rule := *one.Err
			rule.Detail = all[i].Problem
			all[i].Problem = rule.ErrorBody()
		}
	}
	return all
}

// of returns the problem at a place.
func (p Problem) of(place Problem) Problem {
	place.Problem, place.Remedy = p.Problem, p.Remedy
	return place
}

func sentences(lines []string) []Problem {
	all := make([]Problem, len(lines))
	for i, line := range lines {
		all[i] = sentence(line)
	}
	return all
}

// sentence takes a message apart. All messages of clusterctl-x keep to the convention that
// it relies on: they say what is wrong, and after the last semicolon what to do about it.
func sentence(text string) Problem {
	if end := strings.LastIndex(text, "; "); end >= 0 {
		return Problem{Problem: text[:end], Remedy: text[end+len("; "):]}
	}
	return Problem{Problem: text}
}

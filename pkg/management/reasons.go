package management

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Reasons are what Cluster API's conditions say, on one line.

// maxReason is how many characters a reason may have, so that the line that it
// ends up in can be read at a glance.
const maxReason = 200

// reason is why a condition is not true, and empty where it is or is not there.
func reason(conditions []metav1.Condition, conditionType string) string {
	if meta.IsStatusConditionTrue(conditions, conditionType) {
		return ""
	}
	return message(conditions, conditionType)
}

func message(conditions []metav1.Condition, conditionType string) string {
	condition := meta.FindStatusCondition(conditions, conditionType)
	if condition == nil {
		return ""
	}
	return line(strings.Split(cmp.Or(condition.Message, condition.Reason), "\n"), maxReason)
}

// blockage is why Cluster API does not do what a condition says that it does.
func blockage(conditions []metav1.Condition, conditionType string) string {
	condition := meta.FindStatusCondition(conditions, conditionType)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return ""
	}
	_, because, _ := strings.Cut(condition.Message, " is blocked because:\n")
	return line(strings.Split(because, "\n"), maxReason)
}

// blockedSet is why a MachineSet makes no machines. The MachineDeployment itself
// does not carry this reason on.
func blockedSet(sets []clusterv1.MachineSet) string {
	for _, set := range sets {
		object := "MachineSet/" + set.Name
		if because := blockage(set.Status.Conditions, clusterv1.MachineSetScalingUpCondition); because != "" {
			return object + " makes no machine: " + because
		}
		if !meta.IsStatusConditionTrue(set.Status.Conditions, clusterv1.MachineSetScalingUpCondition) {
			continue // what is left of an error is an old one
		}
		if because := createError(object, set.GetV1Beta1Conditions(), clusterv1.MachinesCreatedV1Beta1Condition); because != "" {
			return because
		}
	}
	return ""
}

// createError is why a machine could not be created. Cluster API tells it in the
// conditions of its former API alone, and in events.
func createError(object string, conditions clusterv1.Conditions, conditionType clusterv1.ConditionType) string { //nolint:staticcheck // deprecated, and nothing took its place
	i := slices.IndexFunc(conditions, func(c clusterv1.Condition) bool { //nolint:staticcheck // as above
		return c.Type == conditionType && c.Status == corev1.ConditionFalse && c.Severity == clusterv1.ConditionSeverityError
	})
	if i < 0 {
		return ""
	}
	return object + " makes no machine: " + line(strings.Split(cmp.Or(conditions[i].Message, conditions[i].Reason), "\n"), maxReason)
}

// unseen says that Cluster API is not through with the latest change of an
// object. It also stays so while each of its attempts fails.
func unseen(object string, generation, observed int64) string {
	if observed == generation {
		return ""
	}
	return "Cluster API is not through with the latest change of " + object + "; if that lasts, the log of its controller says why"
}

// bareReason is an item that has no words, only the condition's own reason.
var bareReason = regexp.MustCompile(`^ +\* \w+: \w+$`)

// stderr is how the docker provider begins what a failed command of the bootstrap
// wrote last.
const stderr = "    * STDERR:"

// firstItem are the lines of the first item of a list, with those that are
// indented below it. In a summary the others mostly follow from the first. Of
// items without words the first says enough too, and none where others have
// words; of a command that failed its last words do.
func firstItem(message string) []string {
	lines := strings.Split(message, "\n")
	if i := slices.IndexFunc(lines[1:], func(l string) bool { return strings.HasPrefix(l, "* ") }); i >= 0 {
		lines = lines[:i+1]
	}
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, stderr) }); i >= 0 {
		heads := 0
		for heads < i && strings.HasSuffix(lines[heads], ":") {
			heads++
		}
		written := slices.DeleteFunc(slices.Clone(lines[i:]), func(l string) bool { return strings.HasSuffix(l, "* ...") })
		return slices.Concat(lines[:heads], withoutNoise(written))
	}
	head := lines[:1]
	worded := slices.DeleteFunc(slices.Clone(lines[1:]), bareReason.MatchString)
	if len(worded) == 0 && len(lines) > 1 {
		worded = lines[1:2]
	}
	return slices.Concat(head, worded)
}

// noise is what kubeadm writes beside its errors: warnings, advice, and the heading of
// a list.
var noise = regexp.MustCompile(`\[WARNING |To see the stack trace|If you know what you are doing|Some fatal errors occurred:$|\* [WI]\d{4} \d\d:`)

// withoutNoise leaves the noise out of what a command wrote, below its heading, unless
// it wrote nothing else. The error comes last, and a line has room for the first.
func withoutNoise(written []string) []string {
	kept := slices.DeleteFunc(slices.Clone(written), noise.MatchString)
	if bare := func(l string) bool { return strings.TrimSpace(l) == strings.TrimSpace(stderr) }; len(kept) == 0 || !slices.ContainsFunc(kept, func(l string) bool { return !bare(l) }) {
		return written
	} else if !strings.HasPrefix(kept[0], stderr) {
		return append([]string{stderr}, kept...)
	}
	return kept
}

// line joins the lines of a message, which Cluster API writes as an indented
// list. As many of them as there is room for are kept whole.
func line(lines []string, room int) string {
	text := ""
	for i, l := range lines {
		l = strings.TrimSuffix(strings.TrimLeft(strings.Join(strings.FieldsFunc(l, blank), " "), "* "), ".")
		switch {
		case text == "":
			text = shorten(l, room)
		case strings.HasSuffix(text, ":") && len(text) <= room:
			text += " " + shorten(l, max(room-len(text), room/2))
		case len(text)+len(l) > room:
			return fmt.Sprintf("%s; and %d more", text, len(lines)-i)
		default:
			text += "; " + l
		}
	}
	return text
}

// blank is what separates words; conditions hold what failed programs wrote, so
// that is more than spaces.
func blank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// shorten takes words out of the middle of a text: errors begin with what was
// tried and end with what went wrong.
func shorten(text string, room int) string {
	runes := []rune(text)
	if len(runes) <= room {
		return text
	}
	head, tail := string(runes[:room/2]), string(runes[len(runes)-room/2:])
	if i := strings.LastIndex(head, " "); i > 0 {
		head = head[:i]
	}
	if i := strings.Index(tail, " "); i >= 0 && i < len(tail)-1 {
		tail = tail[i+1:]
	}
	return head + " … " + tail
}

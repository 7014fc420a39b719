package manifests

// program is the patch of how a program of the control plane runs. The template
// has arguments, volumes and environment variables, which those of the variable win over by
// name, and names and addresses, to which those of the variable are added.
func (t patchTarget) program(path, variable string, leaves map[string][]string) error {
	text := "{{- $program := default (dict) ." + variable + " -}}"
	condition := given(variable)
	for _, list := range []struct{ field, merged string }{
		{"certSANs", "{{- $args := concat (fromJson $value) $given -}}"},
		{"extraArgs", ""},
		// These come from documents.
		{"extraVolumes", ""},
		{"extraEnvs", ""},
	} {
		values, there := leaves[path+"/"+list.field]
		delete(leaves, path+"/"+list.field)
		if !there {
			continue
		}
		if differ(values) {
			condition = ""
		}
		given := "(default (list) $program." + list.field + ")"
		merged := mergedArguments(given)
		if list.merged != "" {
			merged = "{{- $given := " + given + " -}}" + list.merged
		}
		text += t.valueAt(values, "[]") + merged + `{{- $_ := set $program "` + list.field + `" $args -}}`
	}
	return t.add(t.name+"-"+variable, condition, fromTemplate(path, text+"{{- $program | toJson }}"))
}

// mergedArguments sets $args to the arguments in $value, as JSON, with those of a
// list, which win.
func mergedArguments(list string) string {
	return "{{- $given := " + list + " -}}{{- $names := list -}}{{- range $given -}}{{- $names = append $names .name -}}{{- end -}}" +
		"{{- $args := list -}}{{- range (fromJson $value) -}}{{- if not (has .name $names) -}}{{- $args = append $args . -}}{{- end -}}{{- end -}}" +
		"{{- $args = concat $args $given -}}"
}

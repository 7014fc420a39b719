package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"maps"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// builtFrom is what each program was built from, as the Go linker writes it into
// programs.
func builtFrom(programs []file) (map[string]*debug.BuildInfo, error) {
	built := map[string]*debug.BuildInfo{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program.path)
		if err != nil {
			return nil, err
		}
		built[program.name] = info
	}
	return built, nil
}

// bill is the bill of materials of an archive: which modules each program was
// built from.
func (r release) bill(built map[string]*debug.BuildInfo) ([]byte, error) {
	var out bytes.Buffer
	encoder := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	err := encoder.EncodeVersion(billOf(r.version, built), cyclonedx.SpecVersion1_6)
	return out.Bytes(), err
}

// billOf lists programs and modules, and which program has which modules. It has
// neither serial number nor time, so that the same programs give the same bill.
func billOf(version string, programs map[string]*debug.BuildInfo) *cyclonedx.BOM {
	whole := cyclonedx.Component{BOMRef: project + "@" + version, Type: cyclonedx.ComponentTypeApplication, Name: project, Version: version}
	modules := map[string]cyclonedx.Component{}
	var components []cyclonedx.Component
	var dependencies []cyclonedx.Dependency
	var names []string
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		info := programs[name]
		program := cyclonedx.Component{BOMRef: name, Type: cyclonedx.ComponentTypeApplication, Name: path.Base(name), Version: version}
		if info.Main.Version != "" && info.Main.Version != "(devel)" { // a program of another project
			program.Version, program.PackageURL = info.Main.Version, packageURL(info.Main.Path, info.Main.Version)
		}
		var refs []string
		for _, m := range modulesOf(info) {
			modules[m.BOMRef] = m
			refs = append(refs, m.BOMRef)
		}
		components, names = append(components, program), append(names, name)
		dependencies = append(dependencies, cyclonedx.Dependency{Ref: name, Dependencies: &refs})
	}
	components = slices.AppendSeq(components, maps.Values(modules))
	slices.SortStableFunc(components, func(a, b cyclonedx.Component) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.BOMRef, b.BOMRef))
	})
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &whole}
	bom.Components = &components
	dependencies = append([]cyclonedx.Dependency{{Ref: whole.BOMRef, Dependencies: &names}}, dependencies...)
	bom.Dependencies = &dependencies
	return bom
}

// modulesOf returns the modules of a program, and Go's standard library.
func modulesOf(info *debug.BuildInfo) []cyclonedx.Component {
	all := []*debug.Module{{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if !strings.HasPrefix(m.Path, ".") { // a module of this repository
			all = append(all, m)
		}
	}
	var components []cyclonedx.Component
	for _, m := range all {
		purl := packageURL(m.Path, m.Version)
		components = append(components, cyclonedx.Component{
			BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl,
		})
	}
	slices.SortFunc(components, func(a, b cyclonedx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	return components
}

func packageURL(module, version string) string {
	return "pkg:golang/" + module + "@" + strings.ReplaceAll(url.PathEscape(version), "+", "%2B")
}

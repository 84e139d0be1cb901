// Command vimtypes writes what drover's codec knows of vim25, from the types of govmomi that this module pins:
// `vimtypes TYPES_DIRECTORY SELECTION OUTPUT_DIRECTORY`. The selection names types and the fields of each that drover uses.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

var find = types.TypeFunc()

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: vimtypes TYPES_DIRECTORY SELECTION OUTPUT_DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "vimtypes:", err)
		os.Exit(1)
	}
}

func write(typesDirectory, selectionFile, output string) error {
	selected, err := readSelection(selectionFile)
	if err != nil {
		return err
	}
	structs, err := readStructs(filepath.Join(typesDirectory, "types.go"))
	if err != nil {
		return err
	}
	schema, err := describe(selected, structs)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"schema.ts": schemaText(schema), "types.ts": typesText(schema), "fault-families.ts": familiesText(faultFamilies(structs))} {
		if err := os.WriteFile(filepath.Join(output, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// selection is a line `Type: field field` or `Type: *`; a method is a type like others.
type selection struct {
	name   string
	fields []string
}

func readSelection(path string) ([]selection, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []selection
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, fields, found := strings.Cut(line, ":")
		if !found {
			return nil, fmt.Errorf("%s: expected `Type: fields` in %q", path, line)
		}
		all = append(all, selection{strings.TrimSpace(name), strings.Fields(fields)})
	}
	return all, lines.Err()
}

// described is a type with the fields that were selected, in the order of the schema. Those of its base come before them.
type described struct {
	name, base string
	fields     []field
}

type field struct {
	name, of                 string
	optional, many, abstract bool
}

func describe(selected []selection, structs map[string]*ast.StructType) ([]described, error) {
	var all []described
	wanted := map[string][]string{}
	for _, one := range selected {
		of, ok := find(one.name)
		if !ok {
			return nil, fmt.Errorf("vim25 has no type %s", one.name)
		}
		wanted[one.name] = one.fields
		// Bases come along, so that the codec knows what is what.
		for base := baseOf(of); base != nil; base = baseOf(base) {
			if _, ok := wanted[base.Name()]; !ok {
				wanted[base.Name()] = nil
			}
		}
		if answer, ok := structs[one.name+"Response"]; ok && answer.Fields.NumFields() > 0 {
			response, err := describeResponse(one.name+"Response", answer.Fields.List[0])
			if err != nil {
				return nil, err
			}
			all = append(all, response)
		}
	}
	for name, fields := range wanted {
		one, err := describeType(name, fields, wanted)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b described) int { return strings.Compare(a.name, b.name) })
	return all, errors.Join(checkAnswers(all), checkRequests(all, structs))
}

// checkRequests makes sure that whatever a call can be made of has every field that vCenter asks for.
func checkRequests(all []described, structs map[string]*ast.StructType) error {
	asked := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		at := slices.IndexFunc(all, func(one described) bool { return one.name == name })
		if at == -1 || asked[name] {
			return nil
		}
		asked[name] = true
		of, _ := find(name)
		for own := range of.Fields() {
			element, options, _ := strings.Cut(own.Tag.Get("xml"), ",")
			isAsked := !own.Anonymous && element != "" && own.Type.Kind() != reflect.Pointer && !strings.Contains(options, "omitempty")
			if isAsked && !slices.ContainsFunc(all[at].fields, func(f field) bool { return f.name == element }) {
				return fmt.Errorf("%s is part of a request: select its field %s too", name, element)
			}
		}
		if err := visit(all[at].base); err != nil {
			return err
		}
		for _, f := range all[at].fields {
			if err := visit(f.of); err != nil {
				return err
			}
		}
		for _, below := range all {
			if below.base == name {
				if err := visit(below.name); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, one := range all {
		if _, isMethod := structs[one.name+"Response"]; isMethod {
			if err := visit(one.name); err != nil {
				return err
			}
		}
	}
	return nil
}

func describeType(name string, wanted []string, known map[string][]string) (described, error) {
	of, _ := find(name)
	one := described{name: name}
	if base := baseOf(of); base != nil {
		one.base = base.Name()
	}
	missing := slices.Clone(wanted)
	for at := range of.Fields() {
		element, options, _ := strings.Cut(at.Tag.Get("xml"), ",")
		if at.Anonymous || element == "" || element == "-" || (!slices.Contains(wanted, element) && !slices.Equal(wanted, []string{"*"})) {
			continue
		}
		missing = slices.DeleteFunc(missing, func(given string) bool { return given == element || given == "*" })
		f, err := describeField(element, at.Type, strings.Contains(options, "omitempty"))
		if err != nil {
			return one, fmt.Errorf("%s: %w", name, err)
		}
		if _, ok := known[f.of]; !ok && !isPrimitive(f.of) {
			return one, fmt.Errorf("%s.%s is a %s: select that type too, or leave the field out", name, element, f.of)
		}
		one.fields = append(one.fields, f)
	}
	missing = slices.DeleteFunc(missing, func(given string) bool { return given == "*" })
	if len(missing) > 0 {
		return one, fmt.Errorf("%s has no %s of its own", name, strings.Join(missing, ", "))
	}
	return one, nil
}

// baseOf is the type that the given one extends; nil for those that only extend DynamicData.
func baseOf(of reflect.Type) reflect.Type {
	if of.NumField() == 0 || !of.Field(0).Anonymous || of.Field(0).Type.Kind() != reflect.Struct || of.Field(0).Type.Name() == "DynamicData" {
		return nil
	}
	return of.Field(0).Type
}

func describeField(name string, of reflect.Type, omitEmpty bool) (field, error) {
	f := field{name: name, optional: omitEmpty}
	if of.Kind() == reflect.Pointer {
		f.optional, of = true, of.Elem()
	}
	if of == reflect.TypeFor[types.ByteSlice]() {
		return f, fmt.Errorf("%s: bytes are not written or read", name)
	}
	if of.Kind() == reflect.Slice {
		f.many, of = true, of.Elem()
	}
	switch {
	case of == reflect.TypeFor[types.ManagedObjectReference]():
		f.of = "ref"
	case of == reflect.TypeFor[time.Time]():
		f.of = "time"
	case of.Kind() == reflect.Interface && (of.Name() == "AnyType" || of.NumMethod() == 0):
		f.of = "any"
	case of.Kind() == reflect.Interface:
		f.of, f.abstract = strings.TrimPrefix(of.Name(), "Base"), true
	case of.Kind() == reflect.Struct:
		f.of = of.Name()
	case of.Kind() == reflect.String:
		f.of = "string"
	case of.Kind() == reflect.Bool:
		f.of = "boolean"
	default:
		f.of = numbers[of.Kind()]
	}
	if f.of == "" {
		return f, fmt.Errorf("%s: nothing is known of %s", name, of)
	}
	return f, nil
}

var numbers = map[reflect.Kind]string{reflect.Int64: "long", reflect.Int32: "int", reflect.Int16: "short", reflect.Uint8: "byte", reflect.Int8: "byte", reflect.Float32: "float", reflect.Float64: "double"}

var primitives = []string{"ref", "time", "any", "string", "boolean", "long", "int", "short", "byte", "float", "double"}

func isPrimitive(of string) bool { return slices.Contains(primitives, of) }

// faultFamilies are all faults below MethodFault, by what they extend: any of them can be the answer to any call.
func faultFamilies(structs map[string]*ast.StructType) map[string][]string {
	families := map[string][]string{}
	fault := reflect.TypeFor[types.MethodFault]()
	for name := range structs {
		of, ok := find(name)
		if !ok {
			continue
		}
		base := baseOf(of)
		for at := base; at != nil; at = baseOf(at) {
			if at == fault {
				families[base.Name()] = append(families[base.Name()], name)
			}
		}
	}
	return families
}

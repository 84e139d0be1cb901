package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// readStructs reads which structs there are, and how they are written: those of answers are in no registry.
func readStructs(source string) (map[string]*ast.StructType, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	structs := map[string]*ast.StructType{}
	for _, declaration := range parsed.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok || general.Tok != token.TYPE {
			continue
		}
		for _, spec := range general.Specs {
			if of, ok := spec.(*ast.TypeSpec).Type.(*ast.StructType); ok {
				structs[spec.(*ast.TypeSpec).Name.Name] = of
			}
		}
	}
	return structs, nil
}

// describeResponse describes what a method gives back, from its source: `Returnval []ManagedObjectReference`.
func describeResponse(name string, returned *ast.Field) (described, error) {
	f := field{name: "returnval", optional: strings.Contains(returned.Tag.Value, "omitempty")}
	expression := returned.Type
	if pointer, ok := expression.(*ast.StarExpr); ok {
		f.optional, expression = true, pointer.X
	}
	if list, ok := expression.(*ast.ArrayType); ok {
		f.many, expression = true, list.Elt
	}
	of, ok := expression.(*ast.Ident)
	if !ok {
		return described{}, fmt.Errorf("%s: nothing is known of what it gives back", name)
	}
	f.of = of.Name
	if primitive, ok := written[of.Name]; ok {
		f.of = primitive
	} else if below, isBase := strings.CutPrefix(of.Name, "Base"); isBase {
		f.of, f.abstract = below, true
	}
	return described{name: name, fields: []field{f}}, nil
}

// written are primitives as the source of govmomi has them.
var written = map[string]string{"ManagedObjectReference": "ref", "AnyType": "any", "string": "string", "bool": "boolean", "int64": "long", "int32": "int"}

// checkAnswers makes sure that what methods give back is selected.
func checkAnswers(all []described) error {
	for _, one := range all {
		for _, f := range one.fields {
			if !isPrimitive(f.of) && !slices.ContainsFunc(all, func(known described) bool { return known.name == f.of }) {
				return fmt.Errorf("%s.%s is a %s: select that type too", one.name, f.name, f.of)
			}
		}
	}
	return nil
}

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const head = `// Written by ` + "`npm run vim-types`" + ` from the types of govmomi (vim25/types, © Broadcom, Apache-2.0); not by hand.
`

// schemaText is what the codec goes by: of each type its base, and its fields as ` + "`name:type`" + `.
func schemaText(all []described) string {
	var text strings.Builder
	text.WriteString(head + `
/** Type → what it extends, and its own fields in the order of the schema: ` + "`name:type`" + `, ` + "`[]` many, `?` may be missing, `~` any type below" + `. */
export const vimSchema: Readonly<Record<string, readonly [base: string, ...fields: string[]]>> = {
`)
	for _, one := range all {
		parts := []string{"'" + one.base + "'"}
		for _, f := range one.fields {
			parts = append(parts, "'"+f.name+":"+f.of+flag(f.abstract, "~")+flag(f.many, "[]")+flag(f.optional, "?")+"'")
		}
		fmt.Fprintf(&text, "  %s: [%s],\n", one.name, strings.Join(parts, ", "))
	}
	text.WriteString("};\n")
	return text.String()
}

// typesText is the same for the compiler. What is read and what is written have the same type.
func typesText(all []described) string {
	var text strings.Builder
	text.WriteString(head + `import type { AnyValue, ManagedObjectReference } from '../values.ts';

`)
	for _, one := range all {
		extends := ""
		if one.base != "" {
			extends = " extends " + one.base
		}
		fmt.Fprintf(&text, "export interface %s%s {\n", one.name, extends)
		if one.base == "" {
			text.WriteString("  /** Its type, where that is not plain from where it stands. */\n  $type?: string;\n")
		}
		for _, f := range one.fields {
			if f.name == "_this" {
				continue
			}
			fmt.Fprintf(&text, "  %s%s: %s%s;\n", f.name, flag(f.optional || f.many, "?"), typeScript(f), flag(f.many, "[]"))
		}
		text.WriteString("}\n\n")
	}
	for _, name := range abstract(all) {
		fmt.Fprintf(&text, "export type Any%s = %s;\n", name, strings.Join(below(name, all), " | "))
	}
	text.WriteString("\n/** By name, for values whose type the schema leaves open. */\nexport interface VimTypes {\n")
	for _, one := range all {
		fmt.Fprintf(&text, "  %s: %s;\n", one.name, one.name)
	}
	text.WriteString("}\n")
	return text.String()
}

func typeScript(f field) string {
	switch f.of {
	case "ref":
		return "ManagedObjectReference"
	case "any":
		return "AnyValue"
	case "time", "string":
		return "string"
	case "boolean":
		return "boolean"
	}
	if isPrimitive(f.of) {
		return "number"
	}
	return flag(f.abstract, "Any") + f.of
}

// abstract are the types in whose place those below them may stand.
func abstract(all []described) []string {
	names := map[string]bool{}
	for _, one := range all {
		for _, f := range one.fields {
			if f.abstract {
				names[f.of] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// below is the type itself and all that extend it.
func below(name string, all []described) []string {
	names := []string{name}
	for _, one := range all {
		if one.base == name {
			names = append(names, below(one.name, all)...)
		}
	}
	return names
}

func familiesText(families map[string][]string) string {
	var text strings.Builder
	text.WriteString(head + `
/** Every fault of vSphere, by the one it extends. */
export const faultFamilies: Readonly<Record<string, string>> = {
`)
	for _, base := range slices.Sorted(maps.Keys(families)) {
		fmt.Fprintf(&text, "  %s: '%s',\n", base, strings.Join(slices.Sorted(slices.Values(families[base])), " "))
	}
	text.WriteString("};\n")
	return text.String()
}

func flag(is bool, mark string) string {
	if is {
		return mark
	}
	return ""
}

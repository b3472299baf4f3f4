package tool

import (
	"encoding/json"
	"slices"
)

// form is a variant of a tool's schema.
type form struct{ strict, oneGraph bool }

// Parameters returns the JSON schema of the arguments, as sent to a server. Only the strict form lists optional
// arguments as required, with null as an allowed value. An optional argument "kg" is included only if there are several
// graphs, and then it is required.
func (t *Tool) Parameters(strict bool, graphs int) json.RawMessage {
	if s, ok := t.forms[form{strict, graphs == 1}]; ok {
		return s
	}
	return t.Schema
}

// formsOf returns all forms of a schema, given its strict form with "kg"; see [schemaOf].
func formsOf(schema map[string]any) map[form]json.RawMessage {
	out := map[form]json.RawMessage{}
	for _, f := range []form{{false, false}, {false, true}, {true, false}, {true, true}} {
		out[f] = encoded(f.of(schema))
	}
	return out
}

// of converts an object's schema to form f.
func (f form) of(schema map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range schema {
		out[k] = v
	}
	properties, required := map[string]any{}, []string{}
	all, _ := schema["properties"].(map[string]any)
	for _, name := range schema["required"].([]string) {
		p, _ := all[name].(map[string]any)
		types, optional := p["type"].([]string)
		if name == "kg" && optional {
			if f.oneGraph {
				continue
			}
			p, optional = plain(p, types[0]), false
		}
		if p["properties"] != nil {
			p = f.of(p)
		}
		if optional && !f.strict {
			p = plain(p, types[0])
		}
		properties[name] = p
		if !optional || f.strict {
			required = append(required, name)
		}
	}
	out["properties"], out["required"] = properties, required
	if len(required) == 0 && !f.strict { // some servers reject an empty list
		delete(out, "required")
	}
	if !f.strict {
		delete(out, "additionalProperties")
	}
	return out
}

// plain returns the schema of an optional argument, without the null type.
func plain(p map[string]any, typ string) map[string]any {
	out := map[string]any{}
	for k, v := range p {
		out[k] = v
	}
	out["type"] = typ
	if values, ok := out["enum"].([]any); ok {
		out["enum"] = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	}
	return out
}

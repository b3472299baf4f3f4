package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// maxArguments is the maximum length of a call's arguments in bytes. It exceeds the maximum length of a query, so a
// query that is only slightly too long gets its own error.
const maxArguments = 2 * maxQuery

// typed completes a tool whose arguments are decoded into the struct A. The schema is derived from A's fields: an
// argument's name comes from the json tag, its description from the about tag, and its allowed values, separated by
// commas, from the enum tag. A pointer field may be left out or null. All other fields must be present, and a string
// must not be empty. Fields are strings, integers, numbers, booleans, and slices and structs of these.
func typed[A any](t *Tool, run func(ctx context.Context, env *Env, a A) (Result, error)) *Tool {
	typ := reflect.TypeFor[A]()
	form := schemaOf(typ)
	t.Schema, t.forms = encoded(form), formsOf(form)
	t.check = func(args json.RawMessage) error {
		_, err := argumentsOf[A](args)
		return err
	}
	if run != nil {
		t.Run = func(ctx context.Context, env *Env, args json.RawMessage) (Result, error) {
			a, err := argumentsOf[A](args)
			if err != nil {
				return Result{Text: say("bad_arguments", err.Error()), Failure: kg.QueryFailed}, nil
			}
			return run(ctx, env, a)
		}
	}
	return t
}

// ending completes a tool that ends the run, with arguments of type A.
func ending[A any](t *Tool, end func(a A) End) *Tool {
	t = typed[A](t, nil)
	t.End = func(args json.RawMessage) (End, error) {
		a, err := argumentsOf[A](args)
		if err != nil {
			return End{}, err
		}
		return end(a), nil
	}
	return t
}

// argumentsOf parses arguments into an A. The error tells the model what is wrong with the arguments.
func argumentsOf[A any](args json.RawMessage) (A, error) {
	var a A
	if len(args) > maxArguments {
		return a, errTooLong(len(args))
	}
	if err := decode(args, &a); err != nil {
		return a, err
	}
	var given any
	if err := json.Unmarshal(args, &given); err != nil {
		return a, err
	}
	return a, missing(reflect.TypeFor[A](), given, "")
}

func errTooLong(n int) error {
	return fmt.Errorf("they are %d bytes long, at most %d are allowed", n, maxArguments)
}

// missing describes what is wrong with a value that was decoded into typ: an argument is missing, or a string is empty
// or not one of the allowed values. It returns nil if nothing is wrong.
func missing(typ reflect.Type, given any, path string) error {
	m, ok := given.(map[string]any)
	if !ok {
		return fmt.Errorf("%q must be an object", strings.TrimSuffix(path, "."))
	}
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		ft, optional := f.Type, f.Type.Kind() == reflect.Pointer
		if optional {
			ft = ft.Elem()
		}
		v, there := m[name]
		s, isText := v.(string)
		switch {
		case (!there || v == nil) && optional:
			continue
		case !there || v == nil:
			return fmt.Errorf("the argument %q is missing", path+name)
		case isText && strings.TrimSpace(s) == "" && !optional:
			return fmt.Errorf("the argument %q is empty", path+name)
		}
		if values := f.Tag.Get("enum"); isText && values != "" && !slices.Contains(strings.Split(values, ","), s) {
			return fmt.Errorf("the argument %q is %q; it must be one of %s", path+name, render.Clip(s, 60),
				strings.ReplaceAll(values, ",", ", "))
		}
		if ft.Kind() == reflect.Struct {
			if err := missing(ft, v, path+name+"."); err != nil {
				return err
			}
		}
	}
	return nil
}

// schemaOf returns the JSON schema of a type in the strict form: every argument is listed as required, and an optional
// one may be null.
func schemaOf(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Struct:
	default:
		panic("tool: arguments of type " + t.String()) // a bug that any test would find
	}
	properties, names := map[string]any{}, []string{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		ft, optional := f.Type, f.Type.Kind() == reflect.Pointer
		if optional {
			ft = ft.Elem()
		}
		p := schemaOf(ft)
		if optional {
			p["type"] = []string{p["type"].(string), "null"}
		}
		if values := f.Tag.Get("enum"); values != "" {
			var all []any
			for _, v := range strings.Split(values, ",") {
				all = append(all, v)
			}
			if optional {
				all = append(all, nil)
			}
			p["enum"] = all
		}
		if about := f.Tag.Get("about"); about != "" {
			p["description"] = about
		}
		properties[name] = p
		names = append(names, name)
	}
	return map[string]any{"type": "object", "additionalProperties": false, "required": names, "properties": properties}
}

func encoded(v any) json.RawMessage {
	b, err := render.JSON(v)
	if err != nil {
		panic(err) // strings, slices and maps can always be encoded
	}
	return b
}

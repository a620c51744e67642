package boot

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/caarlos0/env/v11"
	"github.com/go-playground/validator/v10"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// setting is what the tags of one of Config's fields say.
type setting struct {
	field    string
	group    string
	name     string
	fallback string // the default
	unset    string // what its absence means, when there is no default
	takes    string
	doc      string
	secret   string // what of it is never shown
}

// settings are all of them in Config's order.
func settings() (all []setting) {
	in := ""
	for f := range reflect.TypeFor[Config]().Fields() {
		if f.Type == reflect.TypeFor[group]() {
			in = f.Tag.Get("title")
		}
		if name := variable(f); name != "" {
			all = append(all, setting{
				field: f.Name, group: in, name: name, fallback: f.Tag.Get("envDefault"), unset: f.Tag.Get("unset"), takes: takes(f), doc: f.Tag.Get("doc"),
				secret: f.Tag.Get("secret"),
			})
		}
	}
	return all
}

// variable is the name of a field's environment variable, "" when it has none.
func variable(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
	if name == "-" {
		return ""
	}
	return name
}

// takes says which values a field has, from its rule where there is one.
func takes(f reflect.StructField) string {
	said := f.Tag.Get("takes")
	lowest, highest := "", ""
	for rule := range strings.SplitSeq(cmp.Or(f.Tag.Get("validate"), f.Tag.Get("otel")), ",") {
		name, arg, _ := strings.Cut(rule, "=")
		switch name {
		case "oneof":
			return "'" + strings.ReplaceAll(arg, " ", "', '") + "'"
		case "snowflake":
			return "an id, 17 to 20 digits"
		case "http_url":
			return "a full address, such as 'http://127.0.0.1:8080'"
		case "min", "gte":
			lowest = arg
		case "max", "lte":
			highest = arg
		case "int", "float":
			lowest, highest, _ = strings.Cut(arg, " ")
		}
	}
	if lowest != "" && highest != "" {
		return cmp.Or(said, "a number") + ", " + lowest + " to " + highest
	}
	return said
}

// check holds the fields against the rules in a tag and says what is wrong under
// the variable's name, without its value. Fields in known are left out.
func check(c Config, tag string, known map[string]error) (problems []error) {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.SetTagName(tag)
	for name, rule := range map[string]validator.Func{
		"snowflake": func(f validator.FieldLevel) bool { return discord.CheckID(f.Field().String()) == nil },
		"int": func(f validator.FieldLevel) bool {
			_, err := strconv.Atoi(f.Field().String())
			return err == nil && within(f)
		},
		"float": within,
	} {
		if err := v.RegisterValidation(name, rule); err != nil {
			return []error{err}
		}
	}
	err := v.Struct(c)
	invalid, ok := errors.AsType[validator.ValidationErrors](err)
	if err != nil && !ok {
		return []error{err}
	}
	for _, f := range invalid {
		if known[f.StructField()] == nil {
			problems = append(problems, wanted(f.StructField()))
		}
	}
	return problems
}

// within reports whether a text is a number between the rule's two.
func within(f validator.FieldLevel) bool {
	var lowest, highest float64
	if _, err := fmt.Sscan(f.Param(), &lowest, &highest); err != nil {
		return false
	}
	n, err := strconv.ParseFloat(f.Field().String(), 64)
	return err == nil && n >= lowest && n <= highest // a NaN is neither
}

// unreadable are the values that do not have their field's type, by field.
func unreadable(err error) map[string]error {
	all := map[string]error{}
	if err == nil {
		return all
	}
	problems, ok := errors.AsType[env.AggregateError](err)
	if !ok {
		return map[string]error{"": err}
	}
	for _, p := range problems.Errors {
		if e, ok := errors.AsType[env.ParseError](p); ok {
			all[e.Name] = wanted(e.Name)
		} else {
			all[p.Error()] = p
		}
	}
	return all
}

// wanted is the error of a field whose value breaks its rule.
func wanted(field string) error {
	for _, s := range settings() {
		if s.field == field {
			must := plain(s.takes)
			if strings.HasPrefix(s.takes, "'") {
				must = "one of: " + must
			}
			return fmt.Errorf("%s must be %s", s.name, must)
		}
	}
	return fmt.Errorf("%s is wrong", field)
}

// code is a piece of code in the text of a tag.
var code = regexp.MustCompile(`(^|[ (])'([^']+)'`)

// plain is the text of a tag for a terminal.
func plain(text string) string { return code.ReplaceAllString(text, "$1$2") }

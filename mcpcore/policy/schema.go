package policy

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Bounds of a document's lists.
const (
	maxIDs    = 1000
	maxGroups = 100
)

const (
	idText    = `[0-9]{17,20}`
	groupText = `[a-z][a-z0-9_-]{0,63}`
)

var idPattern = regexp.MustCompile(`^` + idText + `$`)

// schema is as much of JSON Schema as policies need.
type schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        string             `json:"type,omitempty"`
	Const       int                `json:"const,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Minimum     *int               `json:"minimum,omitempty"`
	Maximum     *int               `json:"maximum,omitempty"`
	Default     *int               `json:"default,omitempty"`
	MinItems    int                `json:"minItems,omitempty"`
	MaxItems    int                `json:"maxItems,omitempty"`
	Unique      bool               `json:"uniqueItems,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Required    []string           `json:"required,omitempty"`
	MaxMembers  int                `json:"maxProperties,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Named       map[string]*schema `json:"patternProperties,omitempty"` // one, of all names that are allowed
	Others      *bool              `json:"additionalProperties,omitempty"`

	what string // of an object's members, or a text: "workflow"
}

// closed is an object of these members alone.
func closed(what, doc string, members map[string]*schema, required ...string) *schema {
	return &schema{Type: "object", Description: doc, Properties: members, Required: required, Others: new(bool), what: what}
}

// ids is a list of ids of a kind, with groups where the kind has them.
func ids(kind, doc string) *schema {
	item := &schema{Type: "string", Pattern: `^` + idText + `$`, what: "an id of 17 to 20 digits"}
	if kind != "" {
		item.Pattern = `^(` + idText + `|@` + groupText + `)$`
		item.what += ", or a group such as \"@name\""
	}
	return &schema{Type: "array", Description: doc, MaxItems: maxIDs, Unique: true, Items: item}
}

// Schema is the JSON Schema (2020-12) of the documents that [Declared.Parse]
// takes. Three things it cannot tell: whether a group is there, whether an id
// stands in a list twice through one, and whether 20 digits are too large for an
// id.
func (d Declared) Schema() ([]byte, error) {
	b, err := json.MarshalIndent(d.schema(), "", "  ")
	return append(b, '\n'), err
}

func (d Declared) schema() *schema {
	groups := map[string]*schema{}
	for _, kind := range kinds {
		of := ids("", kind)
		of.MinItems = 1
		groups[kind] = &schema{
			Type: "object", Description: "lists of " + kind + " by name", MaxMembers: maxGroups,
			Named: map[string]*schema{`^` + groupText + `$`: of}, Others: new(bool),
		}
	}
	workflows := map[string]*schema{}
	for _, w := range d.Workflows {
		workflows[w.Name] = workflow(w)
	}
	members := map[string]*schema{
		"$schema":        {Type: "string", Description: "where this schema is, for editors"},
		"schemaVersion":  {Const: Version, Description: "the version of this form"},
		"protectedUsers": ids("users", "users whom no workflow may act on"),
		"groups":         closed("kind of ids", `named lists; "@name" stands for one in a list of the same kind`, groups),
		"surface": {Type: "string", Enum: []string{string(Full), string(Progressive)}, what: "surface",
			Description: "progressive begins with the tool that finds the others"},
		"workflows": closed("workflow", "what is allowed, by workflow; one that is not named is off", workflows),
	}
	if len(d.Toolsets) > 0 {
		names := make([]string, len(d.Toolsets))
		for i, s := range d.Toolsets {
			names[i] = s.Name
		}
		members["toolsets"] = &schema{
			Type: "array", Description: "the only toolsets whose tools there are; without it all", MinItems: 1, Unique: true,
			Items: &schema{Type: "string", Enum: names, what: "toolset"},
		}
	}
	all := closed("member of a policy", "", members, "schemaVersion")
	all.Dialect, all.Title = "https://json-schema.org/draft/2020-12/schema", "What reviewed workflows may do"
	return all
}

// workflow is the form of a workflow's permit.
func workflow(w mcpcore.Workflow) *schema {
	scopes, limits := map[string]*schema{}, map[string]*schema{}
	for _, s := range w.Scopes {
		scopes[s.Name] = ids(kindOf(s), s.Doc)
		if s.Pattern != "" {
			scopes[s.Name].Items = &schema{Type: "string", Pattern: `^(?:` + s.Pattern + `)$`, what: "of the form " + s.Pattern}
		}
	}
	for _, l := range w.Limits {
		least := 0
		limits[l.Name] = &schema{Type: "integer", Minimum: &least, Maximum: &l.Max, Default: &l.Default, Description: l.Doc}
	}
	members := map[string]*schema{
		"enabled": {Type: "boolean", Description: "true turns the workflow on"},
		"scopes":  closed("scope of "+w.Name, "the ids that it may act on, exactly", scopes),
	}
	if len(limits) > 0 {
		members["limits"] = closed("limit of "+w.Name, "what it may do at most", limits)
	}
	return closed("member of a workflow", fmt.Sprintf("%s (%s)", w.Title, w.Effect), members, "enabled")
}

package blueprint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/schema"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// MaxBytes is how long a document's JSON may be.
const MaxBytes = 512 << 10

// optional marks a member that may be absent and is written all the same.
const optional = "optional"

var published = sync.OnceValue(func() *schema.Schema {
	s, err := schema.Of(reflect.TypeFor[Document](), optional)
	if err != nil {
		panic("blueprint: " + err.Error()) // a fault of this package, which its first test shows
	}
	return loosen(s)
})

// loosen takes optional members from what the schema demands.
func loosen(s *schema.Schema) *schema.Schema {
	if s == nil {
		return nil
	}
	s = s.Clone()
	s.Items = loosen(s.Items)
	for i := range s.Properties {
		p := &s.Properties[i]
		p.Schema = loosen(p.Schema)
		p.Required = p.Required && p.Tags[optional] == ""
	}
	return s
}

// Schema is the JSON Schema of a document.
func Schema() json.RawMessage { return published().JSON() }

var validator = sync.OnceValues(func() (*args.Validator, error) { return args.Compile(published()) })

// Parse reads a document, checks it by its schema, by Discord's limits and by
// the safety rules, and puts it into its normal form. The issues are everything
// that is wrong, nil for a document that can be planned. It never panics.
func Parse(raw []byte) (*Document, []mcpcore.Issue) {
	one := func(message, code string) []mcpcore.Issue {
		return []mcpcore.Issue{{Message: message, Code: code}}
	}
	if len(raw) > MaxBytes {
		return nil, one(fmt.Sprintf("the blueprint has %d bytes, and at most %d are read", len(raw), MaxBytes), mcpcore.IssueBig)
	}
	tree, fault := args.Parse(raw)
	if fault != nil {
		return nil, []mcpcore.Issue{mcpcore.Issue(*fault)}
	}
	v, err := validator()
	if err != nil {
		return nil, one("the schema of blueprints does not compile", mcpcore.IssueFormat)
	}
	var issues []mcpcore.Issue
	for _, i := range v.Validate(tree) {
		issues = append(issues, mcpcore.Issue(i))
	}
	if issues != nil {
		return nil, issues
	}
	d := new(Document)
	if err := json.Unmarshal(canon.Append(nil, tree), d); err != nil {
		return nil, one("the blueprint cannot be read: "+err.Error(), mcpcore.IssueFormat)
	}
	if issues := d.settle(); issues != nil {
		return nil, issues
	}
	return d, nil
}

// settle puts the document into its normal form and checks it.
func (d *Document) settle() []mcpcore.Issue {
	c := &checker{doc: d}
	c.names()
	if c.issues == nil { // whose order and references can be told
		d.order()
		d.derive()
		fillLists(reflect.ValueOf(d).Elem())
		c.rules()
	}
	return c.issues
}

// fillLists makes lists that are always written empty in place of null, and
// puts permissions into the order of their bits.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			_, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if f.Kind() == reflect.Slice && f.IsNil() && options == "" {
				f.Set(reflect.MakeSlice(f.Type(), 0, 0))
			}
			if names, ok := f.Interface().([]discord.PermissionName); ok {
				f.Set(reflect.ValueOf(named(set(names))))
			}
			fillLists(f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	}
}

// order puts roles into their order and numbers what has a place.
func (d *Document) order() {
	if len(d.RoleOrder) > 0 {
		slices.SortStableFunc(d.Roles, func(a, b Role) int {
			return slices.Index(d.RoleOrder, a.Key) - slices.Index(d.RoleOrder, b.Key)
		})
	}
	d.RoleOrder = make([]Symbol, len(d.Roles))
	for i := range d.Roles {
		d.Roles[i].Position, d.RoleOrder[i] = i+1, d.Roles[i].Key
	}
	for i := range d.Categories {
		d.Categories[i].Position = i
	}
	places := map[Symbol]int{}
	for i := range d.Channels {
		c := &d.Channels[i]
		c.Position = places[c.parent()]
		places[c.parent()]++
	}
}

// derive sets the members that follow from others.
func (d *Document) derive() {
	d.SchemaVersion, d.PolicyVersion = Version, policyVersion
	d.Bot, d.Resolution, d.Safety = nil, nil, nil
	if s := d.Guild; s != nil {
		if s.Community != nil {
			s.Community.Required = true
		}
		if s.Welcome != nil {
			d.welcome(s.Welcome)
		}
	}
	for i := range d.Channels {
		c := &d.Channels[i]
		c.Default = d.Onboarding != nil && slices.Contains(d.Onboarding.Defaults, c.Key)
		c.Sendable = !c.Type.voice() && writable(d.overwrites(c))
	}
	if d.Onboarding != nil {
		d.Onboarding.Verification = onboardingVerification
	}
	if d.AutoMod != nil {
		d.AutoMod.Verification = autoModVerification
	}
	if p := d.Components; p != nil {
		p.Flags, p.Validate, p.Placeholders = componentsFlag, true, true
		for i := range p.Publications {
			p.Publications[i].Mentions = &noMentions{Parse: []string{}}
		}
	}
}

// welcome fills the two ways to name a welcome screen's channels from each
// other.
func (d *Document) welcome(w *Welcome) {
	if len(w.Channels) == 0 {
		for _, key := range w.Keys {
			shown := WelcomeChannel{Channel: key, Description: string(key)}
			if c := d.channel(key); c != nil {
				shown.Description = c.Name
				if c.Topic != nil && *c.Topic != "" {
					shown.Description = clip(*c.Topic, 50)
				}
			}
			w.Channels = append(w.Channels, shown)
		}
	}
	w.Keys = nil
	for _, c := range w.Channels {
		w.Keys = append(w.Keys, c.Channel)
	}
}

// ID is the digest of the document's normal form, "sha256:" and 64 hex digits.
func (d *Document) ID() string { return digest(d.JSON()) }

// JSON is the document as canonical JSON: equal documents have equal bytes.
func (d *Document) JSON() json.RawMessage { return canonical(d) }

// canonical is v as canonical JSON.
func canonical(v any) json.RawMessage {
	raw, err := canon.Marshal(v)
	if err != nil {
		panic("blueprint: " + err.Error()) // only of values that JSON cannot hold, which there are none of here
	}
	tree, fault := args.Parse(slices.Concat([]byte(`{"v":`), raw, []byte("}")))
	if fault != nil {
		panic("blueprint: " + fault.Message)
	}
	return canon.Append(nil, tree["v"])
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// digestOf is the digest of a value of this package's own types, whose JSON is
// always the same.
func digestOf(v any) string {
	raw, err := canon.Marshal(v)
	if err != nil {
		panic("blueprint: " + err.Error())
	}
	return digest(raw)
}

func (d *Document) role(key Symbol) *Role {
	return find(d.Roles, func(r *Role) bool { return r.Key == key })
}

func (d *Document) category(key Symbol) *Category {
	return find(d.Categories, func(c *Category) bool { return c.Key == key })
}

func (d *Document) channel(key Symbol) *Channel {
	return find(d.Channels, func(c *Channel) bool { return c.Key == key })
}

func (d *Document) rule(key Symbol) *Rule {
	if d.AutoMod == nil {
		return nil
	}
	return find(d.AutoMod.Rules, func(r *Rule) bool { return r.Key == key })
}

func (d *Document) publications() []Publication {
	if d.Components == nil {
		return nil
	}
	return d.Components.Publications
}

// parent is the channel's category, "" for none.
func (c *Channel) parent() Symbol {
	if c.Parent == nil {
		return ""
	}
	return *c.Parent
}

// cardChannel is the channel of a publication, "" for none.
func (d *Document) cardChannel(key Symbol) Symbol {
	for _, p := range d.publications() {
		if p.Key == key {
			return p.Channel
		}
	}
	return ""
}

// overwrites are those that the document wants in a channel: its own, or its
// category's; nil for none that it speaks of.
func (d *Document) overwrites(c *Channel) []Overwrite {
	if c.Overwrites == nil || len(c.Overwrites) > 0 {
		return c.Overwrites
	}
	if p := d.category(c.parent()); p != nil {
		return p.Overwrites
	}
	return c.Overwrites
}

// Issues are what is wrong with a document that is the argument of that name: the
// first fifty.
func Issues(arg string, raw []byte) []mcpcore.Issue {
	_, issues := Parse(raw)
	for i := range issues {
		if issues[i].Path != "" {
			issues[i].Path = arg + "." + issues[i].Path
		} else {
			issues[i].Path = arg
		}
	}
	const most = 50
	return issues[:min(len(issues), most)]
}

// find is the first item for which is holds, nil for none.
func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// clip is the text's first n characters.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

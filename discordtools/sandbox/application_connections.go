package sandbox

import (
	"regexp"
	"strconv"
)

// ConnectionField is a field of linked accounts that guilds can demand.
//
// Source: https://docs.discord.com/developers/resources/application-role-connection-metadata.
type ConnectionField struct {
	Type         int               `json:"type"`
	Key          string            `json:"key"`
	Name         string            `json:"name"`
	Names        map[string]string `json:"name_localizations,omitempty"`
	Description  string            `json:"description"`
	Descriptions map[string]string `json:"description_localizations,omitempty"`
}

// SetConnections says what the application tells of linked accounts.
func (d *Discord) SetConnections(fields ...ConnectionField) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.world.app.connections = fields
}

func getConnections(x *exchange) (answer, error) { return ok(list(x.app.connections)) }

type connectionForm struct {
	Type         int                    `json:"type" enum:"1,2,3,4,5,6,7,8"`
	Key          string                 `json:"key" minLength:"1" maxLength:"50"`
	Name         string                 `json:"name" minLength:"1" maxLength:"100"`
	Names        opt[map[string]string] `json:"name_localizations" minLength:"1" maxLength:"100"`
	Description  string                 `json:"description" minLength:"1" maxLength:"200"`
	Descriptions opt[map[string]string] `json:"description_localizations" minLength:"1" maxLength:"200"`
}

var connectionKey = regexp.MustCompile(`^[a-z0-9_]+$`)

func putConnections(x *exchange) (answer, error) {
	var forms []connectionForm
	if err := x.bind(&forms); err != nil {
		return refuse(err)
	}
	var bad form
	if len(forms) > 5 {
		bad.add("", "BASE_TYPE_MAX_LENGTH", "Must be 5 or fewer in length.")
	}
	keys := map[string]bool{}
	for i, f := range forms {
		at := strconv.Itoa(i)
		bad.locales(join(at, "name_localizations"), f.Names.value)
		bad.locales(join(at, "description_localizations"), f.Descriptions.value)
		if !connectionKey.MatchString(f.Key) {
			bad.add(join(at, "key"), "STRING_TYPE_REGEX", "String value did not match validation regex.")
		}
		if keys[f.Key] {
			bad.add(join(at, "key"), "APPLICATION_METADATA_DUPLICATE_KEY", "Keys must be unique")
		}
		keys[f.Key] = true
	}
	if err := bad.err(); err != nil {
		return refuse(err)
	}
	x.app.connections = mapped(forms, func(f connectionForm) ConnectionField {
		return ConnectionField{f.Type, f.Key, f.Name, f.Names.value, f.Description, f.Descriptions.value}
	})
	return getConnections(x)
}

package discordtools

type roleConnectionsModify struct {
	applicationRef
	Records []roleConnectionInput `json:"records" in:"wholebody" jsonschema:"all there will be; [] deletes all. type for numbers: 1 at most, 2 at least, 3 equal, 4 not equal; for dates: 5 at most, 6 at least so many days ago; 7 is, 8 is not" maxItems:"5"`
}

// roleConnectionInput is a field of linked accounts that guilds can demand.
//
// Source: https://docs.discord.com/developers/resources/application-role-connection-metadata.
type roleConnectionInput struct {
	Key                      string                `json:"key" minLength:"1" maxLength:"50" pattern:"^[a-z0-9_]*$"`
	Name                     string                `json:"name" minLength:"1" maxLength:"100"`
	NameLocalizations        *map[string]localText `json:"name_localizations,omitempty"`
	Description              string                `json:"description" minLength:"1" maxLength:"200"`
	DescriptionLocalizations *map[string]localNote `json:"description_localizations,omitempty"`
	Type                     int                   `json:"type" minimum:"1" maximum:"8"`
}

// localNote is a longer description in another language.
type localNote string

func (localNote) JSONSchema() string { return `{"type":"string","minLength":1,"maxLength":200}` }

type roleConnections struct {
	Records []roleConnection `json:"records" from:"@reply"`
	Count   int              `json:"count" from:"@count"`
}

type roleConnection struct {
	Key                      string            `json:"key"`
	Name                     string            `json:"name"`
	NameLocalizations        map[string]string `json:"name_localizations,omitempty"`
	Description              string            `json:"description"`
	DescriptionLocalizations map[string]string `json:"description_localizations,omitempty"`
	Type                     int               `json:"type"`
}

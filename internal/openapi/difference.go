package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Difference is a deliberate correction of the description.
type Difference struct {
	What, Why string
	apply     func(root map[string]any) error
}

// Differences are the corrections, all that there are.
var Differences = []Difference{
	{
		What:  "codes inside `errors` are text",
		Why:   "The description gives InnerErrors the numeric code of the error itself; Discord sends BASE_TYPE_REQUIRED and its like.",
		apply: set("/components/schemas/InnerErrors/properties/_errors/items", closedError),
	},
	{
		What: "a 429 need not have a code",
		Why:  "Discord sends `code` for some limits alone.",
		apply: set("/components/schemas/RatelimitedResponse", map[string]any{
			"type": "object", "required": []any{"message", "retry_after", "global"},
			"properties": map[string]any{
				"message": map[string]any{"type": "string"}, "code": map[string]any{"type": "integer"},
				"retry_after": map[string]any{"type": "number"}, "global": map[string]any{"type": "boolean"},
			},
		}),
	},
	{
		What:  "a message reference can be a forward",
		Why:   "MessageReferenceType lists DEFAULT alone; forwards (1) are documented and sent.",
		apply: choice("/components/schemas/MessageReferenceType/oneOf", 1),
	},
	{
		What:  "a channel can be a media channel",
		Why:   "ChannelTypes ends at GUILD_FORUM; GUILD_MEDIA (16) is documented and sent.",
		apply: mediaChannels,
	},
	{
		What: "starting a post answers with its first message",
		Why:  "CreatedThreadResponse has no `message`; the documentation promises it for forums and media channels, and it is sent.",
		apply: func(root map[string]any) error {
			const pointer = "/components/schemas/CreatedThreadResponse/properties"
			properties, ok := lookup(root, pointer).(map[string]any)
			if !ok {
				return fmt.Errorf("%s is gone", pointer)
			}
			properties["message"] = map[string]any{"$ref": "#/components/schemas/MessageResponse"}
			return nil
		},
	},
	{
		What:  "permissions in requests may be decimal text",
		Why:   "The description wants integers; the documentation prescribes strings, for integers lose bits above 2^53.",
		apply: permissionText,
	},
	{
		What:  "an application's SKUs can be listed",
		Why:   "The operation is documented and answered; the description has it not: https://docs.discord.com/developers/resources/sku#list-skus.",
		apply: listSKUs,
	},
	{
		What: "a command has nsfw and default_permission",
		Why:  "They are documented as members of requests; the description has them not: https://docs.discord.com/developers/interactions/application-commands#create-global-application-command.",
		apply: more(map[string]any{"nsfw": map[string]any{"type": "boolean"}, "default_permission": map[string]any{"type": "boolean"}},
			"/components/schemas/ApplicationCommandCreateRequest", "/components/schemas/ApplicationCommandUpdateRequest",
			"/components/schemas/ApplicationCommandPatchRequestPartial"),
	},
	{
		What: "a change of a command may repeat its type",
		Why:  "Discord ignores it; callers who send the whole command have it.",
		apply: more(map[string]any{"type": map[string]any{"type": "integer"}},
			"/components/schemas/ApplicationCommandPatchRequestPartial"),
	},
	{
		What: "an application's description may be text",
		Why:  "The description wants an object with localizations; the documentation has text: https://docs.discord.com/developers/resources/application#edit-current-application.",
		apply: set("/components/schemas/ApplicationFormPartial/properties/description", map[string]any{
			"type": []any{"string", "null"}, "maxLength": json.Number("400"),
		}),
	},
	{
		What: "the id of a new attachment may be a number",
		Why:  "It is the n of files[n]; the documentation's own examples write it so.",
		apply: set("/components/schemas/MessageAttachmentRequest/properties/id", map[string]any{
			"anyOf": []any{map[string]any{"type": "string", "pattern": "^[0-9]+$"}, map[string]any{"type": "integer"}},
		}),
	},
}

var text = map[string]any{"type": "string"}

// more adds members to the objects that pointers name.
func more(members map[string]any, pointers ...string) func(map[string]any) error {
	return func(root map[string]any) error {
		for _, pointer := range pointers {
			properties, ok := lookup(root, pointer+"/properties").(map[string]any)
			if !ok {
				return fmt.Errorf("%s is gone", pointer)
			}
			maps.Copy(properties, members)
		}
		return nil
	}
}

// listSKUs adds the operation that the description lacks.
func listSKUs(root map[string]any) error {
	paths, ok := root["paths"].(map[string]any)
	if !ok {
		return fmt.Errorf("there are no paths")
	}
	const path = "/applications/{application_id}/skus"
	if paths[path] != nil {
		return fmt.Errorf("%s is described now", path)
	}
	id := map[string]any{"$ref": "#/components/schemas/SnowflakeType"}
	whole := map[string]any{"type": "integer"}
	sku := map[string]any{
		"type": "object", "required": []any{"id", "type", "application_id", "name", "slug", "flags"},
		"properties": map[string]any{"id": id, "type": whole, "application_id": id, "name": text, "slug": text, "flags": whole},
	}
	paths[path] = map[string]any{"get": map[string]any{"responses": map[string]any{
		"200": map[string]any{"content": map[string]any{"application/json": map[string]any{
			"schema": map[string]any{"type": "array", "items": sku},
		}}},
		"4XX": map[string]any{"$ref": "#/components/responses/ClientErrorResponse"},
	}}}
	return nil
}

var closedError = map[string]any{
	"type": "object", "required": []any{"code", "message"},
	"properties": map[string]any{"code": map[string]any{"type": "string"}, "message": map[string]any{"type": "string"}},
}

// set replaces what a pointer names, which must exist.
func set(pointer string, value any) func(map[string]any) error {
	return func(root map[string]any) error {
		at := strings.LastIndex(pointer, "/")
		parent, ok := lookup(root, pointer[:at]).(map[string]any)
		if !ok || parent[pointer[at+1:]] == nil {
			return fmt.Errorf("%s is gone", pointer)
		}
		parent[pointer[at+1:]] = value
		return nil
	}
}

// choice adds a constant to a list of alternatives.
func choice(pointer string, value int) func(map[string]any) error {
	return func(root map[string]any) error {
		list, ok := lookup(root, pointer).([]any)
		if !ok {
			return fmt.Errorf("%s is gone", pointer)
		}
		return set(pointer, append(list, map[string]any{"const": value}))(root)
	}
}

// mediaChannels adds type 16 to ChannelTypes, and to every narrower list that has
// forums.
func mediaChannels(root map[string]any) error {
	visit(root, func(object map[string]any) {
		list, _ := object["enum"].([]any)
		parts, _ := object["allOf"].([]any)
		if len(parts) != 1 || !slices.Contains(list, any(json.Number("15"))) {
			return
		}
		if ref, _ := parts[0].(map[string]any); ref["$ref"] == "#/components/schemas/ChannelTypes" {
			object["enum"] = append(list, json.Number("16"))
		}
	})
	return choice("/components/schemas/ChannelTypes/oneOf", 16)(root)
}

func lookup(root map[string]any, pointer string) any {
	var at any = root
	for _, key := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[key]
	}
	return at
}

// permissionText lets every permission set that the description wants as an
// integer be text.
func permissionText(root map[string]any) error {
	found := 0
	visit(root, func(object map[string]any) {
		properties, _ := object["properties"].(map[string]any)
		for _, name := range []string{"allow", "deny", "permissions", "default_member_permissions"} {
			schema, _ := properties[name].(map[string]any)
			if types, _ := schema["type"].([]any); len(types) > 0 && types[0] == "integer" {
				properties[name] = map[string]any{"anyOf": []any{schema, map[string]any{"type": "string", "pattern": "^[0-9]+$"}}}
				found++
			}
		}
	})
	if found == 0 {
		return fmt.Errorf("there are no integer permissions")
	}
	return nil
}

// visit calls f with every object below root.
func visit(root any, f func(map[string]any)) {
	switch v := root.(type) {
	case map[string]any:
		f(v)
		for _, member := range v {
			visit(member, f)
		}
	case []any:
		for _, item := range v {
			visit(item, f)
		}
	}
}

// closeObjects forbids members that are not described. What an allOf brings
// together is closed as a whole. Form bodies that are another way to send a JSON
// body go first: they are checked as that.
func closeObjects(root map[string]any) {
	visit(root, func(object map[string]any) {
		if content, ok := object["content"].(map[string]any); ok && content["application/json"] != nil {
			delete(content, "multipart/form-data")
		}
	})
	var open []map[string]any
	visit(root, func(object map[string]any) {
		parts, _ := object["allOf"].([]any)
		for _, part := range parts {
			if schema, ok := part.(map[string]any); ok {
				open = append(open, schema)
				if ref, ok := schema["$ref"].(string); ok {
					if target, ok := lookup(root, strings.TrimPrefix(ref, "#")).(map[string]any); ok {
						open = append(open, target)
					}
				}
			}
		}
	})
	before := make([]any, len(open))
	for i, schema := range open {
		before[i] = schema["unevaluatedProperties"]
	}
	visit(root, func(object map[string]any) {
		_, properties := object["properties"].(map[string]any)
		_, parts := object["allOf"].([]any)
		_, stated := object["additionalProperties"]
		if object["type"] == "object" && (properties || parts) && !stated {
			object["unevaluatedProperties"] = false
		}
	})
	for i, schema := range open {
		if before[i] == nil {
			delete(schema, "unevaluatedProperties")
		}
	}
}

package workflows_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func linkedFields(fields ...sandbox.ConnectionField) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) { d.SetConnections(fields...) }
}

func linking() scene {
	const records = `[{"type":7,"key":"canary_crew","name":"canary Crew","name_localizations":{"de":"canary Mannschaft"},"description":"Is of the crew"},` +
		`{"type":2,"key":"voyages","name":"Voyages","description":"How many voyages at least"}]`
	replace := func(name, args string, code mcpcore.Code) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: ofTheApplication(args), Code: code}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "application-role-connection-metadata-change", Plan: "plan_application_role_connection_metadata_change", Execute: "execute_application_role_connection_metadata_change",
			Args:   ofTheApplication(`"action":"replace","acknowledgeReplacement":true,"records":` + records),
			Sends:  []string{`PUT /applications/1100000000000000001/role-connections/metadata ` + records},
			Permit: applicationPermit, Resource: string(sandbox.ApplicationID), Secrets: []string{"canary"},
			Refusals: []operationtest.Refusal{
				otherApplication("application-role-connection-metadata-change", `"action":"clear","acknowledgeClearing":true`),
				replace("nothing to replace by", `"action":"replace","acknowledgeReplacement":true`, mcpcore.CodeValidation),
				replace("an empty list", `"action":"replace","acknowledgeReplacement":true,"records":[]`, mcpcore.CodeValidation),
				replace("a replacement that is not acknowledged", `"action":"replace","acknowledgeClearing":true,"records":`+records, mcpcore.CodeValidation),
				replace("a clearing that is not acknowledged", `"action":"clear","acknowledgeReplacement":true`, mcpcore.CodeValidation),
				replace("a clearing with a list", `"action":"clear","acknowledgeClearing":true,"records":`+records, mcpcore.CodeValidation),
				replace("a key twice", `"action":"replace","acknowledgeReplacement":true,"records":[{"type":1,"key":"x","name":"x","description":"x"},{"type":2,"key":"x","name":"x","description":"x"}]`, mcpcore.CodeValidation),
				replace("a ninth type", `"action":"replace","acknowledgeReplacement":true,"records":[{"type":9,"key":"x","name":"x","description":"x"}]`, mcpcore.CodeValidation),
				replace("a key with a capital", `"action":"replace","acknowledgeReplacement":true,"records":[{"type":1,"key":"X","name":"x","description":"x"}]`, mcpcore.CodeValidation),
				replace("part of a field", `"action":"replace","acknowledgeReplacement":true,"records":[{"type":1,"key":"x","name":"x"}]`, mcpcore.CodeValidation),
				replace("six fields", `"action":"replace","acknowledgeReplacement":true,"records":[`+sixFields()+`]`, mcpcore.CodeValidation),
			},
		},
		Route: "PUT /applications/{application_id}/role-connections/metadata", ReadBack: "GET /applications/{application_id}/role-connections/metadata", Skip: 4,
		Change: linkedFields(sandbox.ConnectionField{Type: 2, Key: "voyages", Name: "Voyages", Description: "other"}),
		Settle: linkedFields(
			sandbox.ConnectionField{Type: 7, Key: "canary_crew", Name: "canary Crew", Names: map[string]string{"de": "canary Mannschaft"}, Description: "Is of the crew"},
			sandbox.ConnectionField{Type: 2, Key: "voyages", Name: "Voyages", Description: "How many voyages at least"},
		),
	}
}

func sixFields() string {
	var b bytes.Buffer
	for i := range 6 {
		fmt.Fprintf(&b, `{"type":1,"key":"x%d","name":"x","description":"x"},`, i)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte(",")))
}

func TestLinkedRoleFieldsAreReplaced(t *testing.T) {
	t.Parallel()
	linking().run(t)
}

func TestLinkedRoleFieldsAreCleared(t *testing.T) {
	t.Parallel()
	s := linking()
	s.Args = ofTheApplication(`"action":"clear","acknowledgeClearing":true`)
	s.Sends, s.Refusals = []string{`PUT /applications/1100000000000000001/role-connections/metadata []`}, nil
	s.Settle = linkedFields()
	s.run(t)
}

// Their order is part of them.
func TestLinkedRoleFieldsInAnotherOrder(t *testing.T) {
	t.Parallel()
	s := linking()
	s.Before = linkedFields(
		sandbox.ConnectionField{Type: 2, Key: "voyages", Name: "Voyages", Description: "How many voyages at least"},
		sandbox.ConnectionField{Type: 7, Key: "canary_crew", Name: "canary Crew", Names: map[string]string{"de": "canary Mannschaft"}, Description: "Is of the crew"},
	)
	if e, _ := s.once(t); e.Status != "completed" || e.Writes != 1 {
		t.Errorf("it answers %+v", e)
	}
}

func TestLinkedRoleFieldsThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	s := linking()
	s.Before = func(made *sandbox.Discord) { d = made }
	s.REST = later(&d, "/applications/{application_id}/role-connections/metadata", 5, linkedFields())
	if e, _ := s.once(t); e.Status != "completed-with-drift" || fmt.Sprint(e.Drift) != "[records]" {
		t.Errorf("it answers %+v", e)
	}
	for name, body := range map[string]string{"another list": `[]`, "no list": `null`, "part of it": `[{"type":7,"key":"canary_crew"}]`} {
		s := linking()
		s.REST = func(rest discordtools.REST) discordtools.REST {
			return answering{rest, nil, func(r *discordtools.Response) *discordtools.Response { r.Body = []byte(body); return r }}
		}
		if e, r := s.once(t); e.Code != mcpcore.CodeOutcomeUnknown || r.Status != mcpcore.StatusUncertain || e.Writes != 1 {
			t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
		}
	}
	for name, row := range map[string]struct{ from, to string }{"a field without a key": {`"key":"voyages"`, `"key":""`}, "a type that nobody knows": {`"type":2`, `"type":9`}} {
		s := linking()
		s.REST = func(rest discordtools.REST) discordtools.REST {
			return reading{rest, "/applications/{application_id}/role-connections/metadata", row.from, row.to}
		}
		if e, _ := s.once(t); e.Code != mcpcore.CodeAccessUnknown || e.Writes != 0 {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
}

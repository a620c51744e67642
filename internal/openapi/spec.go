package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/guildwarden/guildwarden/internal/beside"
)

// Absent is what a test says when it cannot check anything.
const Absent = "NOT CHECKED against Discord's OpenAPI description: set DISCORD_OPENAPI to its path, " +
	"or put it at ../shared/discord/openapi.json beside the project"

// Find is the path of the description: $DISCORD_OPENAPI, or else
// ../shared/discord/openapi.json beside the directory that holds the go.mod above
// the working directory.
func Find() (path string, ok bool) { return beside.Find("DISCORD_OPENAPI", "discord/openapi.json") }

// Spec is the description, corrected and closed. It is safe for concurrent use.
type Spec struct {
	operations map[string]operation // by "GET /users/@me"

	mu       sync.Mutex // guards the two below
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by pointer into the document
}

// operation is what the checks need of one operation.
type operation struct {
	at        string // pointer into the document
	query     map[string]string
	body      map[string]bool // content types
	required  bool            // the body
	responses map[string]map[string]bool
}

const resource = "mem:///openapi.json"

// Corrected reads the description as [Differences] have it.
func Corrected(path string) ([]byte, error) {
	root, err := corrected(path)
	if err != nil {
		return nil, err
	}
	return json.Marshal(root)
}

func corrected(path string) (map[string]any, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read OpenAPI description: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read OpenAPI description: %w", err)
	}
	root, _ := doc.(map[string]any)
	for _, d := range Differences {
		if err := d.apply(root); err != nil {
			return nil, fmt.Errorf("correct the OpenAPI description (%s): %w", d.What, err)
		}
	}
	return root, nil
}

// Load reads the description.
func Load(path string) (*Spec, error) {
	root, err := corrected(path)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("write the corrected OpenAPI description: %w", err)
	}
	s := &Spec{compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	if s.operations, err = operations(raw); err != nil {
		return nil, err
	}
	closeObjects(root)
	s.compiler.DefaultDraft(jsonschema.Draft2020)
	s.compiler.AssertFormat()
	s.compiler.UseLoader(jsonschema.SchemeURLLoader{})
	if err := s.compiler.AddResource(resource, root); err != nil {
		return nil, fmt.Errorf("read OpenAPI description: %w", err)
	}
	return s, nil
}

// document is the part of the description that is read as it stands.
type document struct {
	Paths map[string]map[string]json.RawMessage `json:"paths"`
}

type rawOperation struct {
	Parameters  []parameter `json:"parameters"`
	RequestBody *struct {
		Required bool                       `json:"required"`
		Content  map[string]json.RawMessage `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Ref     string                     `json:"$ref"`
		Content map[string]json.RawMessage `json:"content"`
	} `json:"responses"`
}

type parameter struct {
	Name string `json:"name"`
	In   string `json:"in"`
}

func operations(raw []byte) (map[string]operation, error) {
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("read OpenAPI description: %w", err)
	}
	all := map[string]operation{}
	for path, item := range doc.Paths {
		var shared []parameter
		if raw, ok := item["parameters"]; ok {
			if err := json.Unmarshal(raw, &shared); err != nil {
				return nil, fmt.Errorf("read parameters of %s: %w", path, err)
			}
		}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			key := strings.ToLower(method)
			raw, ok := item[key]
			if !ok {
				continue
			}
			var from rawOperation
			if err := json.Unmarshal(raw, &from); err != nil {
				return nil, fmt.Errorf("read %s %s: %w", method, path, err)
			}
			at := "/paths/" + escape(path)
			o := operation{at: at + "/" + key, query: map[string]string{}, body: map[string]bool{}, responses: map[string]map[string]bool{}}
			o.parameters(at+"/parameters/", shared)
			o.parameters(o.at+"/parameters/", from.Parameters)
			if from.RequestBody != nil {
				o.required = from.RequestBody.Required
				for kind := range from.RequestBody.Content {
					o.body[kind] = true
				}
			}
			for status, r := range from.Responses {
				kinds := map[string]bool{}
				if r.Ref != "" {
					kinds["application/json"] = true
				}
				for kind := range r.Content {
					kinds[kind] = true
				}
				o.responses[status] = kinds
			}
			all[method+" "+path] = o
		}
	}
	return all, nil
}

func (o *operation) parameters(at string, list []parameter) {
	for i, p := range list {
		if p.In == "query" {
			o.query[p.Name] = fmt.Sprintf("%s%d/schema", at, i)
		}
	}
}

// Operations lists what the description knows, as "GET /users/@me".
func (s *Spec) Operations() []string {
	all := make([]string, 0, len(s.operations))
	for name := range s.operations {
		all = append(all, name)
	}
	return all
}

// schema compiles the schema at a pointer, once.
func (s *Spec) schema(pointer string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.compiled[pointer]; known != nil {
		return known, nil
	}
	made, err := s.compiler.Compile(resource + "#" + percent(pointer))
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", pointer, err)
	}
	s.compiled[pointer] = made
	return made, nil
}

// escape writes a key as a part of a JSON pointer.
func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// percent writes a pointer as a URL fragment.
func percent(pointer string) string {
	return strings.NewReplacer("{", "%7B", "}", "%7D", " ", "%20").Replace(pointer)
}

package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// CheckRequest reports how a request departs from the description: an operation
// that does not exist, query parameters that it does not have or takes
// otherwise, a body of another shape. route is the path template. A request that
// Discord is meant to refuse departs rightly; do not check it.
func (s *Spec) CheckRequest(method, route string, query url.Values, contentType string, body []byte) error {
	o, ok := s.operations[method+" "+route]
	if !ok {
		return fmt.Errorf("%s %s is not an operation", method, route)
	}
	var problems []error
	for name, values := range query {
		at, known := o.query[name]
		if !known {
			problems = append(problems, fmt.Errorf("query parameter %s does not exist", name))
			continue
		}
		if err := s.checkText(at, values); err != nil {
			problems = append(problems, fmt.Errorf("query parameter %s: %w", name, err))
		}
	}
	if err := s.checkBody(o, contentType, body); err != nil {
		problems = append(problems, fmt.Errorf("body: %w", err))
	}
	return errors.Join(problems...)
}

// CheckResponse reports how an answer departs from the description: a status
// that the operation does not have, or a body of another shape. Server errors
// are described nowhere and pass.
func (s *Spec) CheckResponse(method, route string, status int, contentType string, body []byte) error {
	o, ok := s.operations[method+" "+route]
	if !ok {
		return fmt.Errorf("%s %s is not an operation", method, route)
	}
	if status >= 500 {
		return nil
	}
	key := strconv.Itoa(status)
	kinds, ok := o.responses[key]
	if !ok && status >= 400 {
		key = "4XX"
		kinds, ok = o.responses[key]
	}
	if !ok {
		return fmt.Errorf("status %d does not exist", status)
	}
	if len(kinds) == 0 {
		if len(body) > 0 {
			return fmt.Errorf("status %d has no body, got %d bytes", status, len(body))
		}
		return nil
	}
	kind, _, _ := mime.ParseMediaType(contentType)
	if !kinds[kind] {
		return fmt.Errorf("status %d is not answered in %q", status, kind)
	}
	if kind != "application/json" {
		return nil
	}
	at := o.at + "/responses/" + key
	switch key {
	case "4XX":
		at = "/components/responses/ClientErrorResponse"
	case "429":
		at = "/components/responses/ClientRatelimitedResponse"
	}
	return s.check(at+"/content/"+escape(kind)+"/schema", body)
}

func (s *Spec) checkBody(o operation, contentType string, body []byte) error {
	kind, params, _ := mime.ParseMediaType(contentType)
	switch {
	case len(body) == 0 && o.required:
		return errors.New("is missing")
	case len(body) == 0:
		return nil
	case len(o.body) == 0:
		return errors.New("is not expected")
	case kind == "multipart/form-data" && o.body[kind]:
		return s.checkForm(o, params["boundary"], body)
	case !o.body[kind]:
		return fmt.Errorf("content type %q does not exist", kind)
	}
	return s.check(o.at+"/requestBody/content/"+escape(kind)+"/schema", body)
}

// checkForm checks a multipart body: where the operation takes JSON as well,
// payload_json as that, otherwise the fields as the members of an object.
func (s *Spec) checkForm(o operation, boundary string, body []byte) error {
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	fields := map[string]string{}
	var payload []byte
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read multipart body: %w", err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return fmt.Errorf("read multipart body: %w", err)
		}
		switch name := part.FormName(); {
		case name == "payload_json":
			payload = data
		case part.FileName() != "" && strings.HasPrefix(name, "files["):
		case part.FileName() != "":
			fields[name] = "file"
		default:
			fields[name] = string(data)
		}
	}
	if o.body["application/json"] {
		if payload == nil {
			return nil
		}
		return s.check(o.at+"/requestBody/content/application~1json/schema", payload)
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return s.check(o.at+"/requestBody/content/multipart~1form-data/schema", raw)
}

// check validates JSON against the schema at a pointer.
func (s *Spec) check(pointer string, raw []byte) error {
	schema, err := s.schema(pointer)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return schema.Validate(v)
}

// checkText validates query values, of which each may stand for itself or for
// the number or boolean that it spells.
func (s *Spec) checkText(pointer string, values []string) error {
	schema, err := s.schema(pointer)
	if err != nil {
		return err
	}
	many := make([]any, len(values))
	for i, text := range values {
		many[i] = text
	}
	readings := []any{many}
	if len(values) == 1 {
		readings = append(readings, values[0])
		if v, err := jsonschema.UnmarshalJSON(strings.NewReader(values[0])); err == nil {
			readings = append(readings, v)
		}
	}
	for _, v := range readings {
		if err = schema.Validate(v); err == nil {
			return nil
		}
	}
	return err
}

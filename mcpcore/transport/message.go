package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	codeStopping = -32004 // the code the SDK uses for calls to a closing server
	codeRejected = -32005 // the SDK fails the one message, and not the session

	// maxDepth is how deep the SDK decodes.
	maxDepth = 1000
	// maxSafeInteger is 2^53-1: the SDK holds a numeric id as float64 for a moment.
	maxSafeInteger = 1<<53 - 1
)

// A refusal is why a line is no message for the server.
type refusal struct {
	code   int64
	reason string          // what is wrong and what to do, for the client
	id     json.RawMessage // as sent; nil if it could not be read
	silent bool            // the line is a response: log, never answer
}

// decode reads one line. It keeps nothing of line. Member names are matched exactly, as the SDK does.
func decode(line []byte) (jsonrpc.Message, *refusal) {
	var members map[string]json.RawMessage
	if !utf8.Valid(line) || json.Unmarshal(line, &members) != nil || members == nil {
		return nil, unreadable(line)
	}
	id, idErr := decodeID(members["id"])
	method, isRequest := members["method"]
	if isRequest {
		return decodeRequest(line, members, method, id, idErr)
	}
	_, hasResult := members["result"]
	_, hasError := members["error"]
	if hasResult || hasError {
		return decodeResponse(line, members, id, idErr)
	}
	return nil, invalid(members, `the message has no "method": send a JSON-RPC 2.0 request or notification`)
}

func decodeRequest(line []byte, members map[string]json.RawMessage, rawMethod json.RawMessage, id jsonrpc.ID, idErr error) (jsonrpc.Message, *refusal) {
	if reason := envelope(line, members); reason != "" {
		return nil, invalid(members, reason)
	}
	method, ok := text(rawMethod)
	if !ok {
		return nil, invalid(members, `"method" is not a string: send the method's name`)
	}
	if idErr != nil {
		return nil, invalid(members, idErr.Error())
	}
	// A null id is no id in JSON-RPC 1.0 style; for anything but a notification MCP forbids it.
	if _, hasID := members["id"]; hasID && !id.IsValid() && !strings.HasPrefix(method, "notifications/") {
		return nil, invalid(members, `"id" is null: give each request its own string or integer`)
	}
	return &jsonrpc.Request{ID: id, Method: method, Params: members["params"]}, nil
}

// decodeResponse turns a malformed response into an error for the call that it ends.
func decodeResponse(line []byte, members map[string]json.RawMessage, id jsonrpc.ID, idErr error) (jsonrpc.Message, *refusal) {
	if idErr != nil || !id.IsValid() {
		return nil, &refusal{code: jsonrpc.CodeInvalidRequest, reason: "a response without the id of a call", silent: true}
	}
	failed := func(reason string) (jsonrpc.Message, *refusal) {
		return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
			Code: jsonrpc.CodeInvalidRequest, Message: "the client's answer is malformed: " + reason,
		}}, nil
	}
	if reason := envelope(line, members); reason != "" {
		return failed(reason)
	}
	if raw := members["error"]; !isNull(raw) {
		var wire jsonrpc.Error
		if err := json.Unmarshal(raw, &wire); err != nil {
			return failed(`"error" is not a JSON-RPC error object`)
		}
		return &jsonrpc.Response{ID: id, Error: &wire}, nil
	}
	if _, ok := members["result"]; !ok {
		return failed(`it has neither "result" nor "error"`)
	}
	return &jsonrpc.Response{ID: id, Result: members["result"]}, nil
}

// envelope checks what requests and responses share.
func envelope(line []byte, members map[string]json.RawMessage) string {
	if version, ok := text(members["jsonrpc"]); !ok || version != "2.0" {
		return `"jsonrpc" is not "2.0": send JSON-RPC 2.0`
	}
	if tooDeep(line) {
		return deepReason
	}
	return ""
}

// decodeID reads an id that the SDK can give back unchanged. An absent or null id is the zero ID.
func decodeID(raw json.RawMessage) (jsonrpc.ID, error) {
	if isNull(raw) {
		return jsonrpc.ID{}, nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return jsonrpc.ID{}, errors.New(`"id" cannot be read: use a string or an integer`)
	}
	switch v := v.(type) {
	case string:
	case float64:
		if v != math.Trunc(v) || math.Abs(v) > maxSafeInteger {
			return jsonrpc.ID{}, errors.New(`"id" is not an integer of at most 53 bits: use a smaller integer or a string`)
		}
	default:
		return jsonrpc.ID{}, errors.New(`"id" is neither a string nor an integer: use one of them`)
	}
	return jsonrpc.MakeID(v)
}

// invalid refuses a readable message and echoes its id if that is a string or a number.
func invalid(members map[string]json.RawMessage, reason string) *refusal {
	r := &refusal{code: jsonrpc.CodeInvalidRequest, reason: reason}
	var v any
	if id := members["id"]; json.Unmarshal(id, &v) == nil {
		switch v.(type) {
		case string, float64:
			r.id = id
		}
	}
	return r
}

var deepReason = fmt.Sprintf("the message is nested deeper than %d levels: send a flatter one", maxDepth)

// unreadable says why line is not a JSON object in UTF-8.
func unreadable(line []byte) *refusal {
	parse := func(reason string) *refusal { return &refusal{code: jsonrpc.CodeParseError, reason: reason} }
	request := func(reason string) *refusal { return &refusal{code: jsonrpc.CodeInvalidRequest, reason: reason} }
	trimmed := bytes.TrimLeft(line, " \t\r")
	switch {
	case bytes.HasPrefix(line, []byte("\ufeff")):
		return parse("the line starts with a byte order mark: send UTF-8 without one")
	case !utf8.Valid(line):
		return parse("the line is not valid UTF-8: send JSON encoded as UTF-8")
	case tooDeep(line):
		return request(deepReason)
	case json.Valid(line) && trimmed[0] == '[':
		return request("batches are not supported: send one message a line")
	case json.Valid(line):
		return request("the line is not a JSON object: send one JSON-RPC message a line")
	}
	var first json.RawMessage
	if json.NewDecoder(bytes.NewReader(line)).Decode(&first) == nil {
		return parse("there is something after the message on its line: end each message with a newline")
	}
	var syntax *json.SyntaxError
	at := ""
	if errors.As(json.Unmarshal(line, &first), &syntax) {
		at = fmt.Sprintf(" (at byte %d)", syntax.Offset)
	}
	return parse("the line is not valid JSON" + at + ": send one complete JSON-RPC message a line")
}

// tooDeep reports nesting beyond maxDepth, for JSON that may be broken.
func tooDeep(line []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(line); i++ {
		switch b := line[i]; {
		case inString && b == '\\':
			i++
		case b == '"':
			inString = !inString
		case inString:
		case b == '{', b == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case b == '}', b == ']':
			depth--
		}
	}
	return false
}

func text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// encodeRefusal writes the error answer itself: the SDK's encoder leaves a null id out.
func encodeRefusal(r *refusal) ([]byte, error) {
	id := r.id
	if id == nil {
		id = json.RawMessage("null")
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: r.code, Message: r.reason}})
	if err != nil {
		return nil, fmt.Errorf("encode refusal: %w", err)
	}
	return buf.Bytes(), nil
}

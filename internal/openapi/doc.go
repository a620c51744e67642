// Package openapi checks requests and answers against Discord's published
// OpenAPI description. It is for tests:
//
//	path, ok := openapi.Find()
//	if !ok {
//		t.Skip(openapi.Absent)
//	}
//	spec, err := openapi.Load(path)
//	...
//	err = spec.CheckRequest(r.Method, r.Route, r.Query, r.Header.Get("Content-Type"), r.Body)
//
// Objects are closed: a member that the description does not name is an error,
// in requests and in answers. Where the description, a preview, is wrong about
// Discord, [Differences] corrects it.
package openapi

package mcpcore

// Reference names something that is better not told, such as the code of an
// invite, by a text that tells nothing of it: the same thing has the same
// reference in every call of this server and of those with its
// [Deps.StateKey], and without one until the process ends. It is kind, an
// underscore and 32 hexadecimal digits.
func (c *Call) Reference(kind, of string) string {
	return kind + "_" + keyed(c.core.keys.request, []byte("reference\x00"+kind+"\x00"+of))[:32]
}

package sandbox

import "testing"

func TestApplicationTellsItsIntents(t *testing.T) {
	t.Parallel()
	rows(t, []row{
		{name: "its flags", method: "GET", path: "/applications/@me", status: 200, has: `"flags":557056`},
		{name: "without message content", method: "GET", path: "/applications/@me", status: 200, has: `"flags":32768`,
			before: func(d *Discord) { d.options.WithoutMessageContent = true }},
	})
}

package discordtools

import (
	"net/http"
	"testing"
)

// BenchmarkClientDo is one call's own cost: everything but Discord, whose
// answer is at hand at once.
func BenchmarkClientDo(b *testing.B) {
	answer := transportFunc(func(*http.Request) (*http.Response, error) {
		return respond(200, limitHeader(1<<20, 1<<40), `{"id":"1"}`), nil
	})
	b.Run("read", func(b *testing.B) {
		c := clientOn(b, answer)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Do(b.Context(), readChannel(keyChannel)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("side by side", func(b *testing.B) {
		c := clientOn(b, answer)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := c.Do(b.Context(), sendMessage(keyChannel)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}

package audit_test

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
)

func BenchmarkWriter(b *testing.B) {
	s := audit.Writer(io.Discard)
	for b.Loop() {
		if err := s.Record(b.Context(), outcome("r1")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFile is a record forced to the disk, alone and beside others that
// share the forcing.
func BenchmarkFile(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := start(b, filepath.Join(b.TempDir(), "audit.jsonl"))
			b.SetParallelism(callers)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := s.Record(b.Context(), outcome("r1")); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	path := filepath.Join(b.TempDir(), "audit.jsonl")
	s := start(b, path)
	var events []mcpcore.AuditEvent
	for i := range 64 {
		events = append(events, intent(fmt.Sprint("r", i)), outcome(fmt.Sprint("r", i)))
	}
	for _, e := range events {
		if err := s.Record(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(read(b, path))))
	for b.Loop() {
		if r := verify(b, path); !r.Intact() {
			b.Fatal(r)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)+1), "ns/record")
}

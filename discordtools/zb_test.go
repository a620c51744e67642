package discordtools_test
import ("testing";"github.com/guildwarden/guildwarden/discordtools";"github.com/guildwarden/guildwarden/discordtools/sandbox")
func BenchmarkZBuild(b *testing.B){ w:=sandbox.New(sandbox.Options{}); for b.Loop(){ if _,err:=discordtools.BuildServer(discordtools.Deps{Session:w.Session()});err!=nil{b.Fatal(err)} } }

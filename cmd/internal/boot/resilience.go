package boot

import (
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
)

// resilience is what the settings say of calls to Discord. As with every switch
// that is on by itself, only the text false is off.
func (c Config) resilience() discordtools.Resilience {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	return discordtools.Resilience{
		InFlight: c.Bulkhead,
		Failures: c.CircuitOpens, HalfOpenAfter: ms(c.CircuitProbe), NoBreaker: c.Circuit == "false",
		Retries: c.RetryMax, BaseDelay: ms(c.RetryBase), MaxDelay: ms(c.RetryCap), Jitter: discordtools.Jitter(c.RetryJitter), NoRetry: c.Retry == "false",
		Timeout: ms(c.TryTimeout),
	}
}

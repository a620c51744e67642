package boot

import (
	"context"
	"log/slog"
)

// Names are the variables that mean something here, for the tests.
var Names = names

// Stop ends telemetry whose parts end by these functions.
func Stop(log *slog.Logger, stops ...func(context.Context) error) {
	observers{stops: stops, log: log}.stop()
}

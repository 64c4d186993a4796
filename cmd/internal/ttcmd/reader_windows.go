package ttcmd

import (
	"context"
	"io"
)

// untilReaderGone leaves it to the next write to find out.
func untilReaderGone(ctx context.Context, _ io.Writer) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

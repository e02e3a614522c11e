package action

import "context"

type roomKey struct{}

// WithRoom marks a context with how many bytes the result of its action may have, in the words of whoever tells it; 0 is
// any number. A command keeps its output within that: it knows best which lines of it tell something.
func WithRoom(ctx context.Context, bytes int) context.Context {
	if bytes <= 0 {
		return ctx
	}
	return context.WithValue(ctx, roomKey{}, bytes)
}

// frame is what a harness may need around an output: exit code, marks, notes.
const frame = 400

// within is a limit on an output, lowered to the room there is.
func within(ctx context.Context, limit int) int {
	room, ok := ctx.Value(roomKey{}).(int)
	if !ok {
		return limit
	}
	if limit <= 0 {
		limit = outputLimit
	}
	return min(limit, max(room-frame, 1000))
}

package action

import "context"

type roomKey struct{}

// WithRoom marks a context with how many bytes the result of its action may have, in the words of whoever tells it; 0 is
// any number. A command keeps its output within that: it knows best which lines of it tell something. So do a reading and
// a fetched page, which say where they end.
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
	room := roomIn(ctx)
	if room == 0 {
		return limit
	}
	if limit <= 0 {
		limit = outputLimit
	}
	return min(limit, room)
}

// roomIn is how many bytes there are for what an action shows; 0 is any number.
func roomIn(ctx context.Context) int {
	room, ok := ctx.Value(roomKey{}).(int)
	if !ok {
		return 0
	}
	return max(room-frame, 1000)
}

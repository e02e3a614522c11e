package local

import "interpreter/local/chat"

// OneSystem gives a conversation the form that strict templates take: the system messages that open it are one, and
// a later one is said by the user, in its place. Whole conversations of that form come back as they are.
func OneSystem(messages []chat.Message) []chat.Message {
	if untouched(messages) {
		return messages
	}
	out := make([]chat.Message, 0, len(messages))
	opening := true
	for _, m := range messages {
		switch {
		case m.Role != chat.System:
			opening = false
		case opening && len(out) == 1:
			if m.Text != "" && out[0].Text != "" {
				out[0].Text += "\n\n"
			}
			out[0].Text += m.Text
			continue
		case !opening:
			m.Role = chat.User
		}
		out = append(out, m)
	}
	return out
}

// untouched reports whether no message but the first is a system message.
func untouched(messages []chat.Message) bool {
	for i, m := range messages {
		if i > 0 && m.Role == chat.System {
			return false
		}
	}
	return true
}

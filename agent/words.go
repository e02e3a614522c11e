package agent

// What the loop itself says to a model. A harness words its tools; these are about the conversation.
const (
	wordsInterrupted = "The user interrupted the previous turn. A command that was running may have done part of its work: check before you rely on it."
	wordsSchema      = "When the task is done, the last answer must be one JSON value and nothing else, valid under this JSON Schema:\n"
	wordsShape       = "That answer does not fit the JSON Schema asked for: %s. Answer again with the JSON value alone."
	wordsEmpty       = "The last answer was empty. Make the next tool call, or give the answer."
	wordsCutText     = "The last answer was cut off at the length limit. Go on exactly where it ended."
	wordsCutCall     = "not run: the answer was cut off at the length limit, so this call may be incomplete. Send it again, smaller: write a long file in parts, or use a shorter edit."
	wordsCutTextCall = "the answer was cut off at the length limit, so the tool call in it was not run; send it again, smaller"
	wordsTwin        = "\n[the same call stands twice in this answer; it ran once]"
	wordsSame        = "\n[same call, same result as before; nothing changed in between. Do something else next]"
	wordsPointer     = "This is the same call for the third time and its result is already above, unchanged; it was not run again. Use that result, or do something else."
	wordsRefused     = "not run: the same call was made before with the same result, and nothing changed since. It must differ: change the arguments, or first edit what it depends on. If the task cannot go on, say so and stop."
	wordsCycle       = "not run: these calls go round in a circle with the same results. Look at something new, or change a file first. If the task cannot go on, say so and stop."
	wordsFailing     = "\n[same failure as before. Change something before you run it again]"
	wordsFailed      = "not run: this command failed the same way twice and no file changed since. Its last lines were:\n%s\nForm another idea of the cause: read the file and line it names, check that the program exists, read its help."
	wordsStale       = "\n[the last %d read-only calls showed nothing new. Say what is still missing, or act]"
	wordsUndone      = "\n[this brings %s back to what it was before: it undoes your own change]"
	wordsFewLeft     = "\n[%d tool calls are left in this turn]"
	wordsLimit       = "not run: the limit of %d tool calls in a turn is reached."
	wordsNoMore      = "not run: no more tool calls in this turn."
	wordsWrapUp      = "No more tools in this turn. Say in a few lines what is done, what the state of the work is, and what stands in the way."
	wordsDigest      = "The conversation so far was cut for length and no summary could be made. "
	wordsSummary     = "Summary of the conversation so far, which it replaces:\n\n"
	wordsNoTools     = "\n\nAnswer with the summary as text. Tools are not run now."
	wordsPanic       = "the call ended in an internal error"
)

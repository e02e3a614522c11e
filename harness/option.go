package harness

// Option is one answer that a question to a person offers, as several families write it.
type Option struct {
	Label string `json:"label"`
	About string `json:"description" absent:"ok"`
}

// Labels are the options as a person is shown them.
func Labels(options []Option) []string {
	var labels []string
	for _, o := range options {
		if o.About != "" {
			o.Label += ": " + o.About
		}
		labels = append(labels, o.Label)
	}
	return labels
}

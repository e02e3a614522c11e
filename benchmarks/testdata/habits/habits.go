// Package habits counts how long a person kept a habit.
package habits

import "time"

// LongestStreak returns the most days in a row in dates, which are written YYYY-MM-DD, sorted and without
// duplicates. A date that cannot be read ends a streak.
func LongestStreak(dates []string) int {
	longest, current := 0, 0
	for i, date := range dates {
		if i > 0 && follows(dates[i-1], date) {
			current++
		} else {
			current = 1
		}
		longest = max(longest, current)
	}
	return longest
}

// follows reports whether a date is the day after another.
func follows(before, after string) bool {
	a, errA := time.Parse(time.DateOnly, before)
	b, errB := time.Parse(time.DateOnly, after)
	return errA == nil && errB == nil && b.Day() == a.Day()+1
}

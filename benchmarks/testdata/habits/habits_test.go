package habits

import "testing"

func TestStreakWithinAMonth(t *testing.T) {
	if got := LongestStreak([]string{"2026-05-04", "2026-05-05", "2026-05-06"}); got != 3 {
		t.Errorf("streak of %d days, want 3", got)
	}
}

func TestGapEndsAStreak(t *testing.T) {
	if got := LongestStreak([]string{"2026-05-04", "2026-05-05", "2026-05-08", "2026-05-09", "2026-05-10"}); got != 3 {
		t.Errorf("streak of %d days, want 3", got)
	}
}

func TestStreakAcrossAMonthBoundary(t *testing.T) {
	if got := LongestStreak([]string{"2026-04-29", "2026-04-30", "2026-05-01", "2026-05-02"}); got != 4 {
		t.Errorf("streak of %d days, want 4", got)
	}
}

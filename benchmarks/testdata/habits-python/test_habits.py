from habits import longest_streak


def test_streak_within_a_month():
    assert longest_streak(["2026-05-04", "2026-05-05", "2026-05-06"]) == 3


def test_gap_ends_a_streak():
    assert longest_streak(["2026-05-04", "2026-05-05", "2026-05-08", "2026-05-09", "2026-05-10"]) == 3


def test_streak_across_a_month_boundary():
    assert longest_streak(["2026-04-29", "2026-04-30", "2026-05-01", "2026-05-02"]) == 4

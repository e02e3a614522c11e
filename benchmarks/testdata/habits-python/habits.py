"""How long a habit was kept."""

from datetime import date


def longest_streak(dates):
    """The most days in a row in dates, written YYYY-MM-DD, sorted, without duplicates."""
    longest = current = 0
    before = None
    for after in map(date.fromisoformat, dates):
        if before is not None and after.day == before.day + 1:
            current += 1
        else:
            current = 1
        longest = max(longest, current)
        before = after
    return longest

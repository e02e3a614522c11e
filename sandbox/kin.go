package sandbox

// relative is one row of the system's list of processes.
type relative struct {
	pid, parent, group int
	began              int64 // when it was started, in microseconds; tells it from an earlier one of the same number
}

// kin are the processes that a command has started, as far as looks at the list of processes can tell: a process that
// left the group and lost its parent between two looks is missed.
type kin struct {
	leader int           // the number of the command and of its group, which nobody else has until it is waited for
	began  map[int]int64 // of those that were seen
}

func newKin(leader int) *kin { return &kin{leader, map[int]int64{}} }

// look takes in a list and returns those of it that the command started, itself not among them.
func (k *kin) look(list []relative) []int {
	now := map[int]int64{}
	for _, r := range list {
		now[r.pid] = r.began
	}
	for pid, began := range k.began {
		if now[pid] != began {
			delete(k.began, pid)
		}
	}
	for grown := true; grown; {
		grown = false
		for _, r := range list {
			if _, known := k.began[r.pid]; known || r.pid == k.leader {
				continue
			}
			_, child := k.began[r.parent]
			if child || r.parent == k.leader || r.group == k.leader {
				k.began[r.pid], grown = r.began, true
			}
		}
	}
	var alive []int
	for _, r := range list {
		if _, known := k.began[r.pid]; known {
			alive = append(alive, r.pid)
		}
	}
	return alive
}

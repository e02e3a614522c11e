package sandbox

import (
	"slices"
	"testing"
)

func TestKin(t *testing.T) {
	k := newKin(10)
	steps := []struct {
		name string
		list []relative
		want []int
	}{
		{"nothing yet", []relative{{10, 1, 10, 100}, {7, 1, 7, 50}}, nil},
		{"a child, a grandchild listed first, a stranger", []relative{{12, 11, 12, 102}, {10, 1, 10, 100}, {11, 10, 10, 101}, {7, 1, 7, 50}}, []int{12, 11}},
		{"the grandchild is an orphan in a session of its own", []relative{{10, 1, 10, 100}, {12, 1, 12, 102}}, []int{12}},
		{"its own child counts", []relative{{10, 1, 10, 100}, {12, 1, 12, 102}, {13, 12, 13, 103}}, []int{12, 13}},
		{"somebody else has the number", []relative{{10, 1, 10, 100}, {12, 1, 12, 999}, {13, 1, 13, 103}, {14, 12, 14, 1000}}, []int{13}},
		{"only the group tells", []relative{{10, 1, 10, 100}, {20, 1, 10, 104}}, []int{20}},
		{"the leader is gone, its group is not", []relative{{20, 1, 10, 104}, {21, 20, 10, 105}}, []int{20, 21}},
		{"all gone", []relative{{7, 1, 7, 50}}, nil},
	}
	for _, s := range steps {
		if got := k.look(s.list); !slices.Equal(got, s.want) {
			t.Errorf("%s: %v, want %v", s.name, got, s.want)
		}
	}
}

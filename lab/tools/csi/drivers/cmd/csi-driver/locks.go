package main

import "sync"

// locks of volumes and snapshots by their ids. No call waits for one: what is in work is Aborted, and asked for again.
type locks struct {
	mutex sync.Mutex
	// held has how many read; -1 is one that writes.
	held map[string]int
}

func newLocks() *locks { return &locks{held: map[string]int{}} }

// take returns nil unless all of them are free: those that are only read may be read by others.
func (l *locks) take(written string, read ...string) (free func()) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.held[written] != 0 {
		return nil
	}
	for _, id := range read {
		if l.held[id] < 0 || id == written {
			return nil
		}
	}
	l.held[written] = -1
	for _, id := range read {
		l.held[id]++
	}
	return func() {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		delete(l.held, written)
		for _, id := range read {
			if l.held[id]--; l.held[id] == 0 {
				delete(l.held, id)
			}
		}
	}
}

/** A virtual clock and what is to happen on it. Ties happen in the order in which they were asked for. */
export interface Clock {
  nowMs: number;
  at(atMs: number, happen: () => void): void;
  /** Lets the next thing happen; false when nothing is left before `untilMs`. */
  step(untilMs: number): boolean;
}

interface Entry {
  atMs: number;
  order: number;
  happen: () => void;
}

export function createClock(startMs: number): Clock {
  const heap: Entry[] = [];
  let order = 0;
  const isBefore = (a: Entry, b: Entry): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };

  function rise(from: number): void {
    for (let child = from; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!isBefore(heap[child]!, heap[parent]!)) return;
      swap(child, parent);
      child = parent;
    }
  }

  function sink(): void {
    for (let parent = 0; ; ) {
      let least = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
      if (least === parent) return;
      swap(parent, least);
      parent = least;
    }
  }

  const clock: Clock = {
    nowMs: startMs,
    at(atMs, happen) {
      heap.push({ atMs: Math.max(atMs, clock.nowMs), order: (order += 1), happen });
      rise(heap.length - 1);
    },
    step(untilMs) {
      const [next] = heap;
      if (next === undefined || next.atMs > untilMs) return false;
      swap(0, heap.length - 1);
      heap.pop();
      sink();
      clock.nowMs = next.atMs;
      next.happen();
      return true;
    },
  };
  return clock;
}

/** A server of a fake: up, down (connections are refused), or frozen (connections stand, nothing is answered). */
export interface Service {
  readonly state: 'up' | 'down' | 'frozen';
  /** kill -9: what it has open is cut. */
  kill: () => void;
  start: () => void;
  /** As SIGSTOP: requests wait until {@link Service.thaw}. */
  freeze: () => void;
  thaw: () => void;
  /** Resolves while it serves, at once or when it is thawed. @throws `cut()` when it is killed first, or is down */
  serving: (cut: () => Error) => Promise<void> | void;
  /** Called at each change of state. Returns what takes the listener away. */
  onChange: (listener: (state: Service['state']) => void) => () => void;
}

export function createService(): Service {
  let state: Service['state'] = 'up';
  const waiting = new Set<{ resolve: () => void; reject: (cut: Error) => void; cut: () => Error }>();
  const listeners = new Set<(state: Service['state']) => void>();
  const change = (next: Service['state']): void => {
    if (next === state) return;
    state = next;
    if (next !== 'frozen') {
      for (const { resolve, reject, cut } of waiting) {
        if (next === 'up') resolve();
        else reject(cut());
      }
      waiting.clear();
    }
    for (const listener of listeners) listener(next);
  };
  return {
    get state() {
      return state;
    },
    kill: () => change('down'),
    start: () => change('up'),
    freeze: () => change(state === 'down' ? 'down' : 'frozen'),
    thaw: () => change(state === 'frozen' ? 'up' : state),
    serving(cut) {
      if (state === 'up') return;
      if (state === 'down') throw cut();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.add({ resolve, reject, cut });
      return promise;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

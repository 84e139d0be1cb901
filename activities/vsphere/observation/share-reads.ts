import { unlessAborted } from '../../../runtime/unless-aborted.ts';

/**
 * Lets those that ask the same share a call. It begins after each of them has asked, so nobody is told what was before: who asks while one
 * is under way shares the next. Of each question at most one call is under way.
 *
 * @returns the same; who gives up is let go, and the call goes on for the others, within the time of any call
 */
export function shareReads<Asked, Answer>(
  read: (asked: Asked, signal: AbortSignal) => Promise<Answer>,
  keyOf: (asked: Asked) => string,
): (asked: Asked, signal: AbortSignal) => Promise<Answer> {
  const running = new Map<string, Promise<Answer>>();
  const next = new Map<string, Promise<Answer>>();

  const begin = async (key: string, asked: Asked): Promise<Answer> => {
    await running.get(key)?.catch(() => undefined);
    next.delete(key);
    const answer = read(asked, new AbortController().signal);
    running.set(key, answer);
    try {
      return await answer;
    } finally {
      if (running.get(key) === answer) running.delete(key);
    }
  };
  return async (asked, signal) => {
    signal.throwIfAborted();
    const key = keyOf(asked);
    const shared = next.get(key) ?? begin(key, asked);
    next.set(key, shared);
    // Everybody who waits may have given up.
    shared.catch(() => undefined);
    return await unlessAborted(shared, signal);
  };
}

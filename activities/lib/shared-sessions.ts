import { createHash } from 'node:crypto';

/** Sessions that many share: one for each credential. Those that are not used are closed when there are too many. */
export interface SharedSessions<Session> {
  /**
   * Gives the session of that key to the work, and keeps it open as long as that lasts.
   *
   * @param open makes it where there is none; it sends nothing
   */
  use<Result>(key: string, open: () => Session, work: (session: Session) => Promise<Result>): Promise<Result>;
  /** All of them, also those in use. */
  close(): Promise<void>;
}

interface Shared<Session> {
  session: Session;
  users: number;
}

/** Of a session that is opened with these: it is none of their secrets, and another one where any of them changes. */
export const sessionKey = (settings: unknown): string =>
  createHash('sha256').update(JSON.stringify(settings)).digest('hex');

/** @param most that stay open without being used */
export function shareSessions<Session extends { close(): Promise<void> }>(most: number): SharedSessions<Session> {
  /** The one that was used last is the last. */
  const open = new Map<string, Shared<Session>>();
  let isClosed = false;

  const closeIdle = (): void => {
    for (const [key, { session, users }] of open) {
      if (open.size <= most) return;
      if (users > 0) continue;
      open.delete(key);
      // Logging out is a courtesy: the session ends by itself.
      session.close().catch(() => undefined);
    }
  };
  return {
    async use(key, make, work) {
      if (isClosed) throw new Error('the sessions were closed');
      const shared = open.get(key) ?? { session: make(), users: 0 };
      open.delete(key);
      open.set(key, shared);
      shared.users += 1;
      try {
        return await work(shared.session);
      } finally {
        shared.users -= 1;
        closeIdle();
      }
    },
    async close() {
      isClosed = true;
      const last = [...open.values()];
      open.clear();
      await Promise.all(last.map(({ session }) => session.close()));
    },
  };
}

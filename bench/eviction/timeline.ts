import { endedMigrationStatuses } from '../../contracts/eviction/instance.ts';
import type { ApiCall, MigrationEvent } from '../../lab/openstack/journal.ts';

/** One live migration by the lab's journals, in unix ms. */
export interface Move {
  instance: string;
  /** Nova was asked. */
  postMs: number;
  /** The record came to its end. */
  endMs: number;
}

/** A server that left, and the one that took its place in the window. */
export interface Succession {
  left: Move;
  next: Move;
}

const isPost = ({ method, action, status }: ApiCall): boolean =>
  method === 'POST' && action === 'os-migrateLive' && status === 202;
const serverOf = ({ path }: ApiCall): string => /\/servers\/([^/]+)\/action$/u.exec(path)?.[1] ?? '';

/**
 * Each server's live migration, in the order in which Nova was asked.
 *
 * @throws when one was asked for twice, has not ended or has not completed: then the two sides did not do the same
 */
export function readMoves(calls: readonly ApiCall[], events: readonly MigrationEvent[]): Move[] {
  const posts = calls.filter(isPost).toSorted((a, b) => a.timeMs - b.timeMs);
  const moves = posts.map((post) => {
    const instance = serverOf(post);
    const [end, ...more] = events.filter(
      (event) => event.instance === instance && (endedMigrationStatuses as readonly string[]).includes(event.status),
    );
    if (end?.status !== 'completed' || more.length > 0)
      throw new Error(
        `the migration of server ${instance} ended as ${[end, ...more].map((one) => one?.status ?? 'nothing').join(', ')}`,
      );
    return { instance, postMs: post.timeMs, endMs: end.timeMs };
  });
  if (new Set(moves.map(({ instance }) => instance)).size < moves.length) throw new Error('a server was moved twice');
  return moves;
}

/** From the first request to the last end. */
export const spanMs = (moves: readonly Move[]): number =>
  Math.max(...moves.map(({ endMs }) => endMs)) - Math.min(...moves.map(({ postMs }) => postMs));

/** Who made room for whom: in a window, the k-th end lets the (window + k)-th begin. */
export function successions(moves: readonly Move[], window: number): Succession[] {
  const ends = moves.toSorted((a, b) => a.endMs - b.endMs);
  return moves.slice(window).map((next, index) => ({ left: ends[index] ?? next, next }));
}

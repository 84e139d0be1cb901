import type { Migration } from '../../contracts/eviction/instance.ts';
import {
  cold,
  ended,
  finished,
  live,
  migrating,
  noProgress,
  resized,
  server,
} from '../../test/fixtures/workflows/migration.ts';
import type { Progress } from './plan.ts';
import {
  applyAbort,
  applyForcedCompletion,
  applyIdleWait,
  applyLostStart,
  applyMigrationEnd,
  applyObservation,
  applyStart,
  retryDelayMs,
} from './progress.ts';

const source = { sourceHost: 'node-1' };
const inFlight: Progress['observation'] = { instance: { ...server, ...migrating }, migration: live };
const stuck = ended({ status: 'stuck', stuck: 'TooLong', observation: inFlight });
const begun = (): Progress => structuredClone({ ...noProgress, attempts: 1, observation: inFlight });

test('a migration stays known as stuck through observations and aborts that do not end it', () => {
  const progress = begun();
  applyMigrationEnd(progress, stuck);
  applyObservation(progress, inFlight, source);
  applyAbort(progress, live.id, stuck);
  applyObservation(progress, inFlight, source);
  applyAbort(progress, live.id, stuck);
  expect(progress).toMatchObject({ stuckAttempts: 1, trouble: { migrationId: 7, stuck: 'TooLong', vainAborts: 2 } });
});

test('an abort that ends it ends its trouble, and says why it was aborted', () => {
  const progress = begun();
  applyMigrationEnd(progress, stuck);
  applyAbort(progress, live.id, ended({ status: 'cancelled' }));
  expect(progress.trouble).toBeNull();
  expect(progress.lastEnd?.message).toMatch(/took longer than its size allows/);
});

test('one that is to be finished is waited for again', () => {
  const progress = begun();
  applyMigrationEnd(progress, stuck);
  applyForcedCompletion(progress, live.id);
  expect(progress).toMatchObject({ forced: 7, trouble: { stuck: null, vainAborts: 0 } });
});

test('it stays known that a migration is stuck in post-copy, and what was wrong before it is not taken for that', () => {
  const progress = begun();
  applyMigrationEnd(progress, stuck);
  const postCopied = { ...inFlight, migration: { ...live, status: 'running (post-copy)' } };
  applyAbort(progress, live.id, { ...stuck, observation: postCopied });
  expect(progress.trouble).toEqual({ migrationId: 7, stuck: 'TooLong', vainAborts: 1 });
  applyMigrationEnd(progress, { ...stuck, observation: postCopied });
  applyObservation(progress, postCopied, source);
  expect(progress.trouble).toEqual({ migrationId: 7, stuck: 'TooLong', vainAborts: 1, inPostCopy: true });
});

test('a start that is given back again and again is made after ever longer pauses, as long as nothing else happens', () => {
  const progress: Progress = structuredClone(noProgress);
  const input = { settings: { retryDelayMs: 5_000 } } as Parameters<typeof retryDelayMs>[0];
  const givenBack = (): number => {
    applyStart(progress, 'live', { outcome: 'changed', observation: { instance: server, migration: null } }, source);
    return retryDelayMs(input, progress);
  };
  expect([givenBack(), givenBack(), givenBack(), givenBack()]).toEqual([0, 10_000, 20_000, 40_000]);
  expect(progress.attempts).toBe(0);
  applyIdleWait(progress, { instance: server, migration: null }, source);
  expect(givenBack()).toBe(0);
  applyStart(progress, 'live', { outcome: 'started', migration: live }, source);
  expect(progress).toMatchObject({ attempts: 1, givenBack: 0 });
  expect(retryDelayMs(input, progress)).toBe(5_000);
});

test('a cold migration of drover’s stays its own where the next start finds it', () => {
  const progress: Progress = structuredClone(noProgress);
  applyStart(progress, 'cold', { outcome: 'started', migration: cold }, source);
  const observation = { instance: { ...server, ...resized }, migration: finished };
  applyStart(progress, 'cold', { outcome: 'changed', observation }, source);
  expect(progress.ownCold).toBe(cold.id);
});

test.each<[what: string, known: number[] | null, migration: Migration, ownCold: number | null]>([
  ['a new record is what the request has begun', [6], cold, 7],
  ['also when it has run to its end', [6], finished, 7],
  ['one that was there before is another user’s', [6, 7], cold, null],
  ['a resize is another user’s', [6], { ...cold, type: 'resize' }, null],
  ['so is a move off another host', [6], { ...cold, sourceHost: 'node-9' }, null],
  ['where nothing was asked, all are', null, cold, null],
])('where the answer to a request for a cold migration was lost: %s', (_what, known, migration, ownCold) => {
  const progress: Progress = structuredClone(noProgress);
  applyLostStart(progress, known === null ? null : { known });
  applyObservation(progress, { instance: server, migration }, source);
  expect(progress.ownCold).toBe(ownCold);
});

test('its record is recognised too where Nova makes it while the server is waited for', () => {
  const progress: Progress = structuredClone(noProgress);
  applyLostStart(progress, { known: [6] });
  applyObservation(progress, { instance: { ...server, taskState: 'resize_prep' }, migration: null }, source);
  expect(progress.ownCold).toBeNull();
  applyIdleWait(progress, { instance: { ...server, status: 'VERIFY_RESIZE' }, migration: finished }, source);
  expect(progress.ownCold).toBe(7);
});

test('and where the next attempt is given back, as the record has come', () => {
  const progress: Progress = structuredClone(noProgress);
  applyLostStart(progress, { known: [6] });
  applyStart(progress, 'cold', { outcome: 'changed', observation: { instance: server, migration: cold } }, source);
  expect(progress).toMatchObject({ ownCold: 7, coldAsked: null });
});

test.each([
  ['finished', 7],
  ['error', null],
])('of a cold migration that ended as %s, what is to be confirmed is %p', (status, ownCold) => {
  const progress: Progress = structuredClone(noProgress);
  applyStart(progress, 'cold', { outcome: 'started', migration: cold }, source);
  applyMigrationEnd(progress, ended({ status }));
  expect(progress.ownCold).toBe(ownCold);
});

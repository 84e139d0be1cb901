import type { ObjectChanged } from '../../contracts/messages.ts';
import { noFacts } from './compose-observation.ts';
import type { Inbox } from './run.ts';
import { beginRun, emptyInbox, hasNews, hearChange, isOutdated } from './run.ts';
import { desiredOf, settings } from '../../test/fixtures/workflows/virtual-machine.ts';

/** A run that has read generation 3 of its object, and has seen `seen` of its VM. */
const runThatSaw = (seen: string | null) => ({
  ...beginRun('team', 'web', null),
  facts: { ...noFacts, seen },
  seen: {
    next: 'run' as const,
    digest: null,
    desired: desiredOf({ generation: 3 }),
    recorded: {},
    objects: {} as never,
    settings,
  },
});
const { uid } = desiredOf();
const hearing = (...changes: (Partial<ObjectChanged> | null | undefined)[]): Inbox => {
  const inbox = emptyInbox();
  for (const change of changes) hearChange(inbox, change);
  return inbox;
};
const spec = (generation: number, more: Partial<ObjectChanged> = {}) => ({ uid, generation, cause: 'spec', ...more });

test.each<[what: string, saw: string | null, heard: (Partial<ObjectChanged> | null | undefined)[], is: boolean]>([
  ['nothing has come', 'a', [], false],
  ['nobody says what', 'a', [undefined], true],
  ['nobody says what, in JSON', 'a', [null], true],
  ['something beside the spec', 'a', [{ uid, generation: 3, cause: 'annotations' }], true],
  ['the spec, and something beside it', 'a', [spec(3, { cause: 'spec, annotations' })], true],
  ['a spec that the run has not read', 'a', [spec(4)], true],
  ['the spec that the run has read, or written', 'a', [spec(3)], false],
  ['one before that, late', 'a', [spec(2)], false],
  ['the spec of another object of that name', 'a', [spec(1, { uid: 'another' })], true],
  ['a spec, by hand', 'a', [{ cause: 'spec' }], true],
  ['a spec that the run has not read, and a late one', 'a', [spec(4), spec(2)], true],
  ['something beside the spec, and then the spec', 'a', [{ uid, generation: 3, cause: 'labels' }, spec(3)], true],
  ['the watch saw something else', 'a', [{ seen: 'b' }], true],
  ['the watch saw what the run has seen', 'a', [{ seen: 'a' }], false],
  ['the watch saw something, and the run has not seen its VM', null, [{ seen: 'a' }], true],
  ['the object has changed, and the watch saw what the run has seen', 'a', [spec(4), { seen: 'a' }], true],
])('news: %s', (_what, saw, heard, is) => {
  expect(hasNews(runThatSaw(saw), hearing(...heard))).toBe(is);
});

test('before the object was read every spec is news', () => {
  expect(hasNews({ ...runThatSaw('a'), seen: null }, hearing(spec(3)))).toBe(true);
});

test.each<[what: string, heard: Partial<ObjectChanged>[], is: boolean]>([
  ['nothing has come', [], false],
  ['the spec that was read', [spec(3)], false],
  ['another one', [spec(4)], true],
  ['one before that, late', [spec(2)], false],
  ['that of another object', [spec(1, { uid: 'another' })], true],
  ['another one, and more', [spec(4, { cause: 'spec, labels' })], true],
  ['the spec that was read, and something beside it', [{ uid, generation: 3, cause: 'labels' }], false],
  ['nobody says what', [{}], false],
])('outdated: %s', (_what, heard, is) => {
  expect(isOutdated(runThatSaw('a'), hearing(...heard))).toBe(is);
});

test('whoever is cancelled is outdated', () => {
  expect(isOutdated(runThatSaw('a'), { ...emptyInbox(), cancelled: true })).toBe(true);
});

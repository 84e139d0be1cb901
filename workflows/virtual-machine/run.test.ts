import { noFacts } from './compose-observation.ts';
import { beginRun, emptyInbox, hasNews } from './run.ts';

const runThatSaw = (seen: string | null) => ({ ...beginRun('team', 'web', null), facts: { ...noFacts, seen } });

test.each<[what: string, saw: string | null, inbox: object, is: boolean]>([
  ['nothing has come', 'a', {}, false],
  ['the object has changed', 'a', { changed: true }, true],
  ['the watch saw something else', 'a', { seen: 'b' }, true],
  ['the watch saw what the run has seen', 'a', { seen: 'a' }, false],
  ['the watch saw something, and the run has not seen its VM', null, { seen: 'a' }, true],
  ['the object has changed, and the watch saw what the run has seen', 'a', { changed: true, seen: 'a' }, true],
])('%s', (_what, saw, inbox, is) => {
  expect(hasNews(runThatSaw(saw), { ...emptyInbox(), ...inbox })).toBe(is);
});

import { chooseEviction, refusingObstacles, servedEviction, withStory } from './eviction-description.ts';
import type { Ending, EvictionObject } from './eviction-objects.ts';
import { sampleEviction } from '../../test/fixtures/starters/eviction.ts';

const object = (name: string, facts: Partial<EvictionObject> = {}): EvictionObject =>
  sampleEviction({ name, uid: `uid-${name}`, createdAt: '2026-01-31T12:00:00Z', reconciled: true, ...facts });

test.each<[why: string, objects: EvictionObject[], named: string | null, chosen: string | null]>([
  ['none', [], null, null],
  ['the one that the run names', [object('a'), object('b', { reconciled: false })], 'a', 'a'],
  [
    'one that is not reconciled',
    [object('a', { createdAt: '2026-02-01T00:00:00Z' }), object('b', { reconciled: false })],
    null,
    'b',
  ],
  ['the last', [object('a'), object('b', { createdAt: '2026-02-01T00:00:00Z' })], 'gone', 'b'],
])('the Eviction that is meant: %s', (_why, objects, named, chosen) => {
  expect(chooseEviction(objects, named)?.name ?? null).toBe(chosen);
});

const evicting = (status: 'True' | 'Unknown'): Partial<EvictionObject> => ({
  reconciled: false,
  conditions: [
    { type: 'Evicting', status, reason: 'Running', message: '', lastTransitionTime: '2026-01-31T12:00:00Z' },
  ],
});
const waiting = object('waiting', { ...evicting('Unknown'), createdAt: '2026-02-01T00:00:00Z' });
const running = object('running', evicting('True'));
const fresh = object('fresh', { reconciled: false, createdAt: '2026-02-02T00:00:00Z' });

test.each<[why: string, objects: EvictionObject[], named: string | null, served: string | null]>([
  ['the one that the run names', [fresh, running, waiting], 'waiting', 'waiting'],
  ['not another one, where that is over', [object('over'), fresh], 'over', null],
  ['the one that says so, where no worker answers', [fresh, waiting, running], null, 'running'],
  ['the only one that is open', [object('over'), waiting], null, 'waiting'],
  ['several, of which none says so', [waiting, fresh], null, null],
  ['several that say so', [running, object('too', evicting('True'))], null, null],
  ['none is open', [object('over')], null, null],
])('the Eviction that the run serves: %s', (_why, objects, named, served) => {
  expect(servedEviction(objects, named)?.name ?? null).toBe(served);
});

const lost: Ending = { outcome: 'Stopped', message: 'It was cancelled', result: null };
const reported = object('a', {
  conditions: [
    {
      type: 'Evicting',
      status: 'False',
      reason: 'Stopped',
      message: '2 of 4 servers have left node-1',
      lastTransitionTime: '2026-01-31T12:00:00Z',
    },
  ],
});

test.each<[why: string, ending: Ending, eviction: EvictionObject | null, message: string]>([
  ['the Eviction has the message that Temporal lost', lost, reported, '2 of 4 servers have left node-1'],
  ['neither has it', lost, null, 'It was cancelled'],
  ['the Eviction reports something else', lost, object('a'), 'It was cancelled'],
  ['another end has its own', { ...lost, outcome: 'Failed', message: 'x' }, reported, 'x'],
])('the story: %s', (_why, ending, eviction, message) => {
  expect(withStory(ending, eviction).message).toBe(message);
});

const preflight = (status: 'True' | 'False', message: string) => ({
  conditions: [
    { type: 'PreflightChecksSucceeded', status, reason: 'Failed', message, lastTransitionTime: '2026-01-31T12:00:00Z' },
  ],
});

test.each<[why: string, eviction: Parameters<typeof refusingObstacles>[0], ids: string[]]>([
  [
    'two',
    preflight('False', 'no target is up [NoTargets]; db-1 [a] has a disk [LocalDisk/5f0a-1].'),
    ['NoTargets', 'LocalDisk/5f0a-1'],
  ],
  ['none any more', preflight('True', 'Preflight checks passed. Accepted: [NoTargets].'), []],
  ['never looked', { conditions: [] }, []],
  ['no Eviction', null, []],
])('obstacles in the words of the condition: %s', (_why, eviction, ids) => {
  expect(refusingObstacles(eviction)).toEqual(ids);
});

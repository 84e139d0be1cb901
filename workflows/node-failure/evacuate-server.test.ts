import type { Instance } from '../../contracts/eviction/instance.ts';
import { outcomeOf } from './evacuate-server.ts';

const instance = (change: Partial<Instance>): Instance => ({
  id: 'a',
  name: 'a',
  status: 'ACTIVE',
  taskState: null,
  vmState: 'active',
  host: 'node-1',
  locked: false,
  memoryMiB: 1,
  vcpus: 1,
  localDiskGiB: 0,
  serverGroups: [],
  fault: null,
  ...change,
});

const rows: [why: string, found: Instance | null, outcome: object][] = [
  ['it was deleted meanwhile', null, { outcome: 'gone', why: null }],
  ['it came up elsewhere', instance({ host: 'node-2' }), { outcome: 'evacuated', why: null }],
  ['it is still there', instance({}), { outcome: 'failed', why: 'Nova’s words' }],
  ['nobody holds it', instance({ host: null }), { outcome: 'failed', why: 'Nova’s words' }],
  [
    'it is on its way',
    instance({ host: 'node-2', taskState: 'rebuilding' }),
    { outcome: 'failed', why: 'Nova’s words; Nova is still at it (rebuilding)' },
  ],
];
test.each(rows)('%s', (_why, found, outcome) => {
  expect(outcomeOf({ instance: found, migration: null }, 'node-1', 'Nova’s words')).toEqual(outcome);
});

import type { Condition } from '../../contracts/conditions.ts';
import type { HypervisorObservation, MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import type { Emptying } from './judge-evicting.ts';
import { judgeEmptying, judgeEvicting } from './judge-evicting.ts';
import {
  conditionOf,
  contextOf,
  disabledFor,
  nodeOf,
  onboarding,
  ownEvictionOf,
} from '../../test/fixtures/workflows/hypervisor.ts';

const bare = disabledFor('drover: maintenance manual');
const running = conditionOf('Evicting', 'True', 'Running');
const evicted = conditionOf('Evicting', 'False', 'Succeeded');
const stopped = conditionOf('Evicting', 'Unknown', 'Stopped');
const down = { ...bare, service: { ...bare.service, state: 'down' as const } };

interface Given extends Partial<HypervisorObservation> {
  mode?: MaintenanceMode;
  before?: Condition;
  generation?: number;
  retry?: string;
}
type Row = [
  why: string,
  given: Given,
  emptying: Emptying,
  says: [status: string, reason: string, evicted: boolean] | null,
];
const rows: Row[] = [
  ['nothing has begun', { nova: bare }, 'open', null],
  [
    'the Eviction waits for its turn',
    { nova: bare, evictions: [ownEvictionOf('waiting')] },
    'running',
    ['True', 'Running', false],
  ],
  [
    'it runs',
    { nova: disabledFor(null, { servers: 2 }), evictions: [ownEvictionOf('running')] },
    'running',
    ['True', 'Running', false],
  ],
  [
    'it succeeded, and nothing is there',
    { nova: bare, evictions: [ownEvictionOf('succeeded')] },
    'empty',
    ['False', 'Succeeded', true],
  ],
  [
    'it succeeded, and something came',
    { nova: disabledFor(null, { servers: 1 }), evictions: [ownEvictionOf('succeeded')] },
    'open',
    null,
  ],
  [
    'a migration on its way here',
    { nova: disabledFor(null, { migrations: 1 }), evictions: [ownEvictionOf('succeeded')] },
    'open',
    null,
  ],
  [
    'an unconfirmed resize',
    { nova: disabledFor(null, { unconfirmedResizes: 1 }), evictions: [ownEvictionOf('succeeded')] },
    'open',
    null,
  ],
  [
    'an allocation',
    { nova: disabledFor(null, { allocations: 1 }), evictions: [ownEvictionOf('succeeded')] },
    'open',
    null,
  ],
  [
    'a host that is enabled is not empty, as anything may come',
    { evictions: [ownEvictionOf('succeeded')] },
    'open',
    null,
  ],
  [
    'it failed: not evicted, whoever asks (H10)',
    { nova: bare, evictions: [ownEvictionOf('failed')] },
    'failed',
    ['Unknown', 'Failed', false],
  ],
  [
    'it was cancelled',
    { nova: bare, evictions: [ownEvictionOf('stopped', { deleting: true })] },
    'stopped',
    ['Unknown', 'Stopped', false],
  ],
  ['it was deleted in the middle', { nova: bare, before: running }, 'stopped', ['Unknown', 'Stopped', false]],
  ['that holds', { nova: bare, before: stopped }, 'stopped', ['Unknown', 'Stopped', false]],
  ['until the spec changes', { nova: bare, before: stopped, generation: 2 }, 'open', null],
  ['or somebody asks', { nova: bare, before: stopped, retry: 'now' }, 'open', null],
  [
    'one that failed and was deleted is made again',
    { nova: bare, before: conditionOf('Evicting', 'Unknown', 'Failed') },
    'open',
    null,
  ],
  [
    'one that succeeded and was tidied away has emptied the host',
    { nova: bare, before: evicted },
    'empty',
    ['False', 'Succeeded', true],
  ],
  [
    'what another operator said of a host that is not empty is no proof (H10)',
    { nova: disabledFor(null, { servers: 3 }), before: evicted },
    'open',
    null,
  ],
  [
    'somebody else’s Eviction is no proof for this maintenance',
    { nova: bare, evictions: [ownEvictionOf('succeeded', { ownerUid: null })] },
    'open',
    null,
  ],
  [
    'nor is one of a Hypervisor of the same name before',
    { nova: bare, evictions: [ownEvictionOf('succeeded', { ownerUid: 'another' })] },
    'open',
    null,
  ],
  [
    'nothing moves where nova-compute is down, and nothing is there',
    { nova: down },
    'empty',
    ['False', 'Succeeded', true],
  ],
  ['something is there', { nova: { ...down, servers: 1 } }, 'open', null],
  [
    'one that is on its way out is waited for',
    { nova: bare, evictions: [ownEvictionOf('running', { deleting: true })] },
    'running',
    ['True', 'Running', false],
  ],
  [
    'a new one comes before one on its way out',
    { nova: bare, evictions: [ownEvictionOf('stopped', { deleting: true, name: 'old' }), ownEvictionOf('running')] },
    'running',
    ['True', 'Running', false],
  ],
  ['Nova has no such host', { nova: null }, 'absent', null],
];

test.each(rows)('%s', (_why, { mode = 'manual', before, generation = 1, retry, ...observed }, emptying, says) => {
  const context = contextOf({ maintenance: mode, generation, retry: retry ?? null }, observed, [
    onboarding('succeeded'),
    ...(before === undefined ? [] : [before]),
  ]);
  expect(judgeEmptying(context)).toBe(emptying);
  const judged = judgeEvicting(context);
  expect(judged === null ? null : [judged.condition.status, judged.condition.reason, judged.evicted]).toEqual(says);
});

test('out of maintenance nothing is said', () => {
  expect(judgeEvicting(contextOf({}, { nova: bare, evictions: [ownEvictionOf('succeeded')] }))).toBeNull();
});

test('a Node that terminates is a maintenance too', () => {
  expect(
    judgeEvicting(
      contextOf({}, { nova: bare, node: nodeOf({ terminatingSinceMs: 1 }), evictions: [ownEvictionOf('succeeded')] }),
    )?.evicted,
  ).toBe(true);
});

import type { Snapshot } from '../../invariants/snapshot.ts';
import { violations } from '../../invariants/violations.ts';
import {
  breaks,
  disabled,
  evacuated,
  eviction,
  forced,
  good,
  migration,
  moveRun,
  objects,
  run,
  t0,
  andThen,
  watchEvent,
  unanswered,
} from './sample.ts';

/** What Evictions say, what drover leaves at their hosts, and on what evidence it evacuates. */

/** One that is held and has succeeded; whether its host was enabled again was still open when it was stopped. */
const heldWithoutNode = (message: string): Partial<Snapshot> => {
  const held = eviction('Succeeded', { finalizers: ['drover.dev/eviction'] });
  const reEnabled = { type: 'HypervisorReEnabled', status: 'False', reason: 'Stopped', message, observedGeneration: 1 };
  const conditions = [
    ...(held.status?.conditions ?? []),
    { ...reEnabled, lastTransitionTime: held.metadata.creationTimestamp },
  ];
  return objects({ ...held, status: { ...held.status, conditions } } as typeof held);
};

breaks([
  [
    'a reconciled Eviction that is held',
    objects(eviction('Succeeded', { finalizers: ['drover.dev/eviction'] })),
    /^invariant 6: Eviction node-1 is Succeeded and still carries drover\.dev\/eviction/,
  ],
  [
    'a reconciled Eviction that is held, with no run that could still let go',
    { ...objects(eviction('Succeeded', { finalizers: ['drover.dev/eviction'] })), isQuiet: false },
    /^invariant 6: Eviction node-1 is Succeeded and still carries drover\.dev\/eviction/,
  ],
  [
    'a reconciled Eviction that is held, and whose run stopped its wait for the Node by itself',
    heldWithoutNode('Stopped by an operator'),
    /^invariant 6: Eviction node-1 is Succeeded and still carries drover\.dev\/eviction/,
  ],
  [
    'a reconciled Eviction without a terminal reason',
    objects(eviction('Running')),
    /^invariant 6: Eviction node-1 is reconciled and says Running/,
  ],
  [
    'a disabled service without a known cause',
    { audit: [], novaCalls: [] },
    /^invariant 7: the compute service of node-1 is disabled \(drover: .*\), and no known change has done it/,
  ],
  [
    'a disable of drover without its name',
    { services: [{ id: '1', host: 'node-1', status: 'disabled', disabledReason: null }] },
    /^invariant 7: drover disabled node-1, and the reason is: none/,
  ],
  [
    'another user’s reason overwritten',
    { ownChanges: [{ host: 'node-1', atMs: t0 + 2_000, enabled: false, reason: 'broken fan' }] },
    /^invariant 7: node-1 was disabled with "broken fan", and now the reason is "drover:/,
  ],
  [
    'a server that returns to the list',
    andThen(watchEvent(eviction('Succeeded', { outstanding: ['s1'] }))),
    /^invariant 8: Eviction node-1 \(u1\) lists server s1 again at resourceVersion 7/,
  ],
  ['a Migration without an owner', objects(migration(null)), /^invariant 11: Migration s1 does not say whose it is/],
  [
    'an evacuation off a host that was not fenced',
    { audit: [disabled, evacuated] },
    /^invariant 12: server\/s3 was evacuated off node-3 \(incident node-3\/x\)/,
  ],
  [
    'an evacuation after the host was let go',
    { audit: [disabled, forced(true), forced(false), evacuated] },
    /^invariant 12: /,
  ],
  [
    'an evacuation of a host that was forced down without evidence',
    { audit: [disabled, forced(true, 'incident node-3/x: restart, b at now'), evacuated] },
    /^invariant 12: /,
  ],
  ['a Migration of an unknown Eviction', objects(migration('u9')), /^invariant 11: Migration s1 belongs to u9/],
]);

test('a disable is drover’s by Nova’s journal, where drover died before its audit log had it', () => {
  expect(violations({ ...good, audit: good.audit.filter(({ action }) => action !== 'ensureServiceDisabled') })).toEqual(
    [],
  );
});

test.each([
  ['a host that was asked to be forced down on evidence', [unanswered(true), evacuated]],
  ['one that may still be forced down', [forced(true), unanswered(false), evacuated]],
])('where no answer came, %s is evacuated', (_, lines) => {
  expect(violations({ ...good, audit: [...good.audit, ...lines] })).toEqual([]);
});

test('an enabling without an answer is not taken for one', () => {
  const requested = {
    ...disabled,
    action: 'ensureServiceEnabled',
    after: { requested: { status: 'enabled' }, failed: 'no answer' },
  };
  expect(violations({ ...good, audit: [...good.audit, requested] })).toEqual([]);
});

test('an Eviction is reconciled for a moment before its run removes the finalizer', () => {
  const ending = { runs: [run({ status: 'RUNNING', closedAtMs: null }), moveRun()], isQuiet: false };
  const held = objects(eviction('Succeeded', { finalizers: ['drover.dev/eviction'] }));
  expect(violations({ ...good, ...held, ...ending })).toEqual([]);
});

test('an Eviction that has succeeded stays held where its run was terminated while it waited for the Node', () => {
  const terminated = heldWithoutNode('Run r1 was terminated by an operator at 2026-01-01T00:00:00Z');
  expect(violations({ ...good, ...terminated })).toEqual([]);
});

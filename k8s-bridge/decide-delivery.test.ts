import { coalesceChanges, decideDelivery, type Change, type Delivery, type LastRun } from './decide-delivery.ts';
import type { Cause, Facts } from './facts.ts';

const base: Facts = {
  name: 'evict-1',
  namespace: null,
  fullName: 'evict-1',
  uid: 'u1',
  resourceVersion: '5',
  generation: 2,
  subject: 'node-1',
  names: [],
  madeFor: [],
  lacksSecret: false,
  key: 'evict-1',
  deleting: false,
  retry: null,
  retryPending: false,
  reconciled: false,
  reportedGeneration: null,
  reason: null,
  changedMs: 0,
  createdMs: 0,
  shown: null,
  outstanding: null,
  watched: { generation: 2, annotations: '[]', labels: '[]', finalizers: '', fields: {} },
};
const traits = { observesMore: false, stopIsFinal: true, shared: false, ongoing: false };
/** Such as those that concern the run of a hypervisor. */
const observesMore = { observesMore: true, stopIsFinal: false, shared: false, ongoing: false };
const change = (causes: Cause[], facts: Partial<Facts> = {}, gone = false, subjectExists = true): Change => ({
  facts: { ...base, ...facts },
  causes,
  gone,
  subjectExists,
});
const ended = (
  status: 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'CANCELLED' | 'TERMINATED',
  toldGeneration: number | null = null,
): LastRun => ({ status, toldGeneration });
const open: LastRun = { status: 'OPEN' };
const none: LastRun = { status: 'NONE' };

const rows: [why: string, change: Change, lastRun: LastRun | null, delivery: Delivery][] = [
  ['an object that does not say whom it concerns', change(['spec'], { subject: null }), null, 'nothing'],
  ['an object that is no more: only who works on it must know', change(['deleted'], {}, true), null, 'signalOpen'],

  ['a new object, or a changed spec', change(['spec']), null, 'signalWithStart'],
  ['a deletion that waits for drover', change(['deleted'], { deleting: true }), null, 'signalWithStart'],
  ['a retry', change(['retry'], { retryPending: true }), null, 'signalWithStart'],
  ['several, one of them new', change(['annotations', 'spec']), null, 'signalWithStart'],

  ['reconciled, seen at a resync', change(['resync'], { reconciled: true }), null, 'nothing'],
  ['reconciled, seen at the start', change(['relist'], { reconciled: true }), null, 'nothing'],
  ['reconciled, an annotation changed', change(['annotations'], { reconciled: true }), null, 'signalOpen'],
  [
    'a deletion that does not wait for drover',
    change(['deleted'], { deleting: true, reconciled: true }),
    null,
    'signalOpen',
  ],

  ['an annotation, before the look', change(['annotations']), null, 'lookUp'],
  ['a resync, before the look', change(['resync']), null, 'lookUp'],
  ['the start, before the look', change(['relist']), null, 'lookUp'],

  ['a resync and an open run', change(['resync']), open, 'nothing'],
  ['the start and an open run: it may have missed something', change(['relist']), open, 'signalWithStart'],
  ['an annotation and an open run', change(['annotations']), open, 'signalWithStart'],
  ['a resync and no run', change(['resync']), none, 'signalWithStart'],
  ['a resync and a completed run', change(['resync']), ended('COMPLETED', 2), 'signalWithStart'],
  ['a resync and a failed run', change(['resync']), ended('FAILED', 2), 'signalWithStart'],
  ['a resync and a timed-out run', change(['resync']), ended('TIMED_OUT', 2), 'signalWithStart'],

  ['terminated, after it was told of this generation', change(['resync']), ended('TERMINATED', 2), 'reportStopped'],
  ['cancelled, after it was told of this generation', change(['resync']), ended('CANCELLED', 2), 'reportStopped'],
  [
    'terminated, after it had reported on this generation',
    change(['resync'], { reportedGeneration: 2 }),
    ended('TERMINATED'),
    'reportStopped',
  ],
  ['the same, seen at the start', change(['relist'], { reportedGeneration: 2 }), ended('TERMINATED'), 'reportStopped'],
  [
    'the same, and an annotation changed',
    change(['annotations'], { reportedGeneration: 2 }),
    ended('TERMINATED'),
    'reportStopped',
  ],
  [
    'terminated before this generation',
    change(['resync'], { reportedGeneration: 1 }),
    ended('TERMINATED', 1),
    'signalWithStart',
  ],
  ['terminated before this object was there', change(['resync']), ended('TERMINATED', null), 'signalWithStart'],
  [
    'terminated, but being deleted: the finalizer must go',
    change(['resync'], { deleting: true, reportedGeneration: 2 }),
    ended('TERMINATED', 2),
    'signalWithStart',
  ],
  [
    'terminated, but a retry is asked for',
    change(['relist'], { retryPending: true, reportedGeneration: 2 }),
    ended('TERMINATED', 2),
    'signalWithStart',
  ],
];

test.each(rows)('%s', (_why, given, lastRun, delivery) => {
  expect(decideDelivery(given, traits, lastRun)).toBe(delivery);
});

test('a kind whose ended runs are healed', () => {
  expect(
    decideDelivery(
      change(['resync']),
      { observesMore: false, stopIsFinal: false, shared: false, ongoing: false },
      ended('TERMINATED', 2),
    ),
  ).toBe('signalWithStart');
});

const dependentRows: [why: string, change: Change, lastRun: LastRun | null, delivery: Delivery][] = [
  [
    'reconciled, and something changed: the run looks at the rest as well',
    change(['status'], { reconciled: true }),
    null,
    'signalWithStart',
  ],
  [
    'reconciled, seen at the start: what it missed is written nowhere',
    change(['relist'], { reconciled: true }),
    null,
    'signalWithStart',
  ],
  [
    'reconciled, seen at the start and at a resync',
    change(['relist', 'resync'], { reconciled: true }),
    null,
    'signalWithStart',
  ],
  ['reconciled, seen at a resync', change(['resync'], { reconciled: true }), null, 'nothing'],
  [
    'reconciled, and no run is left to be driven',
    change(['labels'], { reconciled: true }, false, false),
    null,
    'signalOpen',
  ],
  ['gone, and its subject is still there', change(['deleted'], { reconciled: true }, true), null, 'signalWithStart'],
  ['gone, and nothing is left of the subject', change(['deleted'], {}, true, false), null, 'signalOpen'],
  ['not reconciled, whatever changed', change(['annotations']), null, 'signalWithStart'],
  ['not reconciled, seen at the start', change(['relist']), null, 'signalWithStart'],
  ['not reconciled, seen at a resync, before the look', change(['resync']), null, 'lookUp'],
  ['not reconciled, and its run is open', change(['resync']), open, 'nothing'],
  ['not reconciled, and its run has completed', change(['resync']), ended('COMPLETED'), 'signalWithStart'],
  [
    'not reconciled, and a user terminated its run',
    change(['resync'], { reportedGeneration: 2 }),
    ended('TERMINATED', 2),
    'signalWithStart',
  ],
];

test.each(dependentRows)('an object that is a part of what a run looks at: %s', (_why, given, lastRun, delivery) => {
  expect(decideDelivery(given, observesMore, lastRun)).toBe(delivery);
});

test.each([
  [
    'the later object, what happened to both',
    change(['spec'], { resourceVersion: '5' }),
    change(['annotations'], { resourceVersion: '6' }),
    ['spec', 'annotations'],
  ],
  [
    'what happened says more than how it was found',
    change(['resync']),
    change(['retry'], { resourceVersion: '6' }),
    ['retry'],
  ],
  ['a resync after a change', change(['retry']), change(['resync'], { resourceVersion: '6' }), ['retry']],
  ['nothing but two looks', change(['relist']), change(['resync'], { resourceVersion: '6' }), ['relist', 'resync']],
])('coalesced: %s', (_why, earlier, later, causes) => {
  expect(coalesceChanges(earlier, later)).toEqual({ facts: later.facts, gone: false, causes, subjectExists: true });
});

test('coalesced: gone stays gone', () => {
  expect(coalesceChanges(change(['spec']), change(['deleted'], {}, true))).toMatchObject({
    gone: true,
    causes: ['spec', 'deleted'],
  });
});

const sharedRows: [why: string, change: Change, delivery: Delivery][] = [
  ['an object is gone', change(['deleted'], { reconciled: true }, true), 'signalWithStart'],
  [
    'one that was changed, and one that is gone',
    coalesceChanges(change(['deleted'], {}, true), change(['labels'])),
    'signalWithStart',
  ],
  ['a watched field changed', change(['status'], { reconciled: true }), 'signalWithStart'],
  ['a retry', change(['retry'], { reconciled: true }), 'signalWithStart'],
  ['a new object', change(['spec'], { reconciled: true }), 'nothing'],
  ['a deletion that has begun', change(['deleted'], { reconciled: true, deleting: true }), 'nothing'],
  ['found at the start', change(['relist'], { reconciled: true }), 'nothing'],
  ['found at a resync', change(['resync'], { reconciled: true }), 'nothing'],
  ['no subject', change(['status'], { subject: null }), 'nothing'],
];

test.each(sharedRows)('objects that share a run: %s', (_why, given, delivery) => {
  expect(decideDelivery(given, { observesMore: false, stopIsFinal: false, shared: true, ongoing: false }, null)).toBe(
    delivery,
  );
});

test.each<[why: string, change: Change, lastRun: LastRun | null, delivery: Delivery]>([
  ['found at a resync, before the look', change(['resync'], { reconciled: true }), null, 'lookUp'],
  ['found at a resync, while its run is open', change(['resync'], { reconciled: true }), open, 'nothing'],
  [
    'found at a resync, and its run was terminated',
    change(['resync'], { reconciled: true }),
    ended('TERMINATED'),
    'signalWithStart',
  ],
  ['found at the start', change(['relist'], { reconciled: true }), null, 'signalWithStart'],
  ['something that it names has changed', change(['prerequisite'], { reconciled: true }), null, 'signalWithStart'],
  ['a released one that is being deleted', change(['resync'], { reconciled: true, deleting: true }), null, 'nothing'],
])('an object whose run stays open: %s', (_why, given, lastRun, delivery) => {
  expect(decideDelivery(given, { ...observesMore, ongoing: true }, lastRun)).toBe(delivery);
});

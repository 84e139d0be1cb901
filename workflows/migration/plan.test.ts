import type { Instance, Migration } from '../../contracts/eviction/instance.ts';
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
import { type Desired, type MigrationStep, planAfterFailure, planMove, planWindDown, type Progress } from './plan.ts';

const stuck = (
  why: 'NotStarted' | 'NoProgress' | 'TooLong',
  vainAborts = 0,
  migrationId = live.id,
): Progress['trouble'] => ({
  migrationId,
  stuck: why,
  vainAborts,
});
const postCopied: Migration = { ...live, status: 'running (post-copy)' };
const noValidHost = ended({ status: 'error', message: 'No valid host was found.' });
const does = (kind: MigrationStep['kind'], input: object = {}): object => ({
  kind: 'execute',
  steps: [{ kind, ...input }],
});
const wait = (migration: Migration): object => does('awaitMigration', { migration });
const blocked = (message: string | RegExp): object => ({
  kind: 'done',
  outcome: 'nonMigratable',
  message: typeof message === 'string' ? message : expect.stringMatching(message),
});

type Row = [
  why: string,
  instance: Partial<Instance> | null,
  migration: Migration | null,
  progress: Partial<Progress>,
  desired: Partial<Desired>,
  plan: object,
];
const rows: Row[] = [
  ['a vanished server is gone', null, null, {}, {}, { kind: 'done', outcome: 'gone', message: null, inFlight: null }],
  ['an active server moves live', {}, null, {}, {}, does('migrateLive')],
  ['a paused server moves live (H5)', { status: 'PAUSED', vmState: 'paused' }, null, {}, {}, does('migrateLive')],
  ['a stopped server moves cold', { status: 'SHUTOFF', vmState: 'stopped' }, null, {}, {}, does('migrateCold')],
  [
    'a suspended server stays and says so (H5)',
    { status: 'SUSPENDED', vmState: 'suspended' },
    null,
    {},
    {},
    blocked(/suspended/),
  ],
  [
    'a rescued server stays and says so (H5)',
    { status: 'RESCUE', vmState: 'rescued' },
    null,
    {},
    {},
    blocked(/rescued/),
  ],
  [
    'a server in ERROR stays with its fault (H8)',
    { status: 'ERROR', vmState: 'error', fault: 'disk full' },
    null,
    {},
    {},
    blocked('in ERROR: disk full'),
  ],
  [
    'one that its migration left in ERROR without a fault stays with the migration’s',
    { status: 'ERROR', vmState: 'error' },
    null,
    { lastEnd: ended({ status: 'error', message: 'lost on the way' }) },
    {},
    blocked('in ERROR: lost on the way'),
  ],
  ['a server elsewhere has moved', { host: 'node-2' }, null, {}, {}, { kind: 'done', outcome: 'moved', message: null }],
  [
    'dotted host names are compared whole (H1)',
    { host: 'node-1.example.org' },
    null,
    {},
    { sourceHost: 'node-1.example.org' },
    does('migrateLive'),
  ],

  ['a server that is being deleted is waited for', { taskState: 'deleting' }, null, {}, {}, does('awaitIdle')],
  ['a rebooting server is waited for', { taskState: 'rebooting' }, null, {}, {}, does('awaitIdle')],
  [
    'one that is being built is waited for',
    { status: 'BUILD', vmState: 'building', taskState: 'spawning' },
    null,
    {},
    {},
    does('awaitIdle'),
  ],
  ['also between two of its tasks', { status: 'BUILD', vmState: 'building' }, null, {}, {}, does('awaitIdle')],
  [
    'one that is built for too long is given up',
    { status: 'BUILD', vmState: 'building' },
    null,
    { waitedIdle: true },
    {},
    blocked('busy for too long: building'),
  ],
  [
    'a server busy beyond the deadline is given up',
    { taskState: 'deleting' },
    null,
    { waitedIdle: true },
    {},
    blocked('busy for too long: deleting'),
  ],

  ['a live migration in progress is waited for, whichever client started it', migrating, live, {}, {}, wait(live)],
  ['a cold one too', { status: 'RESIZE', taskState: 'resize_migrating' }, cold, {}, {}, wait(cold)],
  ['one that arrives is waited for', { host: 'node-2', ...migrating }, live, {}, {}, wait(live)],
  ['the server’s host lies early: the record decides', { host: 'node-2' }, live, {}, {}, wait(live)],
  [
    'the first stuck migration is aborted',
    migrating,
    live,
    { attempts: 1, stuckAttempts: 1, trouble: stuck('NoProgress') },
    {},
    does('abort', { migration: live }),
  ],
  [
    'then it is tried again',
    {},
    null,
    { attempts: 1, stuckAttempts: 1, lastEnd: ended({ status: 'cancelled' }) },
    {},
    does('migrateLive'),
  ],
  [
    'the second is aborted without consent',
    migrating,
    live,
    { attempts: 2, stuckAttempts: 2, trouble: stuck('TooLong') },
    {},
    does('abort', { migration: live }),
  ],
  [
    'and then it is non-migratable',
    {},
    null,
    { attempts: 2, stuckAttempts: 2, lastEnd: ended({ status: 'cancelled', message: 'stuck twice' }) },
    {},
    blocked('stuck twice'),
  ],
  [
    'with consent the second is forced',
    migrating,
    live,
    { attempts: 2, stuckAttempts: 2, trouble: stuck('TooLong') },
    { consent: ['force-complete'] },
    does('forceComplete', { migration: live }),
  ],
  [
    'not the first',
    migrating,
    live,
    { attempts: 1, stuckAttempts: 1, trouble: stuck('TooLong') },
    { consent: ['force-complete'] },
    does('abort', { migration: live }),
  ],
  [
    'not one that never ran',
    migrating,
    live,
    { attempts: 2, stuckAttempts: 2, trouble: stuck('NotStarted') },
    { consent: ['force-complete'] },
    does('abort', { migration: live }),
  ],
  [
    'forcing that does not help ends in an abort',
    migrating,
    live,
    { attempts: 2, stuckAttempts: 3, trouble: stuck('TooLong'), forced: 7 },
    { consent: ['force-complete'] },
    does('abort', { migration: live }),
  ],
  [
    'a stuck cold move is left to a person',
    { status: 'RESIZE' },
    cold,
    { attempts: 1, stuckAttempts: 1, trouble: stuck('TooLong') },
    {},
    { ...blocked(/migration 7 from node-1 to node-2 is stuck \(TooLong\) and cannot be aborted/), inFlight: 7 },
  ],
  [
    'one that an abort has not ended is aborted again, not waited for anew',
    migrating,
    { ...live, status: 'post-migrating' },
    { attempts: 1, stuckAttempts: 1, trouble: stuck('TooLong', 2) },
    {},
    does('abort'),
  ],
  [
    'after three it is left to a person, who reads its id and what to do, and it stays known as in flight',
    migrating,
    { ...live, status: 'post-migrating' },
    { attempts: 1, stuckAttempts: 1, trouble: stuck('TooLong', 3) },
    {},
    {
      ...blocked(
        /live-migration 7 .* was not ended by 3 aborts; Nova shows it as post-migrating, the server as migrating.*openstack server set --state active a.*drover retry/,
      ),
      inFlight: 7,
    },
  ],
  [
    'with consent it is forced first, while it copies',
    migrating,
    live,
    { attempts: 1, stuckAttempts: 1, trouble: stuck('TooLong', 3) },
    { consent: ['force-complete'] },
    does('forceComplete', { migration: live }),
  ],
  [
    'past the copy there is nothing to force',
    migrating,
    { ...live, status: 'post-migrating' },
    { attempts: 1, stuckAttempts: 1, trouble: stuck('TooLong', 3) },
    { consent: ['force-complete'] },
    blocked(/3 aborts/),
  ],
  [
    'one in post-copy is waited for, whatever was wrong with its copy before',
    migrating,
    postCopied,
    { attempts: 2, stuckAttempts: 2, trouble: stuck('TooLong', 3) },
    { consent: ['force-complete'] },
    wait(postCopied),
  ],
  [
    'one that is stuck there is neither aborted nor forced, and no one is told to restart anything',
    migrating,
    postCopied,
    { attempts: 2, stuckAttempts: 2, trouble: { ...stuck('TooLong')!, inPostCopy: true } },
    { consent: ['force-complete'] },
    {
      ...blocked(
        /live-migration 7 takes longer .* shows it as running \(post-copy\): a runs on node-2 and fetches its memory from node-1\. .*Restart nothing on either host.*drover retry/,
      ),
      inFlight: 7,
    },
  ],
  [
    'the trouble of an earlier migration is not that of the next one',
    migrating,
    live,
    { attempts: 2, stuckAttempts: 1, trouble: stuck('TooLong', 3, 6) },
    {},
    wait(live),
  ],

  ['a failed migration is tried again (H6)', {}, null, { attempts: 1, lastEnd: noValidHost }, {}, does('migrateLive')],
  [
    'until the attempts are used up, with Nova’s words',
    {},
    null,
    { attempts: 3, lastEnd: noValidHost },
    {},
    blocked('No valid host was found.'),
  ],
  [
    'with consent a running server then moves cold',
    {},
    null,
    { attempts: 3, lastEnd: noValidHost },
    { consent: ['cold-migrate'] },
    does('migrateCold'),
  ],
  [
    'once',
    {},
    null,
    { attempts: 4, lastEnd: noValidHost },
    { consent: ['cold-migrate'] },
    blocked('No valid host was found.'),
  ],
  [
    'a paused one never does: Nova refuses it',
    { vmState: 'paused' },
    null,
    { attempts: 3, lastEnd: noValidHost },
    { consent: ['cold-migrate'] },
    blocked('No valid host was found.'),
  ],
  [
    'a stopped server’s attempts are limited too',
    { vmState: 'stopped' },
    null,
    { attempts: 3, lastEnd: noValidHost },
    {},
    blocked('No valid host was found.'),
  ],
  [
    'a refusal at once ends it with Nova’s words (H4)',
    {},
    null,
    { attempts: 1, refusal: { how: 'live', message: 'vTPM is not supported' } },
    {},
    blocked('vTPM is not supported'),
  ],
  [
    'but with consent a running server that Nova does not move live moves cold',
    {},
    null,
    { attempts: 1, refusal: { how: 'live', message: 'vTPM is not supported' } },
    { consent: ['cold-migrate'] },
    does('migrateCold'),
  ],
  [
    'once',
    {},
    null,
    {
      attempts: 2,
      coldAttempts: 1,
      refusal: { how: 'live', message: 'vTPM is not supported' },
      lastEnd: noValidHost,
    },
    { consent: ['cold-migrate'] },
    blocked('No valid host was found.'),
  ],
  [
    'not where Nova refuses that, too',
    {},
    null,
    { attempts: 2, refusal: { how: 'cold', message: 'refused as well' } },
    { consent: ['cold-migrate'] },
    blocked('refused as well'),
  ],
  [
    'nor where no target had room: a cold move needs it as much',
    {},
    null,
    { attempts: 0, refusal: { how: null, message: 'every target was busy' } },
    { consent: ['cold-migrate'] },
    blocked('every target was busy'),
  ],

  ['one that was given back is planned anew', {}, null, { givenBack: 7 }, {}, does('migrateLive')],
  ['but not for ever', {}, null, { givenBack: 8 }, {}, blocked(/not as it had been observed, 8 times/)],

  [
    'drover’s own cold move is confirmed',
    resized,
    finished,
    { ownCold: 7, attempts: 1 },
    {},
    does('confirm', { migrationId: 7 }),
  ],
  [
    'one that had run to its end when it was found is waited for: the server was observed before',
    { status: 'SHUTOFF', vmState: 'stopped' },
    finished,
    { ownCold: 7, attempts: 1 },
    {},
    wait(finished),
  ],
  [
    'so is one that Nova has still to write into the server',
    { ...resized, status: 'RESIZE', taskState: 'resize_finish' },
    finished,
    { ownCold: 7, attempts: 1 },
    {},
    wait(finished),
  ],
  [
    'once',
    { status: 'ERROR', vmState: 'error', fault: 'disk full' },
    finished,
    { ownCold: 7, attempts: 1, lastEnd: ended({ status: 'finished' }) },
    {},
    blocked('in ERROR: disk full'),
  ],
  ['a stranger’s resize is not', resized, finished, {}, {}, blocked(/confirm or revert/)],
  ['unless a person accepted it', resized, finished, {}, { accepted: true }, does('confirm', { migrationId: 7 })],
  [
    'and once only where Nova does not end that',
    resized,
    finished,
    { trouble: { migrationId: 7, stuck: 'TooLong', vainAborts: 0 } },
    { accepted: true },
    blocked(/confirm or revert/),
  ],
  [
    'a resize on the host itself is theirs too',
    { ...resized, host: 'node-1' },
    finished,
    {},
    {},
    blocked(/not confirmed/),
  ],
];

test.each(rows)('%s', (_why, instance, migration, progress, desired, plan) => {
  expect(
    planMove(
      { sourceHost: 'node-1', consent: [], accepted: false, mayMoveLocked: false, maxAttempts: 3, ...desired },
      {
        ...noProgress,
        ...progress,
        observation: { instance: instance === null ? null : { ...server, ...instance }, migration },
      },
    ),
  ).toMatchObject(plan);
});

type WindDownRow = [why: string, progress: Partial<Progress>, plan: object];
const seen = (instance: object | null, migration: Progress['observation']['migration'] = null): Partial<Progress> => ({
  observation: { instance: instance === null ? null : { ...server, ...instance }, migration },
});
const windDownRows: WindDownRow[] = [
  ['a server that is gone is gone', seen(null), { kind: 'done', outcome: 'gone', message: null }],
  ['a live migration is aborted', seen({}, live), does('abort', { migration: live })],
  [
    'one that arrives is none of this run’s',
    seen({}, { ...live, sourceHost: 'node-9' }),
    { kind: 'done', outcome: 'stopped', message: 'the move was stopped' },
  ],
  ['a cold one runs to its end', seen({}, cold), does('awaitMigration', { migration: cold })],
  [
    'but is not waited for again once it is stuck',
    { ...seen({}, cold), trouble: stuck('TooLong') },
    {
      kind: 'done',
      outcome: 'stopped',
      message: expect.stringMatching(/migration 7 .*is stuck/) as string,
      inFlight: 7,
    },
  ],
  [
    'one that is not ended by an abort is aborted again',
    { ...seen({}, live), trouble: stuck('TooLong', 2) },
    does('abort'),
  ],
  [
    'after three aborts the stop comes to its end, and says what is left in flight',
    { ...seen(migrating, live), trouble: { migrationId: 7, stuck: null, vainAborts: 3 } },
    {
      kind: 'done',
      outcome: 'stopped',
      message: expect.stringMatching(/the move was stopped; live-migration 7 .* 3 aborts/) as string,
      inFlight: 7,
    },
  ],
  [
    'one in post-copy runs to its end, however many aborts it has had',
    { ...seen(migrating, postCopied), trouble: stuck('TooLong', 3) },
    does('awaitMigration', { migration: postCopied }),
  ],
  [
    'and is left, with what not to do, once it is stuck there',
    { ...seen(migrating, postCopied), trouble: { ...stuck('TooLong')!, inPostCopy: true } },
    {
      kind: 'done',
      outcome: 'stopped',
      message: expect.stringMatching(/the move was stopped; live-migration 7 .*Restart nothing/) as string,
      inFlight: 7,
    },
  ],
  [
    'and is confirmed where it is drover’s own',
    { ...seen(resized, finished), ownCold: 7 },
    does('confirm', { migrationId: 7 }),
  ],
  [
    'also where Nova has still to write into the server that it has ended',
    { ...seen({ ...resized, status: 'RESIZE', taskState: 'resize_finish' }, finished), ownCold: 7 },
    does('awaitMigration', { migration: finished }),
  ],
  ['not where it is a stranger’s', seen(resized, finished), { kind: 'done', outcome: 'moved', message: null }],
  ['a server that arrived has moved', seen({ host: 'node-2' }), { kind: 'done', outcome: 'moved', message: null }],
  ['one that did not stays', seen({}), { kind: 'done', outcome: 'stopped', message: 'the move was stopped' }],
];

test.each(windDownRows)('%s', (_why, progress, plan) => {
  expect(planWindDown({ sourceHost: 'node-1' }, { ...noProgress, ...progress })).toMatchObject(plan);
});

type FailureRow = [
  why: string,
  code: Parameters<typeof planAfterFailure>[0],
  run: Partial<Parameters<typeof planAfterFailure>[1]>,
  next: string,
];
const failureRows: FailureRow[] = [
  ['a stop is waited for', 'Stopped', {}, 'awaitStopLifted'],
  ['but a migration in progress is looked at meanwhile', 'Stopped', { inProgress: true }, 'backOff'],
  ['a server that is not as it was is observed', 'InstanceBusy', {}, 'observe'],
  ['not for ever', 'InstanceBusy', { surprises: 10 }, 'fail'],
  ['what concerns Nova as a whole is the parent’s', 'CredentialRefused', {}, 'fail'],
  ['so is what has no row', null, {}, 'fail'],
  ['but a migration that may be in flight is not left alone', 'NovaUnavailable', { mayFail: false }, 'backOff'],
  ['whatever becomes of it', 'InstanceBusy', { mayFail: false, surprises: 10 }, 'backOff'],
];

test.each(failureRows)('%s', (_why, code, run, next) => {
  expect(planAfterFailure(code, { inProgress: false, surprises: 0, mayFail: true, ...run })).toBe(next);
});

describe('a server that is locked', () => {
  const progress = { ...noProgress, observation: { instance: { ...server, locked: true }, migration: null } };
  const desired: Desired = {
    sourceHost: 'node-1',
    consent: [],
    accepted: false,
    mayMoveLocked: false,
    maxAttempts: 3,
  };
  test('stays, with what a user may accept', () =>
    expect(planMove(desired, progress)).toMatchObject({
      ...blocked('vm-a: it is locked: unlock it'),
      obstacle: { id: 'InstanceLocked/a', code: 'InstanceLocked', instanceId: 'a' },
    }));
  test('is moved when a user has accepted that', () =>
    expect(planMove({ ...desired, mayMoveLocked: true }, progress)).toMatchObject(does('migrateLive')));
  test('is awaited when it is on its way', () =>
    expect(planMove(desired, { ...progress, observation: { ...progress.observation, migration: live } })).toMatchObject(
      wait(live),
    ));
});

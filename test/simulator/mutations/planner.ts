import type { MigrateMode } from '../../../lab/openstack/host-profile.ts';
import type { Mutation } from './mutation.ts';
import type { EventKind, Schedule, ScheduledEvent } from '../schedules/schedule.ts';

/** Rules of the planners that are broken on purpose, in the workflow code itself, and who notices. */

const at = (atMs: number, kind: EventKind, which = 0, forMs = 20_001): ScheduledEvent => ({ atMs, kind, which, forMs });

/** Node-1 has two servers, which it moves one at a time, in ten seconds each. */
const evicting = (events: readonly ScheduledEvent[], migrations: readonly MigrateMode[] = ['ok']): Schedule => ({
  seed: 1,
  migrations: [migrations, ['ok'], ['ok']],
  events: [at(1_000, 'evict'), ...events],
});

/** The Eviction is made with an annotation: `note` chooses it, see `notes` in schedules/evictions.ts. */
const evictedAs = (note: number): Schedule => ({ ...evicting([]), events: [at(1_000, 'evict', 0, note)] });
const observing = 14;
const consenting = 18;
const threeAtOnce = 6;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Node-2 has two servers of one server group only, and may move both at once. */
const evictedGroup: Schedule = {
  ...evicting([]),
  events: [
    at(1_000, 'createServer', 1, 20_000),
    at(2_000, 'createServer', 1, 20_000),
    at(3_000, 'deleteServer', 2),
    at(30_000, 'evict', 1, threeAtOnce),
  ],
};

/**
 * Node-2 is evicted when it has no server any more, and once more: then it is disabled, and it is not known since when.
 */
const evictingEmpty: Schedule = {
  ...evicting([]),
  events: [
    at(1_000, 'deleteServer', 2),
    at(30_000, 'evict', 1),
    at(90_000, 'deleteEviction', 1),
    at(120_000, 'evict', 1),
  ],
};

/** Node-1 has all that the region may have when node-2 wants some. */
const evictingTwo: Schedule = {
  ...evicting([]),
  events: [at(1_000, 'evict', 0, threeAtOnce), at(6_000, 'evict', 1)],
};

/** Node-1 has all that the region may have when its run is lost; then node-2 wants some. */
const lostEviction: Schedule = {
  ...evicting([]),
  events: [at(1_000, 'evict', 0, threeAtOnce), at(6_000, 'terminateEviction'), at(30_000, 'evict', 1)],
};

export const plannerMutations: readonly Mutation[] = [
  {
    name: 'deafToStop',
    breaks: 'a stop is heard',
    caughtBy: evicting([at(4_000, 'stopEviction')]),
    says: /after it was stopped/u,
    rewrite: { from: /if \(state\.stop !== null\) return planStop\(state, state\.stop, nowMs\);/u, to: '' },
  },
  {
    name: 'deafToPause',
    breaks: 'a pause is heard',
    caughtBy: evicting([at(4_000, 'pauseEviction')]),
    says: /while it is paused/u,
    rewrite: { from: /if \(state\.paused !== null\) \{(?=\s+const since)/u, to: 'if (false) { ' },
  },
  {
    name: 'oneTooMany',
    breaks: 'no more servers move at once than the Eviction may move',
    caughtBy: evicting([]),
    says: /moves 2 at once, and may move 1/u,
    rewrite: {
      from: /return Math\.max\(0, Math\.min\(parallelismOf\(state\), /u,
      to: 'return 1 + Math.max(0, Math.min(parallelismOf(state), ',
    },
  },
  {
    name: 'ungranted',
    breaks: 'nothing moves before the region grants it',
    // By which the grant comes later than the first look at what may move.
    caughtBy: { ...evicting([]), seed: 2 },
    says: /the region grants it 0/u,
    rewrite: {
      from: /return Math\.max\(0, Math\.min\(parallelismOf\(state\), /u,
      to: 'return parallelismOf(state) - using; Math.max(0, Math.min(parallelismOf(state), ',
    },
  },
  {
    name: 'skippedIsMoved',
    breaks: 'a server that a user has skipped stays',
    caughtBy: evicting([at(4_000, 'skipServer', 0, 20_000), at(4_100, 'skipServer')]),
    says: /which a user has skipped/u,
    rewrite: {
      from: /(const pending = \S+)\(state, 'pending'\);(?=\s+if \(state\.paused)/u,
      to: "$1(state, 'pending', 'skipped');",
    },
  },
  {
    name: 'movedBeforeDisabled',
    breaks: 'a host is disabled before anything moves',
    caughtBy: evicting([]),
    says: /before the host is disabled/u,
    rewrite: {
      from: /if \(state\.host\.service\.status === 'enabled'\) return (?=one\(state, \{\s+kind: 'disableService')/u,
      to: 'if (false) return ',
    },
  },
  {
    name: 'emptyOnce',
    breaks: 'a host is seen empty twice, unless it was disabled long before',
    caughtBy: evictingEmpty,
    says: /did not see the host empty twice/u,
    rewrite: {
      from: /if \(!isLongDisabled && observedAtMs - emptySinceMs < settings\.emptyRecheckMs\)/u,
      to: 'if (false)',
    },
  },
  {
    name: 'successWithoutLook',
    breaks: 'a host counts as empty when it was seen so',
    caughtBy: evicting([]),
    says: /did not see the host empty twice/u,
    rewrite: {
      from: /if \(host === null \|\| observedAtMs < lastChangeMs\) return /u,
      to: `if (observedAtMs < lastChangeMs)
        return { kind: 'done', outcome: 'reconciled', reason: 'Succeeded', message: 'done' };
      if (host === null) return `,
    },
  },
  {
    name: 'endInFlight',
    breaks: 'an eviction ends when nothing is in flight',
    caughtBy: evicting([]),
    rewrite: {
      from: /return (?=\S+\.wait\)\(phase, 'InFlight', `\$\{moving\.length\} in flight and)/u,
      to: "return { kind: 'done', outcome: 'blocked', reason: 'Failed', message: 'done' }; return ",
    },
  },
  {
    name: 'busyLooking',
    breaks: 'a wait lets time pass',
    caughtBy: 'immovable',
    rewrite: {
      from: /const plan = isOld && begins \?/u,
      to: `if (planned.kind === 'wait') return one(state, { kind: 'observeHost', summary: 'again' });
        const plan = isOld && begins ?`,
    },
  },
  {
    name: 'waitForEver',
    breaks: 'a wait that only time ends has a deadline',
    caughtBy: 'revived',
    rewrite: {
      from: /if \(plan\.kind !== 'wait' \|\| dueMs === Infinity\) return plan;/u,
      to: "if (plan.kind === 'wait') return { ...plan, untilMs: null }; if (dueMs === Infinity) return plan;",
    },
  },
  {
    name: 'observingActs',
    breaks: 'an Eviction that observes moves nothing',
    caughtBy: evictedAs(observing),
    rewrite: { from: /if \(state\.desired\.mode === 'observe'\) return planObservation\(state\);/u, to: '' },
  },
  {
    name: 'uncountedAttempts',
    breaks: 'a server that does not move is given up',
    caughtBy: 'immovable',
    rewrite: {
      from: /function planMove\(desired, progress\) \{/u,
      to: 'function planMove(desired, given) { const progress = { ...given, attempts: 0, stuckAttempts: 0 };',
    },
  },
  {
    name: 'unconsented',
    breaks: 'a running server is moved cold with consent only',
    caughtBy: evicting([], ['fail', 'fail', 'fail']),
    says: /moves a running server cold without consent/u,
    rewrite: {
      from: /function planMove\(desired, progress\) \{/u,
      to: `function planMove(given, progress) {
        const desired = { ...given, consent: ['cold-migrate', 'force-complete'] };`,
    },
  },
  {
    name: 'nothingAborted',
    breaks: 'what is in flight is aborted when an eviction is stopped so',
    caughtBy: evicting([at(6_000, 'stopEviction', 0, 20_000)], ['hang']),
    says: /is still in progress/u,
    rewrite: {
      from: /if \(migration\.type === 'live-migration'\) return (?=vainAborts < mostAborts)/u,
      to: "if (migration.type === 'live-migration') return done('stopped'); if (false) return ",
    },
  },
  {
    name: 'groupAtOnce',
    breaks: 'of a server group one server moves at a time',
    caughtBy: evictedGroup,
    says: /beside another one of server group/u,
    rewrite: {
      from: /if \(candidate\.instance\.serverGroups\.some\(\(group\)\s*=>\s*busyGroups\.has\(group\)\)\) continue;/u,
      to: '',
    },
  },
  {
    name: 'continuedInFlight',
    breaks: 'a run continues as new when nothing is in flight',
    caughtBy: evicting([at(6_000, 'suspend', 0, 7 * hourMs)]),
    says: /continues as new with .* in flight/u,
    rewrite: { from: /if \(isOld && inFlight === 0\) return /u, to: 'if (isOld) return ' },
  },
  {
    name: 'unreadChange',
    breaks: 'an Eviction that has changed is read before anything else moves',
    caughtBy: evicting([at(4_000, 'deleteEviction')]),
    says: /has not read the Eviction, which has changed/u,
    rewrite: {
      from: /const \{ readDueMs, isOld, inFlight \} = situation;/u,
      to: 'situation = { ...situation, readDueMs: null }; const { readDueMs, isOld, inFlight } = situation;',
    },
  },
  {
    name: 'strangersResize',
    breaks: 'a resize that another client has begun is confirmed where a user accepts that',
    caughtBy: evicting([at(500, 'migrateServer', 2, 20 * minuteMs)]),
    says: /confirmed a resize .* no user has accepted that/u,
    rewrite: { from: /if \(desired\.accepted && migration !== null && /u, to: 'if (migration !== null && ' },
  },
  {
    name: 'coldUnconfirmed',
    breaks: 'a cold move is confirmed, also after a stop',
    caughtBy: {
      ...evicting([], ['fail', 'fail', 'fail']),
      events: [at(1_000, 'evict', 0, consenting), at(40_000, 'stopEviction', 0, 20_000)],
    },
    says: /invariant 21: .* is not confirmed/u,
    rewrite: {
      from: /if \(instance\.status === 'VERIFY_RESIZE' && ownCold !== null\) return /u,
      to: "if (instance.status === 'VERIFY_RESIZE' && ownCold !== null) return done('moved'); if (false) return ",
    },
  },
  {
    name: 'coldLeft',
    breaks: 'a cold move of drover’s own is confirmed',
    caughtBy: 'cold',
    says: /invariant 21: .* is not confirmed/u,
    rewrite: { from: /if \(progress\.ownCold !== null\) return /u, to: 'if (false) return ' },
  },
  {
    name: 'coldNotFound',
    breaks: 'a cold move that has ended when it is found again is drover’s own',
    caughtBy: 'consented/A1/startColdMigration.1/failAfter',
    says: /invariant 21: .* is not confirmed/u,
    rewrite: { from: /status !== 'VERIFY_RESIZE' && lastEnd === null/u, to: 'false' },
  },
  {
    name: 'limitExceeded',
    breaks: 'no more migrations are in progress than the region may have',
    caughtBy: evictingTwo,
    says: /the region may have 2/u,
    rewrite: {
      from: /const limit = limitOf\(ledger\);(?=\s+const open)/u,
      to: 'ledger = { ...ledger, world: { ...ledger.world, limit: ledger.world.limit + 1 } }; const limit = limitOf(ledger);',
    },
  },
  {
    name: 'raisedUnacknowledged',
    breaks: 'what is taken from one is granted to another when the first has acknowledged it',
    caughtBy: evictingTwo,
    says: /the region may have 2/u,
    rewrite: {
      from: /const holdOf = \(\{ using, answers \}\)\s*=>\s*Math\.max\(using, \.\.\.answers\.map/u,
      to: 'const holdOf = ({ answers })=>Math.max(0, ...answers.slice(-1).map',
    },
  },
  {
    name: 'leakedAllowance',
    breaks: 'an allowance of a run that is closed, or does not report, is given to others',
    caughtBy: lostEviction,
    says: /an allowance of the migrations of the region/u,
    rewrite: {
      from: /function endObservation\(ledger, world, closedRunIds, nowMs\) \{/u,
      to: 'function endObservation(ledger, world, given, nowMs) { const closedRunIds = []; const isMute = ()=>false;',
    },
  },
  {
    name: 'lostIsRefused',
    breaks: 'a guest that may be shutting down is not powered off',
    caughtBy: 'halted',
    says: /PowerOffVM_Task/u,
    rewrite: { from: /return ['"]refusedLater['"];/u, to: "return 'refused';" },
  },
  {
    name: 'questionForgotten',
    breaks: 'a guest that a run before has asked to shut down has its time',
    caughtBy: 'halted/A/publishVirtualMachine.1/terminate',
    says: /PowerOffVM_Task/u,
    rewrite: { from: /if \(guestAsked === null \|\| /u, to: 'if (true || ' },
  },
  {
    name: 'vcenterUnjudged',
    breaks: 'in another vCenter than the one that it notes a VM is not made a second time',
    caughtBy: 'switched',
    says: /to say VcenterChanged; last observed: Reconciled/u,
    rewrite: {
      from: /if \(managerId === null \|\| observed\.managerId === ['"]['"] \|\| /u,
      to: 'if (true || ',
    },
  },
  {
    name: 'volumesUnheeded',
    breaks: 'a VM is not started before its volumes are attached',
    caughtBy: 'volume-late',
    says: /before its volume was attached/u,
    rewrite: { from: /if \(missing\.length > 0\) return (?=`volumes \$\{missing)/u, to: 'if (false) return ' },
  },
  {
    name: 'instanceStorageUnheeded',
    breaks: 'a VM is not made before the claims of its instance storage are bound',
    caughtBy: 'instance-storage',
    says: /before its instance storage was/u,
    rewrite: { from: /if \(pending\.length === 0\)\s*(?=return \{\s*at: )/u, to: 'if (true) ' },
  },
  {
    name: 'hostForgotten',
    breaks: 'a VM is made on the host of its instance storage',
    caughtBy: 'instance-storage',
    says: /the VM is on /u,
    rewrite: { from: /host: host\.id,\s*node: host\.node(?=\s*\}\)?,\s*isBoundAnew: true)/u, to: 'host: null' },
  },
  {
    name: 'formerAttachments',
    breaks: 'what is said of the attachments of a VM that is gone is not so of the one that was made anew',
    caughtBy: 'volume-remade',
    says: /before its volume was attached/u,
    rewrite: { from: /(const isBare = \(\{ vm \}\)\s*=>\s*)vm\.config !== null && /u, to: '$1false && ' },
  },
  {
    name: 'nothingDetached',
    breaks: 'the vSphere CSI driver detaches volumes before their VM is destroyed',
    caughtBy: 'volume-yielded',
    // The driver attaches again what drover detaches: without end.
    says: /to settle/u,
    rewrite: {
      from: /(function planDetach\(\{ observed, settings, vm, nowMs \}\) \{)/u,
      to: '$1 return success;',
    },
  },
  {
    name: 'cardsByOrder',
    breaks: 'a card is the one of the interface that it was recorded for, whatever its place',
    caughtBy: 'uncarded',
    says: /its cards are/u,
    rewrite: {
      from: /(function matchCards\(wanted, cards, record\) \{)/u,
      to: `$1 return new Map(wanted.flatMap(({ name }, index) => (index < cards.length ? [[name, cards[index]]] : [])));`,
    },
  },
  {
    name: 'progressUnjudged',
    breaks: 'a change that has no effect is made ever more seldom',
    caughtBy: 'ignored',
    says: /to say that a change has no effect/u,
    rewrite: { from: /if \(made === undefined \|\| made\.times < 2\) return /u, to: 'if (true) return ' },
  },
  {
    name: 'lackAwaited',
    breaks: 'no run stays open for a Secret that is gone',
    caughtBy: 'forgotten',
    says: /A to rest/u,
    rewrite: { from: /(const lackOfSecret = \([^)]*\)\s*=>\s*)isNeededToStart\(desired\) \? /u, to: '$1true ? ' },
  },
  {
    name: 'softForces',
    breaks: 'mode Soft never forces a guest',
    caughtBy: 'deaf',
    rewrite: {
      from: /if \(isKnown && mode === ['"]TrySoft['"]\) return /u,
      to: 'if (isKnown) return ',
    },
  },
  {
    name: 'addressForgotten',
    breaks: 'a guest is told the address of a card that was replaced',
    caughtBy: 'recarded',
    says: /its guest is given/u,
    rewrite: { from: /noted\.addresses === addressText\(addresses\)/u, to: 'true' },
  },
  {
    name: 'setUpOnce',
    breaks: 'a VM that is made anew is set up anew',
    caughtBy: 'remade',
    says: /its user data are/u,
    rewrite: { from: /bootstrapHashes\.config !== null && \{/u, to: 'false && {' },
  },
  {
    name: 'classUnapplied',
    breaks: 'a VM is made as large as its class',
    caughtBy: 'made',
    says: /invariant 13: .* MiB of memory instead of 1Gi/u,
    rewrite: { from: /(function wantCompute\(size, applied, \{[^}]*\}\) \{)/u, to: '$1 applied = null;' },
  },
  {
    name: 'controllersUnasked',
    breaks: 'a controller that the spec names is added',
    caughtBy: 'dressed',
    says: /no SCSI controller of bus 1/u,
    rewrite: { from: /(function diffControllers\(wanted, current, isOff\) \{)/u, to: '$1 wanted = [];' },
  },
  {
    name: 'bootOrderUnasked',
    breaks: 'a VM boots in the order that its spec names',
    caughtBy: 'dressed',
    says: /it boots from what comes first/u,
    rewrite: { from: /if \(bootOrder\.length === 0\) return nothing;/u, to: 'if (true) return nothing;' },
  },
  {
    name: 'neverGrown',
    breaks: 'a clone that has succeeded is as large as it asks for',
    caughtBy: 'clone',
    says: /invariant 29: .*asks for 3221225472 bytes, and has 1073741824 by its claim/u,
    rewrite: { from: / < wanted && !made\.waitsForFileSystem\)/u, to: ' < 0)' },
  },
  {
    name: 'wayUnsaid',
    breaks: 'a clone says that its volume is on its way',
    caughtBy: 'cloneDeleted',
    says: /it was never NamespaceTransferInProgress/u,
    rewrite: { from: /const phase = ['"]NamespaceTransferInProgress['"]/u, to: "const phase = 'CloneInProgress'" },
  },
];

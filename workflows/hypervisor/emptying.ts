import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { EvictionCause } from '../../contracts/eviction/eviction.ts';
import { allocationsInPlacement, evictingReasons } from '../../contracts/eviction/conditions.ts';
import { hostEvictingReasons, hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  MaintenanceMode,
  NewEviction,
  NovaHost,
  ObservedEviction,
  ObservedProvider,
} from '../../contracts/hypervisor/hypervisor.ts';
import { copiedLabels, maintenanceReasonPrefix } from '../../contracts/ids.ts';
import { type Deadline, judgeDeadline, modeOf, remainsOn } from './judge.ts';
import { blocked, execute, wait } from './types.ts';
import type { Context, Decision, Draft, Transition } from './types.ts';

/** How a host is emptied by an Eviction, and how far that is. All pure. */

/** The Eviction that this Hypervisor made; null: none. One that is not being deleted comes first. */
export function ownEviction({ desired, observed }: Pick<Context, 'desired' | 'observed'>): ObservedEviction | null {
  const own = observed.evictions.filter(({ ownerUid }) => ownerUid === desired.uid);
  return own.find(({ deleting }) => !deleting) ?? own[0] ?? null;
}

/** Evictions of the host that another party made and that have not ended. */
export const foreignEvictions = ({ desired, observed }: Pick<Context, 'desired' | 'observed'>): ObservedEviction[] =>
  observed.evictions.filter(
    ({ ownerUid, state }) => ownerUid !== desired.uid && (state === 'waiting' || state === 'running'),
  );

/**
 * How the emptying of a host stands:
 * - `empty`: nothing is on it, nothing can come, and an Eviction saw it so twice — or it is down, where nothing moves
 *   any more
 * - `stopped`: a user cancelled or deleted the Eviction; that holds for this generation, or until a user asks
 *   for a retry
 * - `open`: there is no Eviction, and there has to be one
 */
export type Emptying = 'absent' | 'empty' | 'running' | 'failed' | 'stopped' | 'open';

export function judgeEmptying(context: Context): Emptying {
  const { desired, observed } = context;
  const { nova, loneService, recorded } = observed;
  // Nova has no such host, so nothing of Nova's is on it; a service without a hypervisor may have servers all the same.
  if (nova === null) return loneService === null || loneService.servers === 0 ? 'absent' : 'open';
  const own = ownEviction(context);
  const isBare = nova.service.status === 'disabled' && remainsOn(nova).length === 0;
  const before = findCondition(recorded.conditions, hypervisorConditions.evicting);
  const wasEmptied =
    own?.state === 'succeeded' || (before?.status === 'False' && before.reason === hostEvictingReasons.succeeded);
  if (isBare && (wasEmptied || nova.service.state === 'down')) return 'empty';

  if (own !== null && own.deleting && own.state !== 'stopped') return 'running';
  switch (own?.state) {
    case 'waiting':
    case 'running':
    case 'observed':
      return 'running';
    case 'failed':
      return 'failed';
    case 'stopped':
      return 'stopped';
    // It had been empty, and something came.
    case 'succeeded':
      return 'open';
    case undefined:
      return wasStopped(before, desired.generation) && desired.retry === null ? 'stopped' : 'open';
  }
}

/** There was an Eviction for this very generation, and it is gone before it had ended: a user deleted it. */
function wasStopped(before: ReturnType<typeof findCondition>, generation: number): boolean {
  if (before === undefined || (before.observedGeneration !== undefined && before.observedGeneration !== generation))
    return false;
  return (
    before.reason === hostEvictingReasons.stopped ||
    (before.status === 'True' && before.reason === hostEvictingReasons.running)
  );
}

/** Whether `status.evicted` may say true. */
export function isEmptied(context: Context): boolean {
  const emptying = judgeEmptying(context);
  return emptying === 'empty' || emptying === 'absent';
}

/**
 * `Evicting` and `evicted` of a Hypervisor; null: no maintenance, so neither is there. A condition null: what was said
 * before stays. An Eviction that failed is neither True nor False: who waits for False would take the host for empty.
 */
export function judgeEvicting(context: Context): { condition: ConditionUpdate | null; evicted: boolean } | null {
  const { desired, observed } = context;
  if (modeOf(desired, observed.node) === '' || observed.nova === null) return null;
  const of = (status: ConditionUpdate['status'], reason: keyof typeof hostEvictingReasons, message: string) => ({
    condition: { type: hypervisorConditions.evicting, status, reason: hostEvictingReasons[reason], message },
    evicted: reason === 'succeeded',
  });
  const own = ownEviction(context);
  const named = own === null ? '' : `Eviction ${own.name}: ${gistOf(own)}`;
  const emptying = judgeEmptying(context);
  // One on its way out may be that of a maintenance before, which drover deletes itself: were it said to run for this
  // one, it would be taken for deleted by a user once it is gone. Of one that a user deletes it was said before. One
  // that failed has let go of its finalizer, and is gone at once.
  if (own?.deleting === true && own.state !== 'failed' && emptying !== 'empty')
    return { condition: null, evicted: false };
  switch (emptying) {
    case 'absent':
    case 'empty':
      return of('False', 'succeeded', 'Evicted');
    case 'failed':
      return of(
        'Unknown',
        'failed',
        `${named}. \`drover describe ${desired.name}\` names what stands in the way: remove it, then \`drover retry\` the Eviction`,
      );
    case 'stopped':
      return of(
        'Unknown',
        'stopped',
        `${named === '' ? 'The Eviction was deleted' : named}. \`drover retry\` starts it again`,
      );
    case 'running':
      return of('True', 'running', 'Evicting');
    case 'open':
      // Before the Eviction is there nothing is said, so that one that is missing later is known to have been deleted.
      return null;
  }
}

/**
 * Takes a host out of Nova's choice and empties it: disable, test servers, Eviction, wait. Null: it is empty, or Nova
 * has no such host. What failed is never taken for empty, and a service that is enabled meanwhile is disabled again.
 */
export function planEmptying(context: Context, mode: Exclude<MaintenanceMode, ''>): Decision | Transition | null {
  const { desired, observed } = context;
  const { nova, testServers } = observed;
  if (nova === null) return null;
  if (nova.service.status === 'enabled') return planDisabling(context, nova, mode);
  if (testServers.length > 0) return deleteTestServers(testServers, nova.host);

  const own = ownEviction(context);
  switch (judgeEmptying(context)) {
    case 'absent':
    case 'empty':
      return null;
    case 'running':
      return awaitEviction(context, own);
    case 'failed':
    case 'stopped':
      if (own?.deleting) return awaitEviction(context, own);
      if (own?.state === 'failed' && mode === 'termination') {
        const release = planRelease(context, own);
        if (release !== null) return release;
        const deadline = judgeDeadline(desired, observed.node, context.settings);
        if (deadline !== null && gaveUpEarly(own, nova, deadline, context.nowMs)) {
          const until = `to empty ${nova.host} until ${timeOf(deadline.atMs)}`;
          return execute(replaceEviction(own, `Delete Eviction ${own.name}, which gave up before: ${until}`));
        }
      }
      if (desired.retry !== null && own !== null)
        return execute(replaceEviction(own, `Delete Eviction ${own.name}, to try again`));
      return blocked(
        own === null
          ? `The Eviction of ${desired.name} was deleted before it had ended`
          : `Eviction ${own.name} has not emptied ${desired.name}: ${gistOf(own)}. \`drover describe ${desired.name}\` says why`,
      );
    case 'open':
      return begin(context, nova, mode, own);
  }
}

/** Where an Eviction has to follow whatever is on the host, it is made at once. */
function planDisabling(context: Context, nova: NovaHost, mode: Exclude<MaintenanceMode, ''>): Decision {
  const disabling = disableService(nova.host, mode, context.desired.maintenanceReason);
  const { reason } = disabling;
  const service = { ...nova.service, status: 'disabled', disabledReason: reason } as const;
  const next = planEmptying({ ...context, observed: { ...context.observed, nova: { ...nova, service } } }, mode);
  const follows = next?.kind === 'execute' && next.steps[0]?.kind === 'createEviction';
  return execute(disabling, ...(follows ? next.steps : []));
}

export function disableService(
  host: string,
  mode: Exclude<MaintenanceMode, ''>,
  why: string | null,
): Extract<Draft, { kind: 'disableService' }> {
  const reason = maintenanceReason(mode, why);
  return { kind: 'disableService', host, reason, summary: `Disable ${host} in Nova: ${reason}` };
}

/** What Nova shows while a Hypervisor is in maintenance. */
const maintenanceReason = (mode: MaintenanceMode, why: string | null): string =>
  `${maintenanceReasonPrefix}${mode}${why === null || why === '' ? '' : `: ${why}`}`;

export const deleteTestServers = (ids: string[], host: string): Decision =>
  execute({ kind: 'deleteTestServers', ids, summary: `Delete the test servers on ${host}`, publish: 'beside' });

export const deleteEviction = ({ name, uid }: ObservedEviction, summary: string): Draft => ({
  kind: 'deleteEviction',
  name,
  uid,
  summary,
});

/** What holds of it is said first: one that ran, and is missing then, was deleted by a user. */
export const replaceEviction = (own: ObservedEviction, summary: string): Draft => ({
  ...deleteEviction(own, summary),
  publish: 'before',
});

/**
 * Allocations that no server, migration or resize holds keep an Eviction from ending well, for ever. A host that goes
 * for good loses them by a user's consent, and is then emptied once more; without it that is what is said. Null: that
 * is not all that is left.
 */
function planRelease({ desired, observed }: Context, own: ObservedEviction): Decision | null {
  const { nova } = observed;
  const consentBy = releaseConsent(desired);
  const clearing = replaceEviction(own, `Delete Eviction ${own.name}, to empty ${desired.name} once more`);
  // They were taken away, and a change came before the Eviction was deleted. One that failed over anything else would
  // fail again.
  if (nova !== null && remainsOn(nova).length === 0)
    return consentBy !== null && failedOverAllocations(own) ? execute(clearing) : null;
  const left = leftoverProvider(observed);
  if (left === null) return null;
  if (consentBy === null)
    return desired.retry === null
      ? blocked(`Nothing but ${describeConsumers(left)} is left of ${desired.name}. ${consentAdvice}`)
      : null;
  return execute(
    {
      kind: 'releaseAllocations',
      providerId: left.uuid,
      consentBy,
      summary: `Take away ${describeConsumers(left)}, by consent of ${consentBy}`,
    },
    clearing,
  );
}

const failedOverAllocations = ({ message }: ObservedEviction): boolean =>
  Object.values(allocationsInPlacement).some((words) => message.includes(words));

/**
 * Whether there is more time than it had: it was made for another cause, or before the Node began to terminate, or for
 * an earlier deadline. One that lasts until the deadline fails before only by what trying again does not mend; or by
 * what stayed on the host longer than an Eviction waits for it, and that may have gone since.
 */
function gaveUpEarly(
  { cause, deadline, reason }: ObservedEviction,
  nova: NovaHost,
  { atMs }: Deadline,
  nowMs: number,
): boolean {
  if (nowMs >= atMs) return false;
  const hasCleared = reason === evictingReasons.notEmpty && remainsOn(nova).length === 0;
  const wasShorter = deadline === null || Date.parse(deadline) <= nowMs;
  return hasCleared || wasShorter || cause === 'admin' || cause === 'decommission';
}

/**
 * What it says in figures. The servers are named where they are the subject: a line that repeats them hides what
 * it is about.
 */
const gistOf = ({ message }: ObservedEviction): string => message.split('. ')[0]?.replace(/\.$/u, '') ?? message;

function awaitEviction({ desired, observed, settings }: Context, own: ObservedEviction | null): Decision {
  const deadline = judgeDeadline(desired, observed.node, settings);
  if (own === null || own.deleting) return awaitDeletion(own?.name ?? desired.name);
  const isLater = deadline !== null && (own.deadline === null || Date.parse(own.deadline) > deadline.atMs);
  if (!isLater) return wait('WaitingForEviction', `Eviction ${own.name}: ${own.message}`);
  const text = timeOf(deadline.atMs);
  return execute({
    kind: 'setEvictionDeadline',
    name: own.name,
    uid: own.uid,
    deadline: text,
    summary: `Set the deadline of Eviction ${own.name} to ${text}`,
  });
}

export const awaitDeletion = (eviction: string): Decision =>
  wait('WaitingForEviction', `Eviction ${eviction} to be gone`);

export const awaitForeign = ({ name, message }: ObservedEviction): Decision =>
  wait('WaitingForEviction', `Eviction ${name}, which this Hypervisor did not create, to end: ${message}`);

function begin(
  context: Context,
  nova: NovaHost,
  mode: Exclude<MaintenanceMode, ''>,
  own: ObservedEviction | null,
): Decision | Transition {
  const { desired } = context;
  const [foreign] = foreignEvictions(context);
  if (foreign !== undefined) return awaitForeign(foreign);
  if (own !== null) {
    const late = `${remainsOn(nova).join(', ')} came after Eviction ${own.name}`;
    return execute(replaceEviction(own, `${late}: delete it, to empty ${nova.host} again`));
  }
  if (nova.service.state === 'down' && mode === 'ha')
    return wait('HostDown', 'what becomes of a host that is down: nothing can be moved off it live');
  // Nothing more is said of the Eviction before, so that this one is not taken for deleted before it is there.
  if (desired.retry !== null)
    return { kind: 'become', conditions: [], removed: [hypervisorConditions.evicting], takesUpRetry: true };
  const eviction = newEviction(context, mode);
  return execute({ kind: 'createEviction', eviction, summary: `Empty ${nova.host}: Eviction ${eviction.name}` });
}

/** Obstacles stop what a user asked for, and are carried along where the host goes whether it is empty or not. */
function causeOf({ desired, observed }: Context, mode: Exclude<MaintenanceMode, ''>): EvictionCause {
  switch (mode) {
    case 'manual':
      return 'admin';
    case 'auto':
      return 'rolling-update';
    case 'ha':
      return 'termination';
    case 'termination':
      return desired.maintenance === 'termination' && !hasNodeDeadline(observed) ? 'decommission' : 'termination';
  }
}

const hasNodeDeadline = ({ node }: HypervisorObservation): boolean =>
  node === null || node.terminatingSinceMs !== null || node.deletedAtMs !== null;

function newEviction(context: Context, mode: Exclude<MaintenanceMode, ''>): NewEviction {
  const { desired, observed, settings } = context;
  const deadline = judgeDeadline(desired, observed.node, settings);
  const keys: readonly string[] = [...copiedLabels, ...settings.copiedLabels];
  return {
    name: freeName(context, mode),
    hypervisor: desired.name,
    ownerUid: desired.uid,
    reason: `Hypervisor ${desired.name}: maintenance ${mode}${desired.maintenanceReason === null ? '' : `: ${desired.maintenanceReason}`}`,
    cause: causeOf(context, mode),
    deadline: deadline === null ? null : timeOf(deadline.atMs),
    reEnable: false,
    labels: Object.fromEntries(Object.entries(desired.labels).filter(([key]) => keys.includes(key))),
  };
}

/** The hypervisor's name, as upstream; where an Eviction of another party has it, one that says what it is for. */
function freeName({ desired, observed }: Context, mode: MaintenanceMode): string {
  const taken = new Set(observed.evictions.map(({ name }) => name));
  const free = (name: string, next: number): string =>
    taken.has(name) ? free(`${desired.name}-${mode}-${next}`, next + 1) : name;
  return free(desired.name, desired.generation);
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** Who consented that leftover allocations are taken away, and when; null: no user did. */
export const releaseConsent = ({
  consent,
  consentBy,
}: Pick<DesiredHypervisor, 'consent' | 'consentBy'>): string | null =>
  consent.includes('delete-allocations') ? consentBy : null;

/** What a user may do about them. */
export const consentAdvice =
  'Deleting those needs consent: clear them, or say `drover decommission --consent delete-allocations` (the annotations drover.dev/consent and drover.dev/consent-by)';

export const describeConsumers = ({
  consumers,
  someConsumers,
}: Pick<ObservedProvider, 'consumers' | 'someConsumers'>): string =>
  `allocations of ${consumers} consumer(s): ${someConsumers.join(', ')}${consumers > someConsumers.length ? ', …' : ''}`;

/**
 * The provider where allocations are all that is left of a host in Nova and Placement, as Nova leaves them
 * behind; else null.
 */
export function leftoverProvider({
  nova,
  provider,
}: Pick<HypervisorObservation, 'nova' | 'provider'>): ObservedProvider | null {
  if (nova === null || provider === null || nova.allocations === 0 || provider.uuid !== nova.hypervisorId) return null;
  return remainsOn({ ...nova, allocations: 0 }).length === 0 ? provider : null;
}

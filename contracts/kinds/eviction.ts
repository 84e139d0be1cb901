import { type Condition, type ConditionUpdate, findCondition } from '../conditions.ts';
import type { Eviction } from '../crds/eviction.ts';
import {
  bootIdAnnotation,
  onlyObserves,
  readEvictionAnnotations,
  retryHandledAnnotation,
  runIdAnnotation,
} from '../eviction/annotations.ts';
import { evictingReasons, evictionConditions } from '../eviction/conditions.ts';
import { hostNameProblem } from '../eviction/eviction.ts';
import { runningState } from '../eviction/running-state.ts';
import { evictionFinalizer, evictionId, workflowTypes } from '../ids.ts';
import { blocksDeletion } from './access.ts';
import { type ActiveMode, defineKind, type Outstanding } from './kind.ts';
import { conditionsOf, type KubeObject, textOf } from './object.ts';
import { pendingRetry } from './requests.ts';
import { type Shown, shownAttention, type Sign } from './shown.ts';

/**
 * An Eviction is reconciled when
 * - it is not being deleted, or drover holds no finalizer on it;
 * - no retry is asked for: `drover.dev/retry` is absent or equals `drover.dev/retry-handled`, which a run writes when
 *   it takes a retry up (equality, not order: a manifest that carries the annotation for ever asks once);
 * - `Evicting` is False for this generation, and `HypervisorReEnabled` is not Unknown. A condition without
 *   observedGeneration is the replaced operator's, for which False is final. A refusal of annotations holds only as
 *   long as they are bad: they have no generation. That of a host's name holds whatever they are;
 * - where drover only observes: `Observed` is True (or False: refused) for this generation instead. One that was begun
 *   in earnest, which drover holds, is over by `Evicting` all the same.
 */
function isReconciled(eviction: Eviction, mode: ActiveMode): boolean {
  const { metadata, status } = eviction;
  if (metadata.deletionTimestamp !== undefined) return !(metadata.finalizers ?? []).includes(evictionFinalizer);
  if (pendingRetry(eviction) !== null) return false;

  const of = (type: string): Condition | undefined => findCondition(status?.conditions, type);
  const isCurrent = ({ observedGeneration }: Condition): boolean =>
    observedGeneration === undefined || observedGeneration === metadata.generation;

  const evicting = of(evictionConditions.evicting);
  const observed = onlyObserves(metadata, mode) ? of(evictionConditions.observed) : undefined;
  const ends = [
    evicting?.status === 'False' ? evicting : undefined,
    observed?.status === 'Unknown' ? undefined : observed,
  ];
  const isOver = ends.some((end) => end !== undefined && isCurrent(end) && !isRefusalOver(end, eviction));
  return isOver && of(evictionConditions.reEnabled)?.status !== 'Unknown';
}

/** Annotations can be corrected without a new generation. */
function isRefusalOver({ reason }: Condition, eviction: Eviction): boolean {
  const { asked, problems } = readEvictionAnnotations(eviction.metadata.annotations);
  if (reason === 'InvalidObject') return problems.length === 0 && hostNameProblem(hostOf(eviction) ?? '') === null;
  if (reason === 'CauseNotSupported') return asked.cause !== 'node-failure';
  return false;
}

const kvm = 'kvm.cloud.sap';
const bytesPerMiB = 1_048_576;
const ownAnnotations: readonly string[] = [retryHandledAnnotation, bootIdAnnotation, runIdAnnotation];

const condition = ({ metadata }: KubeObject, mode: ActiveMode): string =>
  onlyObserves(metadata, mode) ? evictionConditions.observed : evictionConditions.evicting;

/** The host that an Eviction speaks of; null where it names none. */
export const hostOf = ({ spec }: KubeObject): string | null =>
  textOf((spec as { hypervisor?: unknown } | undefined)?.hypervisor) || null;

/** Ends of an Eviction after which no user has to act: the host is empty, or a user wanted no more. */
const quietEnds: readonly string[] = [evictingReasons.succeeded, evictingReasons.stopped];

/** That the deadline is near, or has passed; what is over says so by its end. */
function signsOf(object: KubeObject): Sign[] {
  const onTime = findCondition(conditionsOf(object), 'OnTime');
  const reason = textOf(onTime?.reason);
  return onTime?.status === 'False' && reason !== null ? [{ condition: 'OnTime', reason }] : [];
}

/** A failure of the replaced operator, whose conditions have no generation, is none of drover's. */
function shown(object: KubeObject, mode: ActiveMode): Shown {
  const { metadata } = object;
  const { asked } = readEvictionAnnotations(metadata.annotations);
  const said = findCondition(conditionsOf(object), condition(object, mode));
  const reason = textOf(said?.reason);
  const isOver = said?.status === 'False' && said.observedGeneration === metadata.generation;
  const needsUser = isOver && reason !== null && !quietEnds.includes(reason) && !onlyObserves(metadata, mode);
  const state = said?.status === 'True' && reason !== null ? runningState(reason, textOf(said.message) ?? '') : reason;
  return {
    ...shownAttention(state, needsUser ? reason : null),
    ...(state !== null && { reason: state }),
    cause: asked.cause,
    signs: signsOf(object),
    deadlineMs: asked.deadline === null || said?.status === 'False' ? null : Date.parse(asked.deadline),
  };
}

function outstanding({ status }: KubeObject): Outstanding | null {
  const { outstandingInstances: instances, outstandingRamMb: memoryMiB } = (status ?? {}) as {
    outstandingInstances?: unknown;
    outstandingRamMb?: unknown;
  };
  return Array.isArray(instances)
    ? { instances: instances.length, memoryBytes: (typeof memoryMiB === 'number' ? memoryMiB : 0) * bytesPerMiB }
    : null;
}

function stopped(object: KubeObject, mode: ActiveMode, message: string): ConditionUpdate[] {
  const type = condition(object, mode);
  const { generation: observedGeneration } = object.metadata;
  const stop = { status: 'False', reason: evictingReasons.stopped, message, observedGeneration } as const;
  const current = findCondition(conditionsOf(object), type);
  // It had ended, and the run only waited for the node: how it ended stays.
  const isOver = current?.status === 'False' && current.observedGeneration === observedGeneration;
  const awaitsNode = findCondition(conditionsOf(object), evictionConditions.reEnabled)?.status === 'Unknown';
  return [
    ...(isOver ? [] : [{ type, ...stop }]),
    ...(awaitsNode ? [{ type: evictionConditions.reEnabled, ...stop }] : []),
  ];
}

/** The subject is the host: several Evictions may speak of one, and one run empties it. */
export const evictionKind = defineKind({
  group: kvm,
  version: 'v1',
  kind: 'Eviction',
  plural: 'evictions',
  namespaced: false,
  mode: { default: 'act' },
  workflowType: workflowTypes.evictHypervisor,
  workflowId: evictionId,
  input: ['hypervisor'],
  subject: hostOf,
  host: (host) => host,
  describe: (host, eviction) => ({
    summary: `Evict ${host}`,
    details: [
      `Empties compute host **${host}**: disables its compute service, moves its instances one by one, and says in the Eviction \`${eviction}\` how it went.`,
      `Watch it with \`drover watch ${host}\` or \`kubectl get evictions ${eviction}\`. Stop it with \`drover cancel ${host}\`, or by cancelling this run.`,
    ],
  }),
  finalizer: evictionFinalizer,
  predicate: {
    generation: true,
    annotation: (key) => key.startsWith('drover.dev/') && !ownAnnotations.includes(key),
    finalizers: true,
  },
  isReconciled,
  action: 'Evict',
  condition,
  shown,
  outstanding,
  stopped,
  dependsOn: () => [],
  access: [
    {
      group: kvm,
      resources: ['evictions'],
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
      why:
        'create: an eviction started by hand leaves an Eviction that documents it. patch: its finalizer, and annotations that record what a ' +
        'run has taken up. delete: the Eviction that it made for the maintenance of a Hypervisor, or as advice about a host that fails, when ' +
        'that is over; all others belong to the people and programs that make them, and the activity refuses them.',
    },
    {
      group: kvm,
      resources: ['evictions/status'],
      verbs: ['patch'],
      why: 'Conditions and lists: the object always says what is being waited for and why.',
    },
    blocksDeletion({ group: kvm, plural: 'evictions' }),
    {
      group: kvm,
      resources: ['hypervisors'],
      verbs: ['get', 'list'],
      why: 'Preflight compares the versions that the node agents report, and resolves names.',
    },
    {
      group: kvm,
      resources: ['migrations'],
      verbs: ['get', 'list', 'create', 'patch'],
      namespace: 'migrations',
      why: 'One object per instance that moves, in the namespace that the node agents use. Never delete: the agents own them as well.',
    },
    {
      group: kvm,
      resources: ['migrations/status'],
      verbs: ['patch'],
      namespace: 'migrations',
      why: 'How far each move has come.',
    },
    {
      group: '',
      resources: ['nodes'],
      verbs: ['get', 'list'],
      why: 'After a rolling update the host is enabled only when its Node came back: boot id, Ready.',
    },
  ],
});

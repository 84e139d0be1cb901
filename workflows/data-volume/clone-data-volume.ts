import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type {
  ClaimFacts,
  DataVolumeActivities,
  NewClaim,
  ObservedVolume,
  Patience,
  VolumeObservation,
  VolumeStatus,
  VolumeWork,
} from '../../contracts/data-volume/data-volume.ts';
import { wantedBytes } from '../../contracts/data-volume/size.ts';
import { volumesQueue } from '../../contracts/ids.ts';
import { dataVolumeKind } from '../../contracts/kinds/data-volume.ts';
import { patientWait, shortCall, volumeCall } from '../../contracts/policies.ts';
import type { SlotLimit } from '../../contracts/allowance.ts';
import { ownCluster } from '../lib/own-cluster.ts';
import type { Executed, StepContext } from '../lib/lifecycle.ts';
import { count } from '../lib/metrics.ts';
import { describePlan } from '../lib/plan.ts';
import { defineReconciler } from '../lib/reconciler.ts';
import { releaseOf, slotHooks } from '../limits/slots.ts';
import {
  noVolumeMemory,
  type VolumeLifecycle,
  type VolumeMemory,
  type VolumeSituation,
  type VolumeStep,
} from './lifecycle.ts';
import { allowsUse, claimedBy, driverOf } from './plan-clone.ts';
import { awaitingAfter, awaitingAfterQueue, planVolume } from './plan.ts';
import { isVolumeSaid, volumeStatus } from './status.ts';

const volumes = (summary: string) =>
  proxyActivities<DataVolumeActivities>({ ...shortCall, taskQueue: volumesQueue(ownCluster()), summary });
/** For what takes a while. */
const work = (summary: string, patienceMs: number) =>
  proxyActivities<DataVolumeActivities>({ ...volumeCall(patienceMs), taskQueue: volumesQueue(ownCluster()), summary });

type Context = StepContext<VolumeLifecycle>;
type Result = Executed<VolumeLifecycle>;
type Of<Kind extends VolumeStep['kind']> = Extract<VolumeStep, { kind: Kind }>;

/** No activity is longer: what it waits for is planned anew then. */
const longestMs = 5 * 60_000;
const leastMs = 1_000;
/** A patient wait ends by itself so long before its time-out, which could not say what was seen. */
const marginMs = 60_000;
/** What takes longer has waited for the storage, or for users. */
const atWorkMs = 30_000;
/** What is temporary goes soon. */
const removalMs = 60_000;

const volumeOf = ({ input: { namespace, name }, desired }: VolumeSituation) => ({
  namespace,
  name,
  uid: desired?.uid ?? '',
});

const publishRequest = (situation: VolumeSituation, status: VolumeStatus, retryHandled: string | null) => ({
  ...volumeOf(situation),
  status,
  retryHandled,
});

/** With the slot that the run holds, which the activity releases. */
const withSlot = (context: Context): Omit<VolumeWork, 'begin'> => {
  const slot = releaseOf<VolumeLifecycle>(context, ofDriver);
  return { ...volumeOf(context), ...(slot !== undefined && { slot }) };
};

const ofDriver = (_kind: unknown, situation: VolumeSituation): SlotLimit => ({
  kind: 'clones',
  driver: driverOf(situation) ?? '',
});

const withLeft = (memory: VolumeMemory, left: readonly string[]): VolumeMemory => ({
  ...memory,
  left,
  leftAtMs: left.length === 0 ? null : Date.now(),
});

/** So long as is left until the deadline of the phase. */
function patienceOf({ memory: { awaiting }, settings: { rules }, nowMs }: VolumeSituation): number {
  const leftMs = awaiting === null ? rules.deadlineMs : awaiting.sinceMs + rules.deadlineMs - nowMs;
  return Math.min(longestMs, leftMs > 0 ? Math.max(leastMs, leftMs) : longestMs);
}

/** What a step says and fixes before it begins, and what is known of that then. */
function begin(
  context: Context,
  isLast = false,
): {
  request: VolumeWork;
  known: (observation: VolumeObservation) => VolumeObservation;
  isSaid: boolean;
} {
  // What is made would be taken for the complete volume otherwise.
  const isUrgent = isLast || context.observed.recorded.phase === 'Succeeded';
  const [claimed, status] = [claimedBy(context), context.unsaid(isUrgent)];
  return {
    request: { ...withSlot(context), begin: claimed === null && status === null ? null : { claimed, status } },
    known: (latest) => ({
      ...latest,
      ...(claimed !== null && latest.desired !== null && { desired: { ...latest.desired, isHeld: true } }),
      observed: {
        ...latest.observed,
        ...(claimed !== null && { chosen: { strategy: claimed.strategy, fallbackReason: claimed.fallbackReason } }),
        ...(status !== null && { recorded: recordedAs(status, context.nowMs) }),
      },
    }),
    isSaid: status !== null,
  };
}

const recordedAs = (status: VolumeStatus, nowMs: number): ObservedVolume['recorded'] => ({ ...status, sinceMs: nowMs });

type Change = (observed: ObservedVolume) => Partial<ObservedVolume>;

/** How a step waits. */
interface Wait {
  activities: ReturnType<typeof volumes>;
  patience: Patience;
}

/** Where it is known what keeps it, that may take hours: as with a wait for users, others have its place meanwhile. */
function waitOf(context: Context, { summary, known }: { summary: string; known: string | null }): Wait {
  const patienceMs = patienceOf(context);
  if (known === null) return { activities: work(summary, patienceMs), patience: { patienceMs, known } };
  const policy = { ...patientWait(patienceMs + marginMs), taskQueue: volumesQueue(ownCluster()), summary };
  return {
    activities: proxyActivities<DataVolumeActivities>(policy),
    patience: { patienceMs, known, isPatient: true },
  };
}

/**
 * Executes a step that waits, until a DataVolume that is deleted meanwhile wants it no more. A patient wait is
 * planned anew for whatever comes: a user may have said how to go on.
 */
async function awaited<Answer>(
  context: Context,
  call: (request: VolumeWork) => Promise<Answer>,
  change: (answer: Answer) => Change,
  { patience, remember }: { patience?: Patience; remember?: (answer: Answer) => Partial<VolumeMemory> } = {},
): Promise<Result> {
  const isPatient = patience?.isPatient === true;
  const { request, known, isSaid } = begin(context);
  const beganMs = Date.now();
  const answer = await context
    .whileWanted(
      () => call(request),
      () => Promise.resolve(true),
      isPatient,
    )
    .catch((error: unknown) => {
      if (isPatient && isCancellation(error)) return null;
      throw error;
    });
  if (answer === null) return { isOutdated: true, slot: 'unknown' };
  const { isSlotReleased = false, slot } = answer as Pick<Result, 'isSlotReleased' | 'slot'>;
  return {
    hasWaited: Date.now() - beganMs >= atWorkMs,
    isSaid,
    isSlotReleased,
    ...(slot !== undefined && { slot }),
    applyResult: (memory) => ({ ...memory, ...(isSlotReleased && { slot: null }), ...remember?.(answer) }),
    observation: (latest) => {
      const then = known(latest);
      return { ...then, observed: { ...then.observed, ...change(answer)(then.observed) } };
    },
  };
}

/** Executes a step on the PVC of the DataVolume's name, after which that is as the activity answers. */
const changeTarget = (
  context: Context,
  call: (request: VolumeWork) => Promise<{ claim: ClaimFacts | null }>,
): Promise<Result> =>
  awaited(context, call, ({ claim }) => () => ({ target: claim }));

const withTemporary =
  (part: Partial<ObservedVolume['temporary']>): Change =>
  ({ temporary }) => ({ temporary: { ...temporary, ...part } });

const inPlace =
  (isTemporary: boolean, claim: ClaimFacts | null): Change =>
  (observed) =>
    isTemporary ? withTemporary({ claim })(observed) : { target: claim };

/** @param usedBy left out: whether Pods use the source was not asked */
const usedAs =
  (usedBy?: readonly string[]): Change =>
  ({ source }) =>
    usedBy === undefined || source?.kind !== 'pvc' ? {} : { source: { ...source, usedBy } };

const mayBeInUse = ({ desired, settings }: Context): boolean => desired !== null && allowsUse(desired, settings);

const { slots } = slotHooks<VolumeLifecycle>(ofDriver, (situation, status, retryHandled) => ({
  publish: 'publishDataVolume',
  request: publishRequest(situation, status, retryHandled),
}));

/**
 * Makes the volume of a DataVolume: the clone of another one, of a snapshot, or an empty one. Started by the bridge, or
 * by hand with plain JSON; the id `datavolume/<namespace>/<name>` is the lock.
 */
export const cloneDataVolume = defineReconciler<VolumeLifecycle>(dataVolumeKind, {
  memory: noVolumeMemory,
  observe: ({ namespace, name }) =>
    volumes(`Observe DataVolume ${namespace}/${name}`).observeDataVolume({ namespace, name }),
  plan: planVolume,
  execute: {
    leave: async (context, { summary, source }) => {
      await volumes(summary).leaveDataVolume({ ...volumeOf(context), source });
      return {
        observation: ({ desired, ...latest }) => ({ ...latest, desired: desired && { ...desired, isLeft: true } }),
      };
    },
    adopt: (context, { summary }) => changeTarget(context, (request) => volumes(summary).adoptClaim(request)),
    removePredecessor: (context, { summary }) =>
      changeTarget(context, (request) => volumes(summary).removePredecessor(request)),
    awaitSource: (context, { summary, usedBy: users }) => {
      const { activities, patience } = waitOf(context, { summary, known: users.join() });
      const { source } = context.observed;
      if (source?.kind !== 'pvc') return Promise.resolve({});
      const { namespace, name } = source;
      return awaited(
        context,
        (request) => activities.awaitFreeSource({ ...request, source: { namespace, name }, ...patience }),
        (answer) => () => ({ source: { ...source, usedBy: answer.usedBy } }),
        { patience },
      );
    },
    snapshot: (context, { summary, snapshotClass, known, restore }) => {
      const { activities, patience } = waitOf(context, { summary, known });
      const { source } = context.observed;
      if (source?.kind !== 'pvc' || source.claim === null) return Promise.resolve({});
      const { namespace, name, uid } = source.claim;
      const acquire = context.slotAhead();
      const restored = acquire === null || restore === null ? null : newClaim(context, restore.isTemporary, true);
      return awaited(
        context,
        (request) =>
          activities.ensureSourceSnapshot({
            ...request,
            source: { namespace, name, uid },
            snapshotClass,
            createdMs: context.desired?.createdMs ?? 0,
            allowsUse: mayBeInUse(context),
            ...(acquire !== null && { acquire }),
            ...(restored !== null && { restore: { ...restored, wantedBytes: wantedBytes(context.observed) } }),
            ...patience,
          }),
        ({ snapshot, usedBy }) =>
          (observed) => ({
            ...withTemporary({ snapshot })(observed),
            ...usedAs(usedBy)(observed),
          }),
        { patience, remember: ({ waitsFor = null }) => ({ snapshotWaitsFor: waitsFor }) },
      );
    },
    claim: makeClaim,
    restore: (context, { summary, from, spec, known }) => {
      const { activities, patience } = waitOf(context, { summary, known });
      return awaited(
        context,
        (request) =>
          activities.ensureClaim({
            ...request,
            temporaryIn: namespaceOfSource(context),
            isCopied: true,
            from: { kind: 'snapshot', name: from },
            spec: { ...spec, accessModes: ['ReadWriteOnce'] },
            cloneDepth: 0,
            ...patience,
          }),
        ({ claim }) => withTemporary({ restored: claim }),
        { patience },
      );
    },
    expand: (context, { summary, claim, requestBytes, known }) => {
      const { activities, patience } = waitOf(context, { summary, known });
      const { target, temporary } = context.observed;
      const isTemporary = target === null;
      const { namespace = '' } = target ?? temporary.claim ?? {};
      return awaited(
        context,
        (request) =>
          activities.expandClaim({ ...request, claim: { namespace, name: claim }, requestBytes, ...patience }),
        (answer) => inPlace(isTemporary, answer.claim),
        { patience },
      );
    },
    copy: (context, { summary, from, to, image }) =>
      awaited(
        context,
        (request) =>
          volumes(summary).ensureCopyJob({
            ...request,
            inNamespace: namespaceOfSource(context),
            from,
            to,
            volumeMode: context.observed.claimSpec?.volumeMode ?? 'Filesystem',
            image,
          }),
        ({ job, usedBy }) =>
          (observed) => ({
            ...withTemporary({ job })(observed),
            ...usedAs(usedBy)(observed),
          }),
      ),
    transfer: (context, { summary, claim, known }) => {
      const patienceMs = patienceOf(context);
      return awaited(
        context,
        (request) =>
          work(summary, patienceMs).transferClaim({
            ...request,
            from: { namespace: namespaceOfSource(context), name: claim },
            patienceMs,
            known,
          }),
        (answer) => (observed) => ({
          target: answer.claim,
          temporary: {
            ...observed.temporary,
            transfer: answer.transfer,
            ...((answer.transfer === null || answer.transfer.phase === 'Complete') && { claim: null }),
          },
        }),
      );
    },
    beginAnew: async (context, { summary, strategy, fallbackReason }) => {
      const request = { ...begin(context).request, begin: anew(context, strategy, fallbackReason) };
      const { left } = await work(summary, removalMs).removeTemporary({ ...request, withTarget: true });
      const isBegun = left.length === 0;
      if (isBegun) countClone(context, 'begun_anew');
      return {
        applyResult: (memory) => ({
          ...withLeft(memory, left),
          // Once for each time that a user asks.
          isRetried: memory.isRetried && !isBegun,
          anew: isBegun ? null : { strategy, fallbackReason },
        }),
      };
    },
    giveUp: async (context, { summary }) => {
      // With the finalizer goes all that would begin it anew where it did not say that it was given up.
      const { request: begun, isSaid } = begin(context, true);
      // Of a source that was never ready it was not known how it is cloned: a retry chooses.
      const request = { ...begun, begin: begun.begin && { ...begun.begin, claimed: null } };
      const { left } = await work(summary, removalMs).removeTemporary({ ...request, withTarget: true });
      if (left.length === 0) countClone(context, 'failed');
      return {
        isSaid,
        applyResult: (memory) => ({ ...withLeft(memory, left), isRetried: false }),
        ...(left.length > 0 ? { isOutdated: true } : {}),
      };
    },
    complete: async (context, step) => {
      const status = volumeStatus(context, { kind: 'execute', steps: [step] });
      if (status === null) return {};
      const request = { ...withSlot(context), begin: null, status };
      const { left } = await work(step.summary, removalMs).completeDataVolume(request);
      // What was left is taken away by another one.
      if (context.observed.recorded.phase !== 'Succeeded') countClone(context, 'completed');
      return {
        isSaid: true,
        applyResult: (memory) => withLeft(memory, left),
        observation: ({ desired, observed, ...latest }) => ({
          ...latest,
          desired: desired && { ...desired, isHeld: left.length > 0 },
          observed: {
            ...observed,
            ...(left.length === 0 && {
              temporary: { snapshot: null, claim: null, restored: null, transfer: null, job: null },
            }),
            recorded: recordedAs(status, context.nowMs),
          },
        }),
      };
    },
    remove: async (context, { summary }) => {
      const request = { ...withSlot(context), begin: null };
      const { left } = await work(summary, removalMs).removeTemporary({ ...request, withTarget: true });
      return {
        applyResult: (memory) => withLeft(memory, left),
        ...(left.length > 0
          ? { isOutdated: true }
          : {
              observation: ({ desired, ...latest }) => ({
                ...latest,
                desired: desired && { ...desired, isHeld: desired.isHeld && !desired.deleting },
              }),
            }),
      };
    },
    removeFinalizer: async (context, { summary }) => {
      await volumes(summary).patchDataVolumeFinalizer({ ...volumeOf(context), present: false });
    },
  },
  // What is left is looked at by the next observation.
  prune: (memory, { observed: { temporary } }) =>
    Object.values(temporary).every((one) => one === null) ? withLeft(memory, []) : memory,
  planned: (situation, plan) => ({ ...situation.memory, awaiting: awaitingAfter(situation, plan) }),
  resetFailures: (memory) => ({ ...memory, isRetried: true, awaiting: null }),
  status: volumeStatus,
  isSaid: ({ recorded }, status) => isVolumeSaid(recorded, status),
  publish: async (situation, status, retryHandled) => {
    await volumes('Publish the status of the DataVolume').publishDataVolume(
      publishRequest(situation, status, retryHandled),
    );
  },
  attributes: ({ input: { namespace, name } }) => ({ object: `${namespace}/${name}` }),
  details: describe,
  progress: (situation) => (situation === null ? {} : { clone: cloneOf(situation) }),
  slots: {
    ...slots,
    async acquire(situation, limit, run, queued) {
      const asked = { phase: situation.memory.awaiting?.phase ?? null, atMs: Date.now() };
      try {
        return await slots.acquire(situation, limit, run, queued);
      } finally {
        run.update((memory) => ({ ...memory, awaiting: awaitingAfterQueue(memory.awaiting, asked, Date.now()) }));
      }
    },
  },
});

/** What is no clone has no strategy. */
function countClone({ observed: { chosen } }: VolumeSituation, outcome: 'completed' | 'failed' | 'begun_anew'): void {
  if (chosen !== null) count('clones', { strategy: chosen.strategy, outcome });
}

function makeClaim(
  context: Context,
  { summary, isTemporary, from, requestBytes, known }: Of<'claim'>,
): Promise<Result> {
  const { activities, patience } = waitOf(context, { summary, known });
  const claim = newClaim(context, isTemporary, from !== null);
  if (claim === null) return Promise.resolve({});
  return awaited(
    context,
    (request) =>
      activities.ensureClaim({
        ...request,
        ...claim,
        from,
        ...(from?.kind === 'pvc' && { allowsUse: mayBeInUse(context) }),
        spec: { ...claim.spec, requestBytes },
        ...patience,
      }),
    (answer) => (observed) => ({
      ...inPlace(isTemporary, answer.claim)(observed),
      ...usedAs(answer.usedBy)(observed),
    }),
    { patience },
  );
}

/** Null: nothing says what it is to be. */
function newClaim(context: Context, isTemporary: boolean, isClone: boolean): NewClaim | null {
  const { claimSpec, source } = context.observed;
  if (claimSpec === null) return null;
  const { storageClass, accessModes, volumeMode } = claimSpec;
  return {
    temporaryIn: isTemporary ? namespaceOfSource(context) : null,
    spec: { storageClass, accessModes, volumeMode },
    cloneDepth: isClone && source?.kind === 'pvc' ? (source.claim?.cloneDepth ?? 0) + 1 : 0,
  };
}

const namespaceOfSource = ({ observed: { source }, input }: VolumeSituation): string =>
  source === null || source.kind === 'blank' ? input.namespace : source.namespace;

/** It is cloned in another way from now on. */
function anew(
  context: Context,
  strategy: 'snapshot' | 'csi-clone' | 'copy',
  fallbackReason: string | null,
): VolumeWork['begin'] {
  const claimed = claimedBy({ ...context, observed: { ...context.observed, chosen: null } });
  return { claimed: claimed && { ...claimed, strategy, fallbackReason }, status: context.unsaid() };
}

const cloneOf = ({ observed: { chosen, source, temporary, target } }: VolumeSituation) => ({
  strategy: chosen?.strategy ?? null,
  fallbackReason: chosen?.fallbackReason ?? null,
  source: source === null || source.kind === 'blank' ? null : `${source.kind} ${source.namespace}/${source.name}`,
  snapshot: temporary.snapshot?.name ?? null,
  temporaryClaim: temporary.claim?.name ?? null,
  claim: target === null ? null : { phase: target.phase, volume: target.volume, capacityBytes: target.capacityBytes },
});

function describe(situation: VolumeSituation, plan: Parameters<typeof describePlan>[0]): string {
  const { strategy, fallbackReason, source, snapshot, claim } = cloneOf(situation);
  const { restored } = situation.observed.temporary;
  return [
    describePlan(plan).message,
    '',
    ...(source === null ? [] : [`- Source: ${source}`]),
    ...(strategy === null ? [] : [`- Strategy: ${strategy}${fallbackReason === null ? '' : ` (${fallbackReason})`}`]),
    ...(snapshot === null ? [] : [`- Snapshot: ${snapshot}`]),
    ...(restored ? [`- Restored to be copied: PVC ${restored.name}`] : []),
    ...(claim === null ? [] : [`- PVC: ${claim.phase}, volume ${claim.volume ?? 'none yet'}`]),
  ].join('\n');
}

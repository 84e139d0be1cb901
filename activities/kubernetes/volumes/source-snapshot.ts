import type { SlotAnswer, SlotMessage } from '../../../contracts/allowance.ts';
import type { DataVolumeActivities, SnapshotFacts } from '../../../contracts/data-volume/data-volume.ts';
import { temporaryNames, volumeAnnotations, volumeLabels } from '../../../contracts/data-volume/metadata.ts';
import { restoreBytes } from '../../../contracts/data-volume/size.ts';
import { isNews } from '../../../contracts/data-volume/storage-answers.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { type Snapshot, storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { awaitFact } from './await-fact.ts';
import { makeClaim } from './claims.ts';
import { type HeldWork, holdWork } from './begin-work.ts';
import type { OfVolume, VolumeTools } from './dependencies.ts';
import {
  cutOf,
  isCrashConsistent,
  isDeleting,
  isRecentEnough,
  leaveSnapshot,
  listSnapshots,
  userKey,
  usersOf,
} from './snapshot-users.ts';
import { checkSource, isJustObserved, readSourceUsers } from './source-users.ts';
import { snapshotFacts } from './volume-facts.ts';
import { createObject, identityOf, patchObject } from './write-object.ts';

type Request = Parameters<DataVolumeActivities['ensureSourceSnapshot']>[0];

interface Cutting extends Pick<HeldWork, 'live'> {
  /** No Pod uses the source, or that does not matter. */
  isFree: () => Promise<boolean>;
  /** @param count of drover's snapshots that the source has */
  hasRoom: (count: number) => boolean;
  /** Nothing was looked at before. */
  isFirstLook: () => boolean;
}

/** A snapshot of the source as it was at or after the DataVolume's creation, ready if patience allows. */
export async function ensureSourceSnapshot(
  tools: VolumeTools,
  { begin, namespace, name, uid, acquire, restore, ...request }: Request,
): Promise<Awaited<ReturnType<DataVolumeActivities['ensureSourceSnapshot']>>> {
  const of = { namespace, name, uid };
  const work = await holdWork(tools, { ...of, begin });
  const isShared = tools.settings?.rules.shareSnapshots ?? true;
  const { scope } = tools;
  let looks = 0;
  let usedBy: readonly string[] = [];
  let waitsFor: string | null = null;
  const cutting: Cutting = {
    ...work,
    async isFree() {
      const isObserved = cutting.isFirstLook() && isJustObserved(tools);
      if (!request.allowsUse && !isObserved) usedBy = await readSourceUsers(tools, request.source);
      return usedBy.length === 0;
    },
    isFirstLook: () => looks === 1 && scope.waitedMs === 0,
    hasRoom(count) {
      const most = tools.settings?.rules.snapshotsPerSource ?? Infinity;
      waitsFor = count < most ? null : describeNoRoom(request.source, most);
      return waitsFor === null;
    },
  };
  const look = async (): Promise<Snapshot | null> => {
    looks += 1;
    waitsFor = null;
    const seen = await (isShared ? shareSnapshot : ownSnapshot)(tools, of, cutting, request);
    await work.say();
    return seen;
  };
  const { source, isPatient = false } = request;
  const snapshot = await awaitFact(tools, {
    patienceMs: request.patienceMs,
    patientFor: isPatient ? `a snapshot of PVC ${source.namespace}/${source.name} to be ready` : undefined,
    look,
    isOver: (seen) => {
      if (seen === null) return usedBy.length > 0 || (waitsFor !== null && waitsFor !== request.known);
      const { isReady, error } = snapshotFacts(seen, null);
      return isReady || isNews(error, request.known);
    },
    watched: (seen) => seen && { resource: storageResources.VolumeSnapshot, version: seen.metadata },
  });
  // What was observed before the wait is not what the next attempt may go by.
  if (snapshot === null)
    return {
      snapshot,
      ...(waitsFor !== null && { waitsFor }),
      ...(!request.allowsUse && { usedBy: await readSourceUsers(tools, request.source) }),
    };
  const facts = snapshotFacts(snapshot, null);
  if (acquire === undefined || !facts.isReady) return { snapshot: facts };
  const slot = await acquireSlot(tools, acquire);
  if (restore !== undefined && slot !== 'unknown' && slot.allowance > 0)
    await restoreFrom(tools, work, of, facts, restore);
  return { snapshot: facts, slot };
}

const describeNoRoom = ({ namespace, name }: Request['source'], most: number): string =>
  `PVC ${namespace}/${name} has ${most} VolumeSnapshots for clones, as many as dataVolumes.snapshotsPerSource allows: the next one is cut when one of them is gone`;

/** Of one that cannot be made, ensureClaim says why. */
async function restoreFrom(
  tools: VolumeTools,
  work: Pick<HeldWork, 'live'>,
  of: OfVolume,
  snapshot: SnapshotFacts,
  { wantedBytes, spec, ...claim }: NonNullable<Request['restore']>,
): Promise<void> {
  const from = { kind: 'snapshot', name: snapshot.name } as const;
  const sized = { ...spec, requestBytes: restoreBytes(snapshot, wantedBytes) };
  await makeClaim(tools, work, { ...of, ...claim, from, spec: sized }).catch(() => tools.scope.signal.throwIfAborted());
}

/** Where there is no answer the run acquires it. */
const acquireSlot = ({ acquireSlot: ask, scope }: VolumeTools, acquire: SlotMessage): Promise<SlotAnswer | 'unknown'> =>
  ask(acquire, scope.signal).catch(() => {
    scope.signal.throwIfAborted();
    return 'unknown';
  });

/**
 * @returns the one that the DataVolume takes part in; null: none yet, as another was cut just before, or too
 * many are there
 */
async function shareSnapshot(
  tools: VolumeTools,
  of: OfVolume,
  work: Cutting,
  request: Omit<Request, keyof OfVolume | 'begin'>,
): Promise<Snapshot | null> {
  const { source, createdMs, allowsUse } = request;
  const all = await listSnapshots(tools, { namespace: source.namespace, sourceUid: source.uid });
  const asked = { uid: of.uid, createdMs };
  const isFit = (one: Snapshot): boolean => isRecentEnough(one, asked) && (allowsUse || !isCrashConsistent(one));
  // One that was joined before it was known when it was cut.
  const stale = all.filter((one) => usersOf(one).has(of.uid) && !isFit(one));
  for (const one of stale) await leaveSnapshot(tools, of, one);
  const recent = all.filter((one) => !isDeleting(one) && isFit(one));
  const mine = recent.find((one) => usersOf(one).has(of.uid));
  if (mine !== undefined) return mine;
  const open = recent.find(({ status }) => status?.error === undefined || status.error === null);
  if (open !== undefined) return await join(tools, of, work, open);
  const rules = tools.settings?.rules;
  const lastCutMs = Math.max(...all.map((one) => cutOf(one) ?? 0), 0);
  if (!work.hasRoom(all.length)) {
    // Clones that lost their finalizers by force have left none.
    if (work.isFirstLook()) for (const one of all) await leaveSnapshot(tools, of, one);
    return null;
  }
  if (tools.clock.now() < lastCutMs + (rules?.sourceIntervalMs ?? 0)) return null;
  const there = [of.uid, ...(await readAsked(tools, source)).filter((uid) => uid !== of.uid)].slice(0, mostAsked);
  const name = temporaryNames.sharedSnapshot(source.uid, numberAfter(all, source.uid));
  return await cut(tools, of, work, { ...request, name, asked: there });
}

function numberAfter(all: readonly Snapshot[], sourceUid: string): number {
  const prefix = temporaryNames.sharedSnapshot(sourceUid, 0).slice(0, -1);
  const numbers = all.map(({ metadata: { name } }) => Number(name.startsWith(prefix) ? name.slice(prefix.length) : 0));
  return Math.max(0, ...numbers.filter(Number.isSafeInteger)) + 1;
}

/** @returns null: it is gone or going */
async function join(
  tools: VolumeTools,
  of: OfVolume,
  work: Pick<HeldWork, 'live'>,
  snapshot: Snapshot,
): Promise<Snapshot | null> {
  await work.live();
  try {
    const joined = await patchObject(tools, storageResources.VolumeSnapshot, identityOf(snapshot.metadata), {
      change: { metadata: { annotations: { [userKey(of.uid)]: `${of.namespace}/${of.name}` } } },
      cause: 'a clone shares it',
    });
    return isDeleting(joined) ? null : joined;
  } catch (error) {
    // A conflict: it is another one of that name.
    if (isFailure(error, 'ObjectNotFound') || isFailure(error, 'ObjectConflict')) return null;
    throw error;
  }
}

/** More would not fit into the annotations of an object. */
const mostAsked = 2_000;

/** Uids of the DataVolumes that may be clones of the source and are there already. */
async function readAsked({ client, scope }: VolumeTools, source: Request['source']): Promise<string[]> {
  const volumes = await client.listValid(resources.DataVolume, {}, scope.signal);
  return volumes
    .filter(({ spec, metadata, status }) => {
      const { pvc } = spec.source ?? {};
      const isOf = pvc?.namespace === source.namespace && pvc.name === source.name;
      const isOpen = status?.phase !== 'Succeeded' && metadata.deletionTimestamp === undefined;
      return isOpen && (isOf || spec.sourceRef !== undefined);
    })
    .map(({ metadata }) => metadata.uid);
}

/** One of its own, where snapshots are not shared. @returns null: one of that name is going */
async function ownSnapshot(
  tools: VolumeTools,
  of: OfVolume,
  work: Cutting,
  { source, snapshotClass, allowsUse }: Pick<Request, 'source' | 'snapshotClass' | 'allowsUse'>,
): Promise<Snapshot | null> {
  const key = { namespace: source.namespace, name: temporaryNames.snapshot(of.uid) };
  const found = await tools.client.get(storageResources.VolumeSnapshot, key, tools.scope.signal);
  if (found !== null) return usersOf(found).has(of.uid) && !isDeleting(found) ? found : null;
  return await cut(tools, of, work, { source, snapshotClass, allowsUse, name: key.name, asked: [of.uid] });
}

/** @returns null: there is one of that name, or a Pod uses the source. @throws ObjectNotFound where that is gone */
async function cut(
  tools: VolumeTools,
  of: OfVolume,
  work: Cutting,
  {
    source,
    snapshotClass,
    allowsUse,
    name,
    asked,
  }: Pick<Request, 'source' | 'snapshotClass' | 'allowsUse'> & { name: string; asked: readonly string[] },
): Promise<Snapshot | null> {
  if (!(await work.isFree())) return null;
  await work.live();
  await checkSource(tools, source);
  return await createObject(
    tools,
    storageResources.VolumeSnapshot,
    {
      metadata: {
        namespace: source.namespace,
        name,
        labels: { [volumeLabels.app]: volumeLabels.appName, [volumeLabels.snapshotOf]: source.uid },
        annotations: {
          [userKey(of.uid)]: `${of.namespace}/${of.name}`,
          [volumeAnnotations.askedBefore]: asked.join(','),
          ...(allowsUse && { [volumeAnnotations.crashConsistent]: 'true' }),
        },
      },
      spec: { volumeSnapshotClassName: snapshotClass, source: { persistentVolumeClaimName: source.name } },
    },
    `DataVolume ${of.namespace}/${of.name} is cloned from it`,
  );
}

import { isNews } from '../../../contracts/data-volume/storage-answers.ts';
import type { DataVolume } from '../../../contracts/crds/data-volume.ts';
import type { ClaimFacts, DataVolumeActivities } from '../../../contracts/data-volume/data-volume.ts';
import { temporaryNames, volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import { quantityText } from '../../../contracts/quantity.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { ObjectVersion } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { type Claim, storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { awaitFact } from './await-fact.ts';
import { beginWork, type HeldWork, holdWork } from './begin-work.ts';
import { claimSpecOf, controllerOf, targetMetadata, temporaryMetadata } from './claim-objects.ts';
import { describeClaim } from './claim-problem.ts';
import type { OfVolume, VolumeTools } from './dependencies.ts';
import { checkSource, isJustObserved, readSourceUsers } from './source-users.ts';
import { claimFacts, ownerOf, requestBytesOf } from './volume-facts.ts';
import { createObject, deleteObject, patchObject, versionOf } from './write-object.ts';

type Requests = { [Name in keyof DataVolumeActivities]: Parameters<DataVolumeActivities[Name]>[0] };

const claims = storageResources.PersistentVolumeClaim;

/** @throws ObjectNotFound */
async function getClaim({ client, scope }: VolumeTools, namespace: string, name: string): Promise<Claim> {
  const found = await client.get(claims, { namespace, name }, scope.signal);
  if (found !== null) return found;
  throw droverFailure('ObjectNotFound', `PersistentVolumeClaim ${namespace}/${name} is gone`);
}

interface SeenClaim {
  claim: ClaimFacts;
  version: ObjectVersion;
}

const seeClaim = async (tools: VolumeTools, claim: Claim, volumeUid: string): Promise<SeenClaim> => ({
  claim: await describeClaim(tools, claim, volumeUid),
  version: claim.metadata,
});

const watched = (seen: SeenClaim | null) => seen && { resource: claims, version: seen.version };

/** Whether a claim of the class waits until something is to use it. */
async function waitsForConsumer({ client, scope }: VolumeTools, name: string): Promise<boolean> {
  const found = await client.get(storageResources.StorageClass, { name }, scope.signal);
  return found?.volumeBindingMode === 'WaitForFirstConsumer';
}

/** Made where there is none; another's of that name is returned as it is. */
export async function ensureClaim(
  tools: VolumeTools,
  request: Requests['ensureClaim'],
): Promise<{ claim: ClaimFacts | null; usedBy?: readonly string[] }> {
  const { begin, namespace, name, uid, spec, from, patienceMs, known, isPatient = false, allowsUse = false } = request;
  const of = { namespace, name, uid };
  const work = await holdWork(tools, { ...of, begin });
  const key = keyOf(request);
  const waits = await waitsForConsumer(tools, spec.storageClass);
  let looks = 0;
  let usedBy: readonly string[] = [];
  const isUsed = async (): Promise<boolean> => {
    const isObserved = looks === 1 && isJustObserved(tools);
    if (from?.kind === 'pvc' && !allowsUse && !isObserved)
      usedBy = await readSourceUsers(tools, { namespace: key.namespace, name: from.name });
    return usedBy.length > 0;
  };
  const make = async (): Promise<Claim | null> => ((await isUsed()) ? null : await makeClaim(tools, work, request));
  const look = async (): Promise<SeenClaim | null> => {
    looks += 1;
    const found = (await tools.client.get(claims, key, tools.scope.signal)) ?? (await make());
    await work.say();
    return found === null ? null : await seeClaim(tools, found, uid);
  };
  const seen = await awaitFact(tools, {
    patienceMs,
    patientFor: isPatient ? `PVC ${key.namespace}/${key.name} to be bound` : undefined,
    look,
    isOver: (found) => {
      if (found === null) return usedBy.length > 0;
      const { owner, deleting, phase, problem, hasNode } = found.claim;
      return owner !== 'volume' || deleting || phase !== 'Pending' || isNews(problem, known) || (waits && !hasNode);
    },
    watched,
  });
  if (seen === null && usedBy.length > 0) return { claim: null, usedBy };
  if (seen === null)
    throw droverFailure('ObjectConflict', `PersistentVolumeClaim ${key.namespace}/${key.name} comes and goes`);
  return { claim: seen.claim };
}

function keyOf({ namespace, name, uid, temporaryIn, isCopied = false }: ClaimToMake) {
  if (temporaryIn === null) return { namespace, name };
  return { namespace: temporaryIn, name: isCopied ? temporaryNames.restored(uid) : temporaryNames.claim(uid) };
}

type ClaimToMake = OfVolume &
  Pick<Requests['ensureClaim'], 'temporaryIn' | 'isCopied' | 'from' | 'spec' | 'cloneDepth'>;

/**
 * @returns null: one of that name is there meanwhile
 * @throws ObjectConflict where the volume is on its way to the target
 */
export async function makeClaim(
  tools: VolumeTools,
  work: Pick<HeldWork, 'live'>,
  request: ClaimToMake,
): Promise<Claim | null> {
  const { client, scope } = tools;
  const { temporaryIn, from, spec, cloneDepth, namespace, name, uid } = request;
  const volume = await work.live();
  // A worker that was thought dead would make a second volume.
  if (temporaryIn !== null) {
    const transfer = await client.get(resources.ObjectTransfer, { name: temporaryNames.transfer(uid) }, scope.signal);
    if (transfer !== null)
      throw droverFailure('ObjectConflict', `The volume of DataVolume ${namespace}/${name} is on its way already`);
  }
  if (from?.kind === 'pvc') await checkSource(tools, { ...from, namespace: temporaryIn ?? namespace });
  const metadata =
    temporaryIn === null
      ? targetMetadata(volume, spec.volumeMode, cloneDepth)
      : temporaryMetadata(volume, keyOf(request), cloneDepth);
  return await createObject(
    tools,
    claims,
    { metadata, spec: claimSpecOf(spec, from) },
    from === null ? 'it is to be filled' : `it is cloned from ${from.kind} ${from.name}`,
  );
}

/** Grown where it is smaller; one that is none of the DataVolume's is returned as it is. */
export async function expandClaim(
  tools: VolumeTools,
  { begin, namespace, name, uid, claim: of, ...request }: Requests['expandClaim'],
): Promise<{ claim: ClaimFacts }> {
  const { requestBytes, patienceMs, known, isPatient = false } = request;
  await beginWork(tools, { namespace, name, uid, begin });
  const look = async (): Promise<SeenClaim> => {
    const found = await retryConflicts(async () => {
      const current = await getClaim(tools, of.namespace, of.name);
      const isOurs = ownerOf(current, uid) === 'volume';
      return isOurs && requestBytesOf(current) < requestBytes ? await grow(tools, current, requestBytes) : current;
    });
    return await seeClaim(tools, found, uid);
  };
  const { claim } = await awaitFact(tools, {
    patienceMs,
    patientFor: isPatient ? `PVC ${of.namespace}/${of.name} to be expanded` : undefined,
    look,
    isOver: ({ claim: { owner, deleting, capacityBytes, waitsForFileSystem, problem, phase } }) =>
      owner !== 'volume' ||
      deleting ||
      phase === 'Lost' ||
      waitsForFileSystem ||
      isNews(problem, known) ||
      (capacityBytes ?? 0) >= requestBytes,
    watched,
  });
  return { claim };
}

const grow = (tools: VolumeTools, claim: Claim, requestBytes: number): Promise<Claim> => {
  const before = claim.spec.resources?.requests?.storage ?? '';
  const storage = quantityText(requestBytes);
  return patchObject(tools, claims, versionOf(claim.metadata), {
    change: { spec: { resources: { requests: { storage } } } },
    before,
    cause: 'the DataVolume asks for more than its source has',
  });
};

/** The DataVolume controls it from then on: it goes with it. One that another object controls is returned as it is. */
export async function adoptClaim(
  tools: VolumeTools,
  { begin, ...of }: Requests['adoptClaim'],
): Promise<{ claim: ClaimFacts }> {
  const volume = await beginWork(tools, { namespace: of.namespace, name: of.name, uid: of.uid, begin });
  const claim = await retryConflicts(() => adoptOnce(tools, of, volume));
  return { claim: claimFacts(claim, of.uid, null) };
}

async function adoptOnce(tools: VolumeTools, { namespace, name }: OfVolume, volume: DataVolume): Promise<Claim> {
  const found = await getClaim(tools, namespace, name);
  const { ownerReferences = [], annotations, deletionTimestamp } = found.metadata;
  const isTaken = ownerReferences.some(({ controller }) => controller === true);
  if (isTaken || deletionTimestamp !== undefined) return found;
  const others = ownerReferences.filter(({ uid }) => uid !== volume.metadata.uid);
  return await patchObject(tools, claims, versionOf(found.metadata), {
    change: {
      metadata: {
        ownerReferences: [...others, controllerOf(volume)],
        annotations: { [volumeAnnotations.populatedFor]: name },
      },
    },
    before: { ownerReferences, populatedFor: annotations?.[volumeAnnotations.populatedFor] ?? null },
    cause: 'its DataVolume adopts it',
  });
}

/**
 * As Kubernetes' garbage collector does. It misses a DataVolume that was deleted and made again while its watch was
 * down, as when kube-apiserver is started again: the claim would stay until the collector itself starts again.
 */
export async function removePredecessor(
  tools: VolumeTools,
  { begin, ...of }: Requests['removePredecessor'],
): Promise<{ claim: ClaimFacts | null }> {
  const { namespace, name, uid } = of;
  await beginWork(tools, { namespace, name, uid, begin });
  const get = (): Promise<Claim | null> => tools.client.get(claims, { namespace, name }, tools.scope.signal);
  const claim = await retryConflicts(async () => {
    const found = await get();
    if (found === null || found.metadata.deletionTimestamp !== undefined) return found;
    if (ownerOf(found, uid) !== 'predecessor') return found;
    await deleteObject(tools, claims, found, 'its DataVolume is gone');
    return await get();
  });
  return { claim: claim && claimFacts(claim, uid, null) };
}

import type { DataVolume } from '../../../contracts/crds/data-volume.ts';
import type {
  ClaimSpec,
  ClassFacts,
  ClaimedVolume,
  DataVolumeInput,
  DesiredVolume,
  ObservedVolume,
  VolumeObservation,
  VolumeProblem,
} from '../../../contracts/data-volume/data-volume.ts';
import { temporaryNames } from '../../../contracts/data-volume/metadata.ts';
import { readDataVolume, readRecordedVolume } from '../../../contracts/data-volume/read-data-volume.ts';
import { chooseClass, isProblem, renderClaim } from '../../../contracts/data-volume/render-claim.ts';
import { overheadOf } from '../../../contracts/data-volume/size.ts';
import { dataVolumeId } from '../../../contracts/ids.ts';
import { dataVolumeKind } from '../../../contracts/kinds/data-volume.ts';
import { digestOfRead } from '../../../contracts/kinds/digest.ts';
import { modeOf, pendingRetry } from '../../../contracts/kinds/requests.ts';
import type { Unobserved } from '../../../contracts/runs.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { type Claim, type Snapshot, storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { readDataVolumeInput } from '../../lib/input.ts';
import { recordReads } from '../lib/record-reads.ts';
import { describeClaim } from './claim-problem.ts';
import { wasPermitted } from './clone-permission.ts';
import { describeJob } from './copy-job.ts';
import type { OfVolume, VolumeTools } from './dependencies.ts';
import { findTransfer, isTransferOf } from './object-transfer.ts';
import { recordedClaim } from './recorded-source.ts';
import { type ResolvedSource, resolveSource } from './resolve-source.ts';
import { findSnapshotFor } from './snapshot-users.ts';
import { readSourceUsers } from './source-users.ts';
import { describeClass, readProfile, readStorageWorld, type StorageWorld } from './storage-classes.ts';
import { snapshotFacts, transferFacts } from './volume-facts.ts';

const nothing: ObservedVolume['temporary'] = { snapshot: null, claim: null, restored: null, transfer: null, job: null };

const unknown: ObservedVolume = {
  source: null,
  permission: 'notNeeded',
  claimSpec: null,
  class: null,
  problem: null,
  target: null,
  temporary: nothing,
  chosen: null,
  strategyOverride: null,
  recorded: { phase: '', progress: '', claimName: null, conditions: [], event: null, sinceMs: null },
};

export async function observeDataVolume(
  tools: VolumeTools,
  input: DataVolumeInput,
): Promise<VolumeObservation | Unobserved> {
  const { client, settings, namespaces, scope } = tools;
  const { namespace, name } = readDataVolumeInput(input);
  if (settings === null)
    return {
      kind: 'nothing',
      message: `DataVolumes are switched off in drover’s settings (modes.DataVolume); ${namespace}/${name} is left as it is`,
    };
  if (namespaces.length > 0 && !namespaces.includes(namespace))
    return {
      kind: 'nothing',
      message: `drover’s settings have no DataVolumes in ${namespace} (dataVolumes.namespaces); ${namespace}/${name} is left as it is`,
    };
  const workflowId = dataVolumeId(namespace, name, settings.cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart({ namespace, name });
    return { kind: 'handedOver', message: `Run ${workflowId} drives ${namespace}/${name}` };
  }
  const object = await client.get(resources.DataVolume, { namespace, name }, scope.signal);
  if (object === null)
    return { kind: 'observed', digest: null, settings, desired: null, observed: unknown, retry: null };
  const { desired, problem } = readDataVolume(object);
  const { client: recording, read } = recordReads(client);
  const observed = await observe({ ...tools, client: recording }, object, desired, problem);
  return {
    kind: 'observed',
    digest: digestOfRead(dataVolumeKind, object, read),
    settings: { ...settings, mode: modeOf(object, settings.mode) },
    retry: pendingRetry(object),
    desired,
    observed: { ...observed, recorded: readRecordedVolume(object) },
  };
}

/**
 * A source elsewhere is looked at in the name of the user who created the DataVolume: not at all where it is not known
 * that they may.
 */
async function observe(
  tools: VolumeTools,
  object: DataVolume,
  desired: DesiredVolume,
  problem: VolumeProblem | null,
): Promise<ObservedVolume> {
  const { namespace = '', name } = object.metadata;
  const of = { namespace, name, uid: desired.uid, createdMs: desired.createdMs };
  const claimed = recordedClaim(object);
  const chosen = claimed === null ? null : { strategy: claimed.strategy, fallbackReason: claimed.fallbackReason };
  const target = await observeTarget(tools, of);
  const base: ObservedVolume = { ...unknown, chosen, target, problem };
  if (desired.deleting || problem !== null || desired.foreignSource !== '')
    return { ...base, temporary: await observeTemporary(tools, of, claimed) };
  const isDone = target?.isCloned === true || desired.prePopulatedBy !== null;
  const permission = await readPermission(tools, namespace, desired, isDone);
  const resolved: ResolvedSource | VolumeProblem | null =
    permission === 'unknown' ? null : await resolveSource(tools, namespace, desired.source, claimed);
  const world = await readStorageWorld(tools);
  const [rendered, temporary, source] = await Promise.all([
    renderTarget(tools, object, world),
    observeTemporary(tools, of, claimed),
    resolved === null || isProblem(resolved)
      ? namedSource(permission, claimed?.source ?? desired.source)
      : observeSource(tools, resolved, world, of, isDone),
  ]);
  return {
    ...base,
    ...rendered,
    permission,
    temporary,
    source,
    problem: (resolved !== null && isProblem(resolved) ? resolved : null) ?? rendered.problem,
    strategyOverride: world.strategyOverride,
  };
}

/** One that is not looked at: no more than what the DataVolume names. */
function namedSource(
  permission: ObservedVolume['permission'],
  source: DesiredVolume['source'],
): ObservedVolume['source'] {
  if (permission !== 'unknown' || source === null || source.kind === 'blank') return null;
  const { kind, namespace, name } = source;
  return kind === 'snapshot'
    ? { kind, namespace, name, snapshot: null, restoresBy: null }
    : { kind: 'pvc', namespace, name, claim: null, class: null, usedBy: [], isPopulated: false };
}

async function readPermission(
  tools: VolumeTools,
  namespace: string,
  { source, createdMs }: DesiredVolume,
  isDone: boolean,
): Promise<ObservedVolume['permission']> {
  if (isDone || source === null || source.kind === 'blank' || source.namespace === namespace) return 'notNeeded';
  return (await wasPermitted(tools, createdMs)) ? 'granted' : 'unknown';
}

async function observeTarget(
  tools: VolumeTools,
  { namespace, name, uid }: OfVolume,
): Promise<ObservedVolume['target']> {
  const { client, scope } = tools;
  const found = await client.get(storageResources.PersistentVolumeClaim, { namespace, name }, scope.signal);
  return found === null ? null : await describeClaim(tools, found, uid);
}

async function renderTarget(
  tools: VolumeTools,
  { spec }: DataVolume,
  world: StorageWorld,
): Promise<{ claimSpec: ClaimSpec | null; class: ClassFacts | null; problem: VolumeProblem | null }> {
  const storageClass = chooseClass(spec, world.classes);
  if (isProblem(storageClass)) return { claimSpec: null, class: null, problem: storageClass };
  const profile = await readProfile(tools, world, storageClass);
  const facts = await describeClass(tools, storageClass, profile);
  const { name } = storageClass.metadata;
  const overhead = overheadOf(world.overheads, name);
  const claimSpec = renderClaim({ spec, storageClass: name, profile, overhead });
  return isProblem(claimSpec)
    ? { claimSpec: null, class: facts, problem: claimSpec }
    : { claimSpec, class: facts, problem: null };
}

async function observeSource(
  tools: VolumeTools,
  resolved: ResolvedSource,
  world: StorageWorld,
  { uid }: OfVolume,
  isDone: boolean,
): Promise<ObservedVolume['source']> {
  if (resolved.kind === 'blank') return { kind: 'blank' };
  const { client, scope } = tools;
  const { namespace, name } = resolved;
  const isIt = (found: { metadata: { uid: string } } | null): boolean =>
    found !== null && (resolved.uid === null || found.metadata.uid === resolved.uid);
  if (resolved.kind === 'snapshot') {
    const snapshot = await client.get(storageResources.VolumeSnapshot, { namespace, name }, scope.signal);
    if (snapshot === null || !isIt(snapshot))
      return { kind: 'snapshot', namespace, name, snapshot: null, restoresBy: null };
    const described = await describeSnapshot(tools, snapshot);
    const restoresBy = isDone ? null : await findRestoringClass(tools, world, snapshot, described.driver);
    return { kind: 'snapshot', namespace, name, snapshot: described, restoresBy };
  }
  const claim = await client.get(storageResources.PersistentVolumeClaim, { namespace, name }, scope.signal);
  if (claim === null || !isIt(claim))
    return { kind: 'pvc', namespace, name, claim: null, class: null, usedBy: [], isPopulated: false };
  const storageClass = world.classes.find(({ metadata }) => metadata.name === claim.spec.storageClassName);
  const [described, facts, usedBy, populated] = await Promise.all([
    describeClaim(tools, claim, uid),
    storageClass === undefined
      ? null
      : readProfile(tools, world, storageClass).then((profile) => describeClass(tools, storageClass, profile)),
    isDone ? [] : readSourceUsers(tools, { namespace, name }),
    isDone || isPopulated(tools, claim),
  ]);
  return { kind: 'pvc', namespace, name, claim: described, class: facts, usedBy, isPopulated: populated };
}

/** What belongs to another DataVolume is filled by that. */
async function isPopulated({ client, scope }: VolumeTools, { metadata }: Claim): Promise<boolean> {
  const owner = metadata.ownerReferences?.find(({ kind, controller }) => kind === 'DataVolume' && controller === true);
  if (owner === undefined) return true;
  const { namespace } = metadata;
  const volume = await client.get(resources.DataVolume, { namespace, name: owner.name }, scope.signal);
  return volume?.metadata.uid !== owner.uid || volume.status?.phase === 'Succeeded';
}

async function describeSnapshot({ client, scope }: VolumeTools, snapshot: Snapshot) {
  const name = snapshot.status?.boundVolumeSnapshotContentName;
  const content = name ? await client.get(storageResources.VolumeSnapshotContent, { name }, scope.signal) : null;
  return snapshotFacts(snapshot, content);
}

/**
 * The class of the volume that it was cut of, where that is of its driver still: a driver need not restore into what
 * others are made of.
 */
async function findRestoringClass(
  { client, scope }: VolumeTools,
  { classes }: StorageWorld,
  { metadata: { namespace = '' }, spec }: Snapshot,
  driver: string | null,
): Promise<Extract<NonNullable<ObservedVolume['source']>, { kind: 'snapshot' }>['restoresBy']> {
  const own = classes
    .filter(({ provisioner }) => provisioner === driver)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const name = spec.source.persistentVolumeClaimName;
  const claim =
    own.length > 1 && name !== undefined
      ? await client.get(storageResources.PersistentVolumeClaim, { namespace, name }, scope.signal)
      : null;
  const found = own.find(({ metadata }) => metadata.name === claim?.spec.storageClassName) ?? own[0];
  return found === undefined
    ? null
    : { name: found.metadata.name, waitsForConsumer: found.volumeBindingMode === 'WaitForFirstConsumer' };
}

/** What was made for the clone; before it has begun there is nothing. */
async function observeTemporary(
  tools: VolumeTools,
  of: OfVolume & { createdMs: number },
  claimed: ClaimedVolume | null,
): Promise<ObservedVolume['temporary']> {
  if (claimed === null) return nothing;
  const { client, scope } = tools;
  const { source, strategy } = claimed;
  const { namespace, uid: sourceUid } = source;
  const isElsewhere = namespace !== of.namespace;
  const getClaim = (name: string) =>
    client.get(storageResources.PersistentVolumeClaim, { namespace, name }, scope.signal);
  const [snapshot, claim, restored, transfer, job] = await Promise.all([
    source.kind === 'pvc' ? findSnapshotFor(tools, of, { namespace, sourceUid }) : null,
    isElsewhere ? getClaim(temporaryNames.claim(of.uid)) : null,
    source.kind === 'snapshot' && strategy === 'copy' ? getClaim(temporaryNames.restored(of.uid)) : null,
    isElsewhere ? findTransfer(tools, of) : null,
    strategy === 'copy'
      ? client.get(storageResources.Job, { namespace, name: temporaryNames.job(of.uid) }, scope.signal)
      : null,
  ]);
  return {
    snapshot: snapshot === null ? null : snapshotFacts(snapshot, null),
    claim: claim === null ? null : await describeClaim(tools, claim, of.uid),
    restored: restored === null ? null : await describeClaim(tools, restored, of.uid),
    transfer: transfer !== null && isTransferOf(transfer, of.uid) ? transferFacts(transfer) : null,
    job: job === null ? null : await describeJob(tools, job),
  };
}

import { isIsoFile, isoPartOf, type IsoVersion } from '../../../contracts/agent-pool/iso.ts';
import { recordedIsoOf, wantedIsoPaths } from '../../../contracts/agent-pool/read-iso.ts';
import { isError } from '../../../runtime/is-error.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { redactedStart } from '../../../runtime/redaction.ts';
import { announce } from '../../kubernetes/lib/write-event.ts';
import { mutate } from '../../lib/mutate.ts';
import { findUsedIsos } from '../vcenter/marked-vms.ts';
import type { IsoTools, PoolOfIso } from './iso-tools.ts';

/** All VMs of a vCenter are asked for their drives: that is not done every few minutes for what stays anyway. */
const scanEveryMs = 3_600_000;

/**
 * Removes versions that the pool does not keep, where no other pool wants them and no VM has them in a drive. What
 * cannot be known counts against it, and a failure does not hold up what the ISO is for.
 *
 * @returns those that stay for now
 * @throws the cancel of the activity
 */
export async function pruneIsos(
  tools: IsoTools,
  of: PoolOfIso,
  currentPath: string | null,
  surplus: readonly IsoVersion[],
): Promise<IsoVersion[]> {
  const { clock, scannedMs, scope } = tools;
  const { uid } = of.pool.metadata;
  const scanned = scannedMs.get(uid);
  if (scanned !== undefined && clock.monotonicMs() - scanned < scanEveryMs) return [...surplus];
  try {
    const { left } = await removeUnused(tools, of, currentPath, surplus);
    if (left.length > 0) scannedMs.set(uid, clock.monotonicMs());
    return left;
  } catch (error) {
    scope.signal.throwIfAborted();
    await sayStaying(tools, of, 'it is not known who uses them', error);
    return [...surplus];
  }
}

/**
 * One after another; what fails with one of them is said in the pool, and holds up none of the others.
 *
 * @returns those that stay, in the order of `surplus`, and what failed
 * @throws where it is not known who uses them
 */
export async function removeUnused(
  tools: IsoTools,
  of: PoolOfIso,
  currentPath: string | null,
  surplus: readonly IsoVersion[],
): Promise<{ left: IsoVersion[]; failures: unknown[] }> {
  // A file of another name is none that drover has put there, whichever client wrote it into the status.
  const own = surplus.filter((one) => isIsoFile(one) && one.path !== currentPath);
  const wanted = await wantedByOthers(tools, of.pool.metadata.uid);
  const idle = own.filter(({ path }) => !wanted.has(path));
  const inUse = idle.length === 0 ? new Set<string>() : await inDrives(tools, of, idle);
  const left: IsoVersion[] = [];
  const failures: unknown[] = [];
  for (const version of own) {
    const file = of.store.nameOf(version.path);
    const isInUse = inUse.has(file);
    if (isInUse) await say(tools, of, file, 'it is in a drive of a VM, or may be');
    const stays = isInUse || wanted.has(version.path);
    try {
      // Of an upload that was cut: no other pool has it, and no VM.
      await removePart(tools, of, isoPartOf(version, of.pool.metadata.uid));
      if (!stays) await remove(tools, of, version);
    } catch (error) {
      tools.scope.signal.throwIfAborted();
      await sayStaying(tools, of, file, error);
      left.push(version);
      failures.push(error);
      continue;
    }
    if (stays) left.push(version);
  }
  return { left: surplus.filter((one) => left.includes(one)), failures };
}

/**
 * Says what stays in the datastore that the pool named before: it may be in use there, drover may not reach it any
 * more, and what is not in the datastore of now would pass for removed.
 *
 * @returns whether its versions are in another datastore
 */
export async function sayElsewhere(
  tools: Pick<IsoTools, 'client' | 'scope' | 'clock'>,
  of: Pick<PoolOfIso, 'pool' | 'store'>,
): Promise<boolean> {
  const { datastore, current, history } = recordedIsoOf(of.pool);
  if (datastore === null || datastore === of.store.where) return false;
  const paths = new Set([...(current === null ? [] : [current]), ...history].map(({ path }) => path));
  const why = `the pool names another datastore now; remove them from ${datastore} when no VM has them in its drive`;
  await say(tools, of, [...paths].join(', '), why);
  return true;
}

/** Of every namespace: without all of them, nothing is known. */
async function wantedByOthers({ client, scope }: IsoTools, uid: string): Promise<Set<string>> {
  const pools = await client.list(resources.VsphereAgentPool, {}, scope.signal);
  // One that is being deleted makes no VM any more; what its VMs have in their drives stays.
  const others = pools.filter(({ metadata }) => metadata.uid !== uid && metadata.deletionTimestamp === undefined);
  return new Set(others.flatMap(wantedIsoPaths));
}

async function inDrives(
  { scope }: IsoTools,
  { vcenter, store }: PoolOfIso,
  versions: readonly IsoVersion[],
): Promise<Set<string>> {
  const names = versions.map(({ path }) => store.nameOf(path));
  const { used, unknown } = await findUsedIsos(vcenter, names, scope.signal);
  return new Set(unknown.length > 0 ? names : used);
}

async function removePart(tools: IsoTools, of: PoolOfIso, path: string): Promise<void> {
  const sizeBytes = await of.store.find(path);
  if (sizeBytes !== null) await remove(tools, of, { path, sizeBytes });
}

function remove(
  tools: IsoTools,
  of: PoolOfIso,
  { path, sizeBytes }: Pick<IsoVersion, 'path' | 'sizeBytes'>,
): Promise<void> {
  const { pool, vcenter, store, cause } = of;
  const { namespace = '', name } = pool.metadata;
  return mutate(
    tools,
    {
      action: 'removeIso',
      object: `agentpool/${namespace}/${name}`,
      cause,
      before: { vcenter: vcenter.settings.name, file: store.nameOf(path), sizeBytes },
      after: null,
    },
    () => store.remove(path),
  );
}

const wordsOf = (error: unknown): string => redactedStart(isError(error) ? error.message : String(error), 500);

export const sayStaying = (
  tools: Pick<IsoTools, 'client' | 'scope' | 'clock'>,
  of: Pick<PoolOfIso, 'pool'>,
  what: string,
  error: unknown,
): Promise<void> => say(tools, of, what, wordsOf(error));

const say = (
  tools: Pick<IsoTools, 'client' | 'scope' | 'clock'>,
  { pool }: Pick<PoolOfIso, 'pool'>,
  what: string,
  why: string,
): Promise<void> => {
  const { namespace = '', name, uid } = pool.metadata;
  return announce(
    tools,
    {
      regarding: { resource: resources.VsphereAgentPool, namespace, name, uid },
      type: 'Warning',
      reason: 'ISOPruneFailed',
      message: `Old ISOs stay: ${what}: ${why}`,
    },
    [uid, what, why],
  );
};

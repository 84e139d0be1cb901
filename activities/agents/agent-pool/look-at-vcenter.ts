import type { HeldAgent, ObservedPool } from '../../../contracts/agent-pool/agent-pool.ts';
import { approvalOf } from '../../../contracts/agent-pool/approvals.ts';
import { agentPoolAnnotations, agentPoolConditions } from '../../../contracts/agent-pool/metadata.ts';
import { readPool } from '../../../contracts/agent-pool/pool-facts.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { VsphereAgent } from '../../../contracts/crds/vsphere-agent.ts';
import { withTimeout } from '../../../runtime/clock.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';
import { passingProblem, vcenterProblem } from '../vcenter/pool-vcenters.ts';
import type { MarkedVm } from '../vcenter/marked-vms.ts';
import type { AgentPoolTools, Look, SeenInventory } from './dependencies.ts';

/**
 * A pool is observed with each change of an Agent; what its vCenter has of it changes seldom, and each VM is looked at
 * by its own run.
 */
const lookEveryMs = 60_000;
/** Where it could not be looked at. */
const againMs = 30_000;
/** All else that the pool needs waits for it. */
const longestLookMs = 30_000;

/** @param mayBeOld false: as it is right now */
export async function lookAtVcenter(tools: AgentPoolTools, pool: VsphereAgentPool, mayBeOld = true): Promise<Look> {
  const { looks, clock } = tools;
  const { uid } = pool.metadata;
  // After a refresh it is another one, or there again.
  const iso = JSON.stringify([pool.status?.iso?.path, pool.status?.iso?.checkedAt]);
  const last = looks.get(uid);
  const nowMs = clock.now();
  const isFresh = last !== undefined && last.iso === iso && nowMs >= last.atMs && nowMs < last.look.nextMs;
  if (isFresh && mayBeOld) return { ...last.look, isOld: true };
  looks.delete(uid);
  const look = await lookNow(tools, pool);
  // What fails at once holds nothing up, and may be mended the next moment.
  if (look.seen !== null || clock.now() - nowMs >= longestLookMs) looks.set(uid, { atMs: nowMs, iso, look });
  forget(looks, nowMs);
  return look;
}

async function lookNow({ inventory, clock, scope }: AgentPoolTools, pool: VsphereAgentPool): Promise<Look> {
  const nowMs = clock.now();
  try {
    const seen = await withTimeout(clock, longestLookMs, async (overdue) => {
      const signal = AbortSignal.any([scope.signal, overdue]);
      try {
        return await unlessAborted(inventory.look(pool, signal), signal);
      } catch (error) {
        scope.signal.throwIfAborted();
        if (!overdue.aborted) throw error;
        throw droverFailure(
          'VsphereUnavailable',
          `The vCenter of the pool, or its datastore of ISOs, has not answered within ${longestLookMs / 1_000} s`,
        );
      }
    });
    return { seen, isOld: false, problem: null, nextMs: nowMs + lookEveryMs };
  } catch (error) {
    // What its vCenter cannot say now holds up what it is needed for, and nothing else.
    const found = vcenterProblem(error) ?? passingProblem(error);
    if (found === null) throw error;
    const problem = { condition: agentPoolConditions.vsphere, ...found };
    return { seen: null, isOld: false, problem, nextMs: clock.now() + againMs };
  }
}

function forget(looks: AgentPoolTools['looks'], nowMs: number): void {
  for (const [uid, { look }] of looks) if (nowMs >= look.nextMs) looks.delete(uid);
}

/** Younger ones may be of a VsphereAgent that was not there when it was asked. */
const strayAfterMs = 30 * 60_000;
/** What they wait for where their pool is being deleted. */
export const strayAge = 'StrayAge';

/**
 * VMs with the mark of this very pool, and no VsphereAgent. One whose pool is not known is no stray.
 *
 * @param vsphereAgents read after the VMs
 */
function findStrays(
  vms: readonly MarkedVm[],
  vsphereAgents: readonly VsphereAgent[],
  { pool, cluster, nowMs }: { pool: VsphereAgentPool; cluster: string; nowMs: number },
): { old: MarkedVm[]; young: MarkedVm[] } {
  const uids = new Set(vsphereAgents.map(({ metadata }) => metadata.uid.toLowerCase()));
  const found = vms
    .filter((vm) => vm.poolUid === pool.metadata.uid && vm.cluster === cluster && !uids.has(vm.uid.toLowerCase()))
    .toSorted((one, other) => (one.vmId < other.vmId ? -1 : 1));
  // One whose age is not known waits for a user, who need not wait for it to be old.
  const isOld = ({ createdMs }: MarkedVm): boolean => createdMs === null || nowMs - createdMs >= strayAfterMs;
  return { old: found.filter(isOld), young: found.filter((vm) => !isOld(vm)) };
}

export interface JudgedStrays {
  /** They go. */
  strays: MarkedVm[];
  held: HeldAgent[];
}

/**
 * Strays of a pool that deletes. After an older state of the cluster was restored, VMs that are in use look like
 * strays: one that is on waits for a user, and so does one whose age vCenter does not know. A pool that is being deleted
 * waits until the young ones can be judged, too.
 */
export function judgeStrays(
  vms: readonly MarkedVm[],
  vsphereAgents: readonly VsphereAgent[],
  around: { pool: VsphereAgentPool; cluster: string; nowMs: number },
): JudgedStrays {
  const { approved, deleting, deletes, force, name } = readPool(around.pool);
  const { old: strays, young } = deletes ? findStrays(vms, vsphereAgents, around) : { old: [], young: [] };
  const mayGo = (vm: MarkedVm): boolean =>
    (!vm.isOn && vm.createdMs !== null) || approved.includes(approvalOf(vm)) || (deleting && force);
  return {
    strays: strays.filter(mayGo),
    held: [
      ...strays
        .filter((vm) => !mayGo(vm))
        .map((vm) => ({
          name: vm.name,
          cause: 'Stray' as const,
          waitsFor: 'ApprovalRequired',
          message: `VM ${vm.name} has the mark of the pool and no VsphereAgent, and ${vm.isOn ? 'it is on: power it off' : 'vCenter does not know how old it is: destroy it'} if it is not used, or annotate VsphereAgentPool ${name} with ${agentPoolAnnotations.approvedDeletions}, a list with ${approvalOf(vm)}`,
        })),
      ...(deleting ? young : []).map((vm) => ({
        name: vm.name,
        cause: 'Stray' as const,
        waitsFor: strayAge,
        message: `VM ${vm.name} has the mark of the pool and no VsphereAgent, and it is younger than ${strayAfterMs / 60_000} minutes: its VsphereAgent may not be known yet; it is looked at again`,
      })),
    ],
  };
}

const gibibyte = 1024 ** 3;

/** Thin disks grow: so much of the datastore cluster stays free, and room for one disk more. */
export function judgeSpace(
  { space }: Pick<SeenInventory, 'space'>,
  { spec }: VsphereAgentPool,
  freeSpacePercent: number,
): ObservedPool['limits']['freeSpace'] {
  const { name, freeBytes, capacityBytes, largestFreeBytes } = space;
  const diskBytes = spec.template.diskGiB * gibibyte;
  const free = `${Math.floor(freeBytes / gibibyte)} GiB of ${Math.floor(capacityBytes / gibibyte)} GiB are free in datastore cluster ${name}`;
  if (freeBytes * 100 < capacityBytes * freeSpacePercent)
    return {
      condition: agentPoolConditions.capacity,
      reason: 'DatastoreClusterFull',
      message: `${free}, and ${freeSpacePercent} % must be: make room, or add a datastore`,
    };
  if (largestFreeBytes < diskBytes)
    return {
      condition: agentPoolConditions.capacity,
      reason: 'DatastoreClusterFull',
      message: `${free}, and no datastore of it has room for a disk of ${spec.template.diskGiB} GiB: make room, or add a datastore`,
    };
  return null;
}

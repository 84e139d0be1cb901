import { type Kind, kindTable } from '../../../contracts/kinds/table.ts';
import { annotations, evictionId, maintenanceReasonPrefix, nodeMetadata } from '../../../contracts/ids.ts';
import { asSignal, messages } from '../../../contracts/messages.ts';
import { findCondition } from '../../../contracts/conditions.ts';
import type { Condition } from '../../../contracts/conditions.ts';
import { readRecordedPolicy } from '../../../contracts/resource-policy/read-resource-policy.ts';
import { virtualMachineConditions } from '../../../contracts/virtual-machine/conditions.ts';
import { listServices } from '../../../lab/openstack/hosts.ts';
import { lifecycleOf } from '../../faults/hypervisor-objects.ts';
import { judgeService } from '../../faults/judge-hypervisor.ts';
import type { StoredObject } from '../../fakes/kubernetes/stored-object.ts';
import type { Cast } from './cast.ts';
import { kvmPath, nodePath, patch, remove, run, sessionOf, vmPath } from './cast.ts';
import { endDisruptions } from './disruptions.ts';
import { activate, recoverHost, setService, stopCompute } from './hypervisors.ts';
import { createPolicy } from './virtual-machines.ts';

/** The end of a schedule: all is whole again, and everything has to come to its end, and to be what its users want. */

/** From when all is whole again. */
const patienceMs = 40 * 60_000;
const pollMs = 10_000;
const pollsPerJudgement = 12;

/** What does not hold of the invariants. */
type Judge = () => Promise<string[]>;
const settlingMs = 60_000;

/** What is never over: it only waits. */
const systemRuns = /^(limits|vcenter|guest-watch|hypervisor-drift)\//u;

/**
 * Systems, machines and clocks are as they should be; the user who paused an eviction resumes it, and corrects what is
 * wrong in it.
 */
export async function makeWhole(cast: Cast): Promise<void> {
  await endDisruptions(cast);
  for (const host of cast.machines) await recoverHost(cast, host);
  // Before a user acts on what objects say, drover hears of what has changed.
  await cast.deployment.simulation.clock.sleep(settlingMs);
  for (const host of [...cast.hosts, ...cast.machines])
    await run(cast, evictionId(host))
      .signal(asSignal(messages.resume), { by: 'schedule' })
      .catch(() => undefined);
  for (const { metadata } of cast.deployment.kubernetes.objects(kindTable.Eviction.plural))
    await patch(cast, kvmPath('evictions', metadata.name), {
      metadata: { annotations: { [annotations.parallelism]: null } },
    });
  for (const object of cast.deployment.kubernetes.objects(kindTable.VirtualMachine.plural))
    await settlePolicyOf(cast, object);
}

/**
 * The policy that a virtual machine names is there, and asked for again where a user has cancelled its run; one that is
 * being deleted waits for the virtual machine to go.
 */
async function settlePolicyOf(cast: Cast, { metadata, spec }: StoredObject): Promise<void> {
  const { reserved } = (spec ?? {}) as { reserved?: { resourcePolicyName?: string } };
  const name = reserved?.resourcePolicyName;
  if (name === undefined || metadata.deletionTimestamp !== undefined) return;
  const policy = cast.deployment.kubernetes.object(kindTable.VirtualMachineSetResourcePolicy.plural, { ...cast, name });
  if (policy === null) await createPolicy(cast, name);
  else if (policy.metadata.deletionTimestamp !== undefined)
    await remove(cast, vmPath(cast, kindTable.VirtualMachine.plural, metadata.name));
  else if (readRecordedPolicy(policy as never).cancelled === policy.metadata.generation)
    await patch(cast, vmPath(cast, kindTable.VirtualMachineSetResourcePolicy.plural, name), {
      metadata: { annotations: { [annotations.retry]: 'settled' } },
    });
}

/** Every run that is not a system's ends, every object is reconciled or says why it is not. Returns what does not. */
export async function untilFinished(cast: Cast, judge: Judge): Promise<string[]> {
  const { simulation, kubernetes } = cast.deployment;
  return await untilNothingIsLeft(cast, judge, async () => {
    for (const host of cast.machines) await seeToCompute(cast, host);
    const open = simulation.openRuns().filter((id) => !systemRuns.test(id));
    const unsettled = Object.entries(kindTable).flatMap(([kind, { plural }]) =>
      kubernetes.objects(plural).flatMap((object) => {
        const isSettled = kindTable[kind as Kind].isReconciled(object as never, 'act');
        return isSettled ? [] : [`${kind} ${object.metadata.name} does not come to its end: ${describe(object)}`];
      }),
    );
    return [...(await Promise.all(open.map((id) => describeRun(cast, id)))), ...unsettled];
  });
}

/**
 * Users see to nova-compute: it runs where its host stays. The service of one that runs is not removed, so that it is
 * stopped when drover asks for that; and one that came back is not drover's to remove.
 */
async function seeToCompute(cast: Cast, host: string): Promise<void> {
  const object = cast.deployment.kubernetes.object('hypervisors', { name: host });
  const { maintenance } = (object?.['spec'] ?? {}) as { maintenance?: string };
  if (maintenance !== 'termination') return await recoverHost(cast, host);
  const { status, message } = lifecycleOf(object as never);
  if (status !== 'Unknown') return;
  if (/nova-compute .*(?:still answers|to be stopped)/u.test(message)) await stopCompute(cast, host);
  const [, stray] = /registered again, as service (\S+)/u.exec(message) ?? [];
  if (stray === undefined) return;
  await sessionOf(cast)
    .compute('DELETE', `/os-services/${stray}`)
    .catch(() => undefined);
}

/**
 * Everything is wanted again, and tried again where it says that a user has to: hypervisors with Nodes are in
 * service, virtual machines as their specs ask for them. Returns what is not.
 */
export async function untilInService(cast: Cast, judge: Judge): Promise<string[]> {
  const { kubernetes } = cast.deployment;
  for (const host of nodesOf(cast)) {
    await patch(cast, nodePath(host), { metadata: { labels: { [nodeMetadata.lifecycle]: 'skip-tests' } } });
    if (kubernetes.object('evictions', { name: host }) !== null) await remove(cast, kvmPath('evictions', host));
    await activate(cast, host);
    // What others have disabled, and what an Eviction has left so on purpose, is not drover's to enable.
    const service = (await listServices(sessionOf(cast))).find((one) => one.host === host);
    const reason = service?.disabled_reason ?? '';
    const isLeft = service?.status === 'disabled' && !reason.startsWith(maintenanceReasonPrefix);
    if (isLeft) await setService(cast, host, true);
  }
  return await untilNothingIsLeft(cast, judge, async () => [
    ...(await Promise.all(nodesOf(cast).map((host) => judgeHost(cast, host)))).flat(),
    ...(
      await Promise.all(kubernetes.objects(kindTable.VirtualMachine.plural).map((object) => judgeVm(cast, object)))
    ).flat(),
  ]);
}

const nodesOf = ({ deployment, machines }: Cast): string[] =>
  machines.filter((name) => deployment.kubernetes.object('nodes', { name }) !== null);

async function judgeHost(cast: Cast, host: string): Promise<string[]> {
  await recoverHost(cast, host);
  const object = cast.deployment.kubernetes.object('hypervisors', { name: host });
  if (object === null) return [`${host} has no Hypervisor`];
  const said = lifecycleOf(object as never);
  const isSettled = kindTable.Hypervisor.isReconciled(object as never, 'act');
  if (isSettled && said.status === 'False') await retry(cast, kvmPath('hypervisors', host), said);
  const isActive = isSettled && said.status === 'True' && said.reason === 'Active';
  if (!isActive) return [`${host} is not in service: ${describe(object)}`];
  return await judgeService({ session: sessionOf(cast) }, host);
}

async function judgeVm(cast: Cast, object: StoredObject): Promise<string[]> {
  const { name, deletionTimestamp } = object.metadata;
  const { conditions } = (object['status'] ?? {}) as { conditions?: Condition[] };
  const said = findCondition(conditions, virtualMachineConditions.lifecycle);
  const isSettled = kindTable.VirtualMachine.isReconciled(object as never, 'act');
  // Also a deletion that a user has cancelled goes on only when it is asked for again. What a stop held goes on by itself.
  if (isSettled && said?.status === 'False' && !/\bwas stopped by\b/u.test(said.message))
    await retry(cast, vmPath(cast, kindTable.VirtualMachine.plural, name), said);
  if (deletionTimestamp !== undefined) return [`VirtualMachine ${name} is being deleted: ${describe(object)}`];
  return isSettled && said?.status === 'True'
    ? []
    : [`VirtualMachine ${name} is not as its spec asks for it: ${describe(object)}`];
}

/** Once for each time that it became reconciled. */
const retry = (cast: Cast, path: string, said: Pick<Condition, 'lastTransitionTime'>): Promise<unknown> =>
  patch(cast, path, { metadata: { annotations: { [annotations.retry]: said.lastTransitionTime } } });

async function describeRun(cast: Cast, workflowId: string): Promise<string> {
  const progress = await run(cast, workflowId).query('progress').catch(String);
  return `run ${workflowId} does not end: ${JSON.stringify(progress)}`;
}

/** What it says of itself where it is not True. */
function describe(object: StoredObject): string {
  const { conditions = [] } = (object['status'] ?? {}) as { conditions?: Condition[] };
  const said = conditions.filter(({ status }) => status !== 'True');
  return said.map(({ type, reason, message }) => `${type} ${reason}: ${message}`).join('; ') || 'it says nothing';
}

/**
 * Looks until nothing is left, or for long enough, or until something does not hold; returns what is left
 * then, or that.
 */
async function untilNothingIsLeft(
  { deployment }: Cast,
  judge: Judge,
  look: () => Promise<string[]>,
): Promise<string[]> {
  const { clock } = deployment.simulation;
  const endMs = clock.nowMs + patienceMs;
  for (let polls = 1; ; polls += 1) {
    const left = await look();
    if (left.length === 0 || clock.nowMs > endMs) return left;
    // A run that does a thing again and again would do so until the end.
    const found = polls % pollsPerJudgement === 0 ? await judge() : [];
    if (found.length > 0) return [...found, ...left];
    await clock.sleep(pollMs);
  }
}

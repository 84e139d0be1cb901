import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { readDesired } from '../../contracts/hypervisor/read-hypervisor.ts';
import { hypervisorAnnotations, nodeFailureId } from '../../contracts/ids.ts';
import type { NodeFailureInput, ObservedNodeFailure } from '../../contracts/node-failure/activities.ts';
import type { PowerActivities, PowerState } from '../../contracts/node-failure/power.ts';
import { type Clock, withTimeout } from '../../runtime/clock.ts';
import type { HypervisorConfig } from '../../runtime/config/hypervisor-config.ts';
import { type NodeFailureConfig, handlingSettings } from '../../runtime/config/node-failure-config.ts';
import { failureCode } from '../../runtime/failure.ts';
import { isError } from '../../runtime/is-error.ts';
import type { KubernetesObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { redactedStart } from '../../runtime/redaction.ts';
import { nodes as nodeResource } from '../kubernetes/hypervisor/node-schema.ts';
import { readHold, userHoldOf } from '../kubernetes/hypervisor/observe-kubernetes.ts';
import type { FencingLog } from '../kubernetes/node-failure/claim-fencing.ts';
import { readNodeLease } from '../kubernetes/node-failure/node-lease.ts';
import { toNodeSign } from '../kubernetes/node-failure/node-sign.ts';
import type { ActivityScope } from '../lib/context.ts';
import { readHypervisorInput } from '../lib/input.ts';
import { withLibvirt } from '../libvirt/access.ts';
import type { NovaClient } from '../nova/types.ts';
import type { PlacementClient } from '../placement/types.ts';
import { hasBmc } from '../redfish/find-bmc.ts';
import { type ReadParts, composeObservation, serviceOf } from './compose-observation.ts';
import type { HostPorts } from './host-ports.ts';

export interface NodeFailureTools {
  nova: NovaClient;
  placement: PlacementClient;
  client: KubernetesObjects;
  config: NodeFailureConfig;
  libvirt: HypervisorConfig['libvirt'];
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  region: string;
  power: Pick<PowerActivities, 'observePower'>;
  readFencingLog: (signal: AbortSignal) => Promise<FencingLog>;
  /** Signals the host's own run, starting it if need be. */
  signalWithStart: (hypervisor: string, startedBy: string | null) => Promise<void>;
  scope: ActivityScope;
  clock: Clock;
  ports: Pick<HostPorts, 'connectLibvirt' | 'readText'>;
}

/** A system that has not answered by then is not waited for: that is an answer too. */
const answerWithinMs = 20_000;
const libvirtTimeouts = { connectMs: 4_000, callMs: 4_000 };

/**
 * Observes a host that may have failed, and the fleet around it: kube-apiserver, Nova and Placement first, then the
 * host itself. What does not answer is said, and is null.
 *
 * @throws InvalidInput what was typed by hand is no input
 */
export async function observeNodeFailure(
  tools: NodeFailureTools,
  input: NodeFailureInput,
): Promise<ObservedNodeFailure> {
  const { config, scope, clock, cluster } = tools;
  const { hypervisor: name, startedBy } = readHypervisorInput(input);
  if (config.mode === 'off')
    return {
      kind: 'nothing',
      message: `Failed nodes are not handled (nodeFailure.mode in drover’s settings); ${name} is left as it is`,
    };
  const workflowId = nodeFailureId(name, cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart(name, startedBy ?? null);
    return { kind: 'handedOver', message: `Run ${workflowId} deals with ${name}` };
  }
  const problems: string[] = [];
  const attempt = <Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value | null> =>
    answerOf({ scope, clock }, problems, work);
  const [kubernetes, nova, placementAnswers] = await Promise.all([
    attempt((signal) => readKubernetes(tools, name, problems, signal)),
    attempt((signal) => readNova(tools, signal)),
    attempt((signal) => tools.placement.existingTraits(['COMPUTE_NODE'], signal)),
  ]);
  if (kubernetes?.found === false) return { kind: 'nothing', message: `There is no Hypervisor ${name}` };
  const world = kubernetes?.found === true ? kubernetes : null;
  const service = nova === null ? null : serviceOf(name, nova.services);
  const isSuspect =
    world?.node === null || world === null || toNodeSign(world.node).ready !== 'True' || service?.state !== 'up';
  const [libvirt, power] = await Promise.all([
    attempt((signal) => observeLibvirt(tools, world?.address ?? name, problems, signal)),
    isSuspect && hasBmc(config.bmc, name) ? observePowerOf(tools, name, problems) : null,
  ]);
  const parts: ReadParts = {
    kubernetes: world,
    nova,
    libvirt,
    power,
    placementAnswers: placementAnswers !== null,
    problems,
  };
  return {
    kind: 'observed',
    settings: handlingSettings(config, tools.region),
    observed: composeObservation(name, parts, config, clock.now()),
  };
}

/** Null, and a sentence, where there is no answer. @throws only the signal's reason */
async function answerOf<Value>(
  { scope: { signal }, clock }: Pick<NodeFailureTools, 'scope' | 'clock'>,
  problems: string[],
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value | null> {
  try {
    return await withTimeout(clock, answerWithinMs, (overdue) => work(AbortSignal.any([signal, overdue])));
  } catch (error) {
    signal.throwIfAborted();
    problems.push(redactedStart(isError(error) ? error.message : String(error), 600));
    return null;
  }
}

async function readKubernetes(
  { client, readFencingLog }: NodeFailureTools,
  name: string,
  problems: string[],
  signal: AbortSignal,
) {
  const unread: string[] = [];
  const [found, nodes, fencings, lease] = await Promise.all([
    client.get(resources.Hypervisor, { name }, signal),
    client.listValid(nodeResource, {}, signal),
    readFencingLog(signal),
    readNodeLease(client, name, unread, signal),
  ]);
  problems.push(...unread);
  if (found === null || found.metadata.deletionTimestamp !== undefined) return { found: false } as const;
  const { metadata, status } = found;
  const desired = readDesired(found, metadata.ownerReferences ?? []);
  const given = metadata.annotations ?? {};
  const said = findCondition(status?.conditions, hypervisorConditions.nodeFailure) ?? null;
  const hypervisor = {
    name,
    uid: metadata.uid,
    generation: metadata.generation,
    hold: readHold(given[hypervisorAnnotations.hold])?.reason ?? null,
    userHold: userHoldOf(given),
    fencedBootId: given[hypervisorAnnotations.fencedBootId] || null,
    lastBootId: given[hypervisorAnnotations.lastBootId] || null,
    maintenance: desired.maintenance,
    condition: said === null ? null : { status: said.status, reason: said.reason, message: said.message },
  };
  const node = nodes.find((one) => one.metadata.name === name) ?? null;
  return {
    found: true,
    desired,
    hypervisor,
    node,
    nodes,
    fencings,
    lease,
    address: status?.internalIp || name,
  } as const;
}

async function readNova({ nova }: NodeFailureTools, signal: AbortSignal): Promise<NonNullable<ReadParts['nova']>> {
  const [services, aggregates, schedulersUp] = await Promise.all([
    nova.computeServices(signal),
    nova.aggregates(signal),
    nova.schedulersUp(signal),
  ]);
  return { services, aggregates, schedulersUp };
}

/** Null where it is not asked, or cannot be. Whatever else it answers, it answers. */
async function observeLibvirt(
  { libvirt, ports }: NodeFailureTools,
  address: string,
  problems: string[],
  signal: AbortSignal,
): Promise<ReadParts['libvirt']> {
  if (libvirt === null) return null;
  try {
    const target = { libvirt, address, timeouts: libvirtTimeouts };
    const uri = await withLibvirt(ports, target, signal, (connection) => Promise.resolve(connection.uri));
    return { verdict: 'healthy', message: `it opened ${uri}` };
  } catch (error) {
    const code = failureCode(error);
    if (code === null) throw error;
    const { message } = error as Error;
    if (code === 'LibvirtUnavailable') return { verdict: 'silent', message };
    if (code === 'InvalidConfiguration') {
      problems.push(message);
      return null;
    }
    return { verdict: 'healthy', message };
  }
}

/** A BMC that does not answer has proved nothing. */
async function observePowerOf(
  { power, scope }: NodeFailureTools,
  host: string,
  problems: string[],
): Promise<PowerState> {
  try {
    return (await power.observePower({ host })).power;
  } catch (error) {
    scope.signal.throwIfAborted();
    problems.push(redactedStart(isError(error) ? error.message : String(error), 600));
    return 'Unknown';
  }
}

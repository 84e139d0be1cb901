import { agentPoolAnnotations, agentPoolConditions as types } from '../../contracts/agent-pool/metadata.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { examples, liftStop, type NextCommand, noWorker } from '../command/next-commands.ts';
import { fullName, isObjectName } from '../command/object-reference.ts';
import type { AgentPoolDescription } from './agent-pool-description.ts';
import { type AgentPoolObject, isStray, waitsForApproval } from './agent-pool-object.ts';
import { statusOf } from './listed-pool.ts';

/** What a person may want to type next for a pool, the most likely first. Pure. */
export function agentPoolCommands({
  object,
  run,
  stops,
  held,
}: Pick<AgentPoolDescription, 'object' | 'run' | 'stops' | 'held'>): NextCommand[] {
  const isOpen = run?.status === 'Running';
  return [
    ...(stops.length === 0 ? [] : liftStop),
    ...(isOpen && run.progress === null ? noWorker : []),
    ...(object === null
      ? [{ command: 'drover pools', why: 'see those that there are' }]
      : [...forHeld(object, held), ...byConditions(object, isOpen), describe(object)]),
  ];
}

const describe = ({ namespace, name }: AgentPoolObject): NextCommand => ({
  command: `kubectl describe vsphereagentpool -n ${namespace} ${name}`,
  why: 'see its spec and its Events',
});
const annotate = ({ namespace, name }: AgentPoolObject, change: string, why: string): NextCommand => ({
  command: `kubectl annotate vsphereagentpool -n ${namespace} ${name} ${change} --overwrite`,
  why,
});
const retry = (pool: AgentPoolObject, why: string): NextCommand => ({
  command: `drover retry pool ${fullName(pool)}`,
  why,
});
const look = (command: string, why: string): NextCommand => ({ command, why });

function forHeld(pool: AgentPoolObject, held: AgentPoolDescription['held']): NextCommand[] {
  const waitFor = (what: string) => held.filter(({ waitsFor }) => waitsFor === what);
  return [
    ...(held.some((one) => waitsForApproval(one) && !isStray(one))
      ? [look(`drover pools approve ${fullName(pool)}`, 'let those go that wait for an approval now')]
      : []),
    ...waitFor('ApprovalRequired')
      .filter((one) => isStray(one) && isObjectName(one.name))
      .slice(0, examples)
      .map(({ name }) =>
        look(
          `drover pools approve ${fullName(pool)} ${name}`,
          'let this VM go, once it is known that it is not in use',
        ),
      ),
    ...waitFor('AgentBound')
      .slice(0, examples)
      .map(({ name }) =>
        look(
          `kubectl describe vsphereagent -n ${pool.namespace} ${name}`,
          'see which Agent it is, and who has bound it',
        ),
      ),
    ...(pool.deleting && waitFor('MachinePresent').length > 0
      ? [
          look(
            `kubectl get machines.cluster.x-k8s.io -n ${pool.controlPlaneNamespace}`,
            `see the Machines that are there: to scale NodePool ${pool.nodePool} down deletes them`,
          ),
        ]
      : []),
  ];
}

function byConditions(pool: AgentPoolObject, isOpen: boolean): NextCommand[] {
  const { namespace, conditions, infraEnv } = pool;
  if (statusOf(pool) === 'unknown')
    return isOpen
      ? []
      : [
          retry(pool, 'have a run observe it now'),
          look('drover doctor', 'see whether the bridge and the workers are there'),
        ];
  const reasonOf = (type: string): string | null => {
    const condition = findCondition(conditions, type);
    return condition?.status === 'False' ? condition.reason : null;
  };
  const isWrong = (type: string): boolean => reasonOf(type) !== null;
  const commands = [
    ...forCapacity(pool, reasonOf(types.capacity)),
    ...(isWrong(types.infraEnv)
      ? [look(`kubectl describe infraenv -n ${namespace} ${infraEnv}`, 'see why it has no discovery ISO')]
      : []),
    ...(isWrong(types.vsphere)
      ? [look('drover doctor', 'see whether drover’s settings have the vCenter of the pool')]
      : []),
    ...(isWrong(types.iso)
      ? [look(`drover pools refresh-iso ${fullName(pool)}`, 'download the ISO again, once the reason is mended')]
      : []),
    ...forDrift(pool),
  ];
  return statusOf(pool) === 'waiting' ? [...commands, retry(pool, 'observe it now, without waiting')] : commands;
}

function forDrift(pool: AgentPoolObject): NextCommand[] {
  const key = agentPoolAnnotations.replaceDrifted;
  const reason = findCondition(pool.conditions, types.drifted)?.reason;
  if (reason === 'ReplacementForbidden')
    return [look('cat deploy/rbac/agent-replacement.yaml', 'see how to let drover delete Machines')];
  if (reason !== 'TemplateChanged') return [];
  return [
    annotate(pool, `${key}=available`, 'replace VMs of another template that are free'),
    annotate(pool, `${key}=all`, 'replace Nodes of another template too, Machine by Machine'),
  ];
}

function forCapacity(pool: AgentPoolObject, reason: string | null): NextCommand[] {
  const { namespace, vms } = pool;
  switch (reason) {
    case 'MaxAgents':
      return [annotate(pool, `${agentPoolAnnotations.maxAgents}=${more(vms.length)}`, 'let it have more VMs')];
    case 'MaxConcurrent':
      return [
        annotate(
          pool,
          `${agentPoolAnnotations.maxConcurrent}=${more(pool.counts?.provisioning ?? 0)}`,
          'let more be made at once',
        ),
      ];
    case 'CreateRefused':
      return [look(`kubectl describe resourcequota -n ${namespace}`, 'see what refuses VsphereAgents')];
    case 'ReplacementLimit':
      return [
        look(`kubectl get agents.agent-install.openshift.io -n ${namespace}`, 'see which Agents have come, if any'),
      ];
    case null:
    default:
      return [];
  }
}

/** A number that a person may begin with. */
const more = (count: number): number => Math.max(10, count * 2);

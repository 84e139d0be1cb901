import type { Command } from 'commander';
import { approvalIn, approvalOf } from '../../contracts/agent-pool/approvals.ts';
import { agentPoolAnnotations } from '../../contracts/agent-pool/metadata.ts';
import { retryConflicts } from '../../runtime/kubernetes/retry-conflicts.ts';
import { describedCommand } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { whyNothingHappens } from '../command/lifecycle-mode.ts';
import { fullName, namespaceOption, readReference } from '../command/object-reference.ts';
import { oneLine } from '../render/table.ts';
import { agentAccess, agentsOf, poolAccess } from './agent-pool-access.ts';
import { type AgentPoolObject, isStray, type VsphereAgentObject, waitsForApproval } from './agent-pool-object.ts';

export const approveCommand = (context: CommandContext): Command =>
  describedCommand(
    'approve',
    'Lets VMs of a pool go that it holds back as their Machines are gone, the deletion was not observed, and they are many. Without names it is of those that are held back for that now: what comes later needs another approval. A VM without a VsphereAgent may be in use, as after a restore of the cluster: it goes by its name alone. Each is judged once more before it goes. Look at `drover describe pool` first.',
    [
      ['drover pools approve team/gpu', 'all VsphereAgents that wait for an approval now'],
      ['drover pools approve team/gpu worker-7 worker-9', 'these VsphereAgents, or VMs without one'],
    ],
  )
    .argument('<pool>', 'NAMESPACE/NAME, or the name where only one pool has it')
    .argument('[names...]', 'of VsphereAgents, and of VMs that have none')
    .addOption(namespaceOption('VsphereAgentPool'))
    .action((text: string, names: string[], { namespace }: { namespace?: string }) =>
      interruptible(context, async (abort) => {
        const { terminal, env } = context;
        const reference = readReference('pool', text, namespace ?? null);
        const loaded = await context.loadConfig();
        await withKubernetes({ context, config: loaded.config, abort }, async (kubernetes) => {
          const access = poolAccess(kubernetes, abort);
          const { pool, approved } = await retryConflicts(async () => {
            const found = await access.read(reference, 'Nothing was approved.');
            const chosen = chooseApproved(found, names);
            const there = await agentsOf(agentAccess(kubernetes, abort), found);
            const approvals = allApproved(found.approved, approvalsOf(found, chosen, there), [
              ...there,
              ...straysOf(found),
            ]);
            await access.annotate(found, { [agentPoolAnnotations.approvedDeletions]: approvals.join(',') });
            return { pool: found, approved: chosen };
          });
          const name = fullName(pool);
          for (const agent of approved) terminal.print(oneLine(`${agent} may go.`));
          const left = straysOf(pool).filter((stray) => !pool.approved.includes(approvalOf(stray)));
          if (names.length === 0 && left.length > 0)
            terminal.remark(
              `Not approved, as they have no VsphereAgent and may be in use, unless they are named: ${listed(left.map((stray) => stray.name))}.`,
            );
          const idle = whyNothingHappens('VsphereAgentPool', loaded, { name, observed: pool.observed }, env);
          terminal.remark(
            idle ??
              `Each is judged once more, and goes when a run observes the pool: \`drover describe pool ${name}\` shows it.`,
          );
        });
      }),
    );

const mostListed = 10;
const listed = (names: readonly string[]): string =>
  `${names.slice(0, mostListed).join(', ')}${names.length > mostListed ? ` and ${names.length - mostListed} more` : ''}`;

/**
 * Names of the VsphereAgents, and of the VMs without one, that are meant. Pure.
 *
 * @param names none: all VsphereAgents that wait for an approval now
 * @throws CommandError: notFound for one that waits for none, refused where none does
 */
export function chooseApproved(pool: AgentPoolObject, names: readonly string[]): string[] {
  const held = pool.held.filter(waitsForApproval);
  const waiting = held.map(({ name }) => name);
  const list = `\`drover describe pool ${fullName(pool)}\` shows what each VM waits for.`;
  if (waiting.length === 0)
    throw new CommandError(
      `No VM of ${fullName(pool)} waits for an approval. Nothing was approved.`,
      exitCodes.refused,
      list,
    );
  if (names.length === 0) {
    const agents = held.filter((one) => !isStray(one)).map(({ name }) => name);
    if (agents.length > 0) return agents;
    throw new CommandError(
      `Only VMs without a VsphereAgent wait for an approval in ${fullName(pool)}: ${listed(waiting)}. Nothing was approved.`,
      exitCodes.refused,
      `They may be in use, as after a restore of the cluster. ${list} Name each that may go.`,
    );
  }
  const other = names.find((name) => !waiting.includes(name));
  if (other !== undefined)
    throw new CommandError(
      `"${oneLine(other.slice(0, 80))}" is none of the VMs of ${fullName(pool)} that wait for an approval. Nothing was approved.`,
      exitCodes.notFound,
      `They are: ${listed(waiting)}.`,
    );
  return [...new Set(names)];
}

type Identified = Pick<VsphereAgentObject, 'name' | 'uid'>;

/** VMs without a VsphereAgent that wait for an approval, or have one that no run has seen yet. Pure. */
export const straysOf = ({ held }: Pick<AgentPoolObject, 'held'>): Identified[] =>
  held.flatMap(({ name, message }) => {
    const approval = approvalIn(message, name);
    return approval === null ? [] : [{ name, uid: approval.slice(name.length + 1) }];
  });

/**
 * Of a VM without a VsphereAgent the pool says which one it means. Where a VsphereAgent of the name waits as well, the
 * name is that one's alone. Pure.
 *
 * @throws CommandError: refused for a name of which neither is known
 */
export const approvalsOf = (
  pool: Pick<AgentPoolObject, 'held' | 'namespace' | 'name'>,
  names: readonly string[],
  there: readonly Identified[],
): string[] =>
  names.flatMap((name) => {
    const waiting = pool.held.filter((one) => waitsForApproval(one) && one.name === name);
    const agents = waiting.filter((one) => !isStray(one));
    const approvals = (agents.length > 0 ? agents : waiting).flatMap(({ message }) => {
      const stray = approvalIn(message, name);
      return stray === null ? there.filter((one) => one.name === name).map(approvalOf) : [stray];
    });
    if (approvals.length > 0) return approvals;
    throw new CommandError(
      `VsphereAgent ${oneLine(name)} is not there, and ${fullName(pool)} does not say which VM waits in its place. Nothing was approved.`,
      exitCodes.refused,
      `It is looked at again: \`drover describe pool ${fullName(pool)}\` shows what waits then.`,
    );
  });

/** With those that were approved before and are there still: the list does not grow for ever. Pure. */
export const allApproved = (
  before: readonly string[],
  chosen: readonly string[],
  there: readonly Identified[],
): string[] => {
  const known = new Set(there.map(approvalOf));
  return [...new Set([...before.filter((approval) => known.has(approval)), ...chosen])];
};

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
import { type AgentPoolObject, type VsphereAgentObject, waitsForApproval } from './agent-pool-object.ts';

export const approveCommand = (context: CommandContext): Command =>
  describedCommand(
    'approve',
    'Lets VMs of a pool go that it holds back as their Machines are gone, the deletion was not observed, and they are many. Without names it is of those that are held back for that now: what comes later needs another approval. Each is judged once more before it goes. Look at `drover describe pool` first.',
    [
      ['drover pools approve team/gpu', 'all that wait for an approval now'],
      ['drover pools approve team/gpu worker-7 worker-9', 'these VsphereAgents'],
    ],
  )
    .argument('<pool>', 'NAMESPACE/NAME, or the name where only one pool has it')
    .argument('[agents...]', 'names of VsphereAgents')
    .addOption(namespaceOption('VsphereAgentPool'))
    .action((text: string, agents: string[], { namespace }: { namespace?: string }) =>
      interruptible(context, async (abort) => {
        const { terminal, env } = context;
        const reference = readReference('pool', text, namespace ?? null);
        const loaded = await context.loadConfig();
        await withKubernetes({ context, config: loaded.config, abort }, async (kubernetes) => {
          const access = poolAccess(kubernetes, abort);
          const { pool, approved } = await retryConflicts(async () => {
            const found = await access.read(reference, 'Nothing was approved.');
            const chosen = chooseApproved(found, agents);
            const there = await agentsOf(agentAccess(kubernetes, abort), found);
            const approvals = allApproved(found.approved, approvalsOf(found, chosen, there), there);
            await access.annotate(found, { [agentPoolAnnotations.approvedDeletions]: approvals.join(',') });
            return { pool: found, approved: chosen };
          });
          const name = fullName(pool);
          for (const agent of approved) terminal.print(oneLine(`${agent} may go.`));
          const idle = whyNothingHappens('VsphereAgentPool', loaded, { name, observed: pool.observed }, env);
          terminal.remark(
            idle ??
              `Each is judged once more, and goes when a run observes the pool: \`drover describe pool ${name}\` shows it.`,
          );
        });
      }),
    );

/**
 * Names of the VsphereAgents that are meant. Pure.
 *
 * @param names none: all that wait for an approval now
 * @throws CommandError: notFound for one that waits for none, refused where none does
 */
export function chooseApproved(pool: AgentPoolObject, names: readonly string[]): string[] {
  const waiting = pool.held.filter(waitsForApproval).map(({ name }) => name);
  const list = `\`drover describe pool ${fullName(pool)}\` shows what each VM waits for.`;
  if (waiting.length === 0)
    throw new CommandError(
      `No VM of ${fullName(pool)} waits for an approval. Nothing was approved.`,
      exitCodes.refused,
      list,
    );
  if (names.length === 0) return waiting;
  const other = names.find((name) => !waiting.includes(name));
  if (other !== undefined)
    throw new CommandError(
      `"${oneLine(other.slice(0, 80))}" is none of the VsphereAgents of ${fullName(pool)} that wait for an approval. Nothing was approved.`,
      exitCodes.notFound,
      `They are: ${waiting.slice(0, 10).join(', ')}${waiting.length > 10 ? ` and ${waiting.length - 10} more` : ''}.`,
    );
  return [...new Set(names)];
}

type Identified = Pick<VsphereAgentObject, 'name' | 'uid'>;

/**
 * Of a VM without a VsphereAgent the pool says which one it means. Pure.
 *
 * @throws CommandError: refused for a name of which neither is known
 */
export const approvalsOf = (
  pool: Pick<AgentPoolObject, 'held' | 'namespace' | 'name'>,
  names: readonly string[],
  there: readonly Identified[],
): string[] =>
  names.flatMap((name) => {
    const approvals = pool.held
      .filter((one) => waitsForApproval(one) && one.name === name)
      .flatMap(({ message }) => {
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

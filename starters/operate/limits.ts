import type { Command } from 'commander';
import pMap from 'p-map';
import type { AllowanceProgress } from '../../contracts/allowance.ts';
import { allowancePrefix, workflowTypes } from '../../contracts/ids.ts';
import { progressQuery } from '../../contracts/messages.ts';
import { describedCommand, jsonOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { interruptible } from '../command/interruption.ts';
import { answered, type TemporalAccess, withTemporal } from '../command/temporal-access.ts';
import { printJson } from '../command/terminal.ts';
import { type ListedLimit, renderLimits } from '../render/limits.ts';

export const limitsCommand = (context: CommandContext): Command =>
  describedCommand(
    'limits',
    'Shows the limits that runs share: migrations of a region, creates and destroys of a vCenter, clones of a CSI driver. How much of each is in use, by whom, who waits, and why a limit is lower than the settings say. One that is not used is not listed.',
    [
      ['drover limits', 'all of them'],
      [`drover limits --json | jq '.[].progress.limit'`, 'for programs'],
    ],
  )
    .addOption(jsonOption())
    .action(({ json = false }: { json?: boolean }) =>
      interruptible(context, async (abort) => {
        const { terminal, clock } = context;
        const listed = await withTemporal(context, abort, readLimits);
        if (json) return printJson(terminal, listed);
        if (listed.length === 0) return terminal.print('No limit is in use.');
        for (const line of renderLimits(listed, clock.now(), terminal.paint, terminal.widthColumns()))
          terminal.print(line);
      }),
    );

const queriesAtOnce = 8;
const progressTimeoutMs = 5_000;

async function readLimits(access: TemporalAccess): Promise<ListedLimit[]> {
  const prefix = allowancePrefix(access.config.cluster);
  const query = `WorkflowType = '${workflowTypes.allocateAllowance}' AND ExecutionStatus = 'Running'`;
  const ids = await answered(access, async () => {
    const found: string[] = [];
    for await (const { workflowId } of access.client.workflow.list({ query }))
      if (workflowId.startsWith(prefix)) found.push(workflowId);
    return found.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  });
  return await pMap(ids, async (workflowId) => ({ workflowId, progress: await ask(access, workflowId) }), {
    concurrency: queriesAtOnce,
  });
}

/** Null where no worker answers for it. */
async function ask(access: TemporalAccess, workflowId: string): Promise<AllowanceProgress | null> {
  try {
    const handle = access.client.workflow.getHandle(workflowId);
    return await answered(access, () => handle.query(progressQuery<AllowanceProgress>()), progressTimeoutMs);
  } catch {
    access.abort.throwIfAborted();
    return null;
  }
}

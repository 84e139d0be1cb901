import type { Command } from 'commander';
import { describedCommand, jsonOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { interruptible } from '../command/interruption.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { readEvictions, withKubernetes } from '../command/kubernetes-access.ts';
import type { ListedEviction } from './listed-eviction.ts';
import { listEvictions } from './listed-eviction.ts';
import { renderList } from '../render/list.ts';
import { askAll, listRuns } from '../command/runs.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { withTemporal } from '../command/temporal-access.ts';
import { printJson } from '../command/terminal.ts';

const dayMs = 24 * 3_600_000;

export const lsCommand = (context: CommandContext): Command =>
  describedCommand('ls', 'Lists evictions: those in motion, those that wait, and how those of the last day ended.', [
    ['drover ls', 'what is going on'],
    ['drover ls --all', 'every run that Temporal still has'],
    [`drover ls --json | jq -r '.[] | select(.counts.blocked > 0).host'`, 'hosts with an instance that does not move'],
  ])
    .option('--all', 'every run that Temporal still has, not only the last of each host')
    .addOption(jsonOption())
    .action(({ all = false, json = false }: { all?: boolean; json?: boolean }) =>
      interruptible(context, (abort) =>
        withTemporal(context, abort, (temporal) =>
          withKubernetes(temporal, async (kubernetes) => {
            const { terminal } = context;
            const nowMs = context.clock.now();
            const { evictions, problem } = await gather(temporal, kubernetes, nowMs, all ? Infinity : dayMs);
            if (json) printJson(terminal, evictions);
            else
              for (const line of renderList(evictions, nowMs, terminal.paint, terminal.widthColumns()))
                terminal.print(line);
            if (problem !== null) terminal.remark(`Evictions that wait are not shown: ${problem}`);
          }),
        ),
      ),
    );

async function gather(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  nowMs: number,
  recentMs: number,
): Promise<{ evictions: ListedEviction[]; problem: string | null }> {
  const askRuns = async () => {
    const runs = await listRuns(temporal, nowMs - recentMs);
    return {
      runs,
      answers: await askAll(
        temporal,
        runs.filter(({ status }) => status === 'Running'),
      ),
    };
  };
  const [{ runs, answers }, { objects, problem }] = await Promise.all([askRuns(), readEvictions(kubernetes)]);
  return { evictions: listEvictions({ runs, answers, objects, nowMs, recentMs }), problem };
}

import { agentPoolConditions } from '../../contracts/agent-pool/metadata.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { annotations } from '../../contracts/ids.ts';
import { retryConflicts } from '../../runtime/kubernetes/retry-conflicts.ts';
import type { CommandContext } from '../command/context.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { whyNothingHappens } from '../command/lifecycle-mode.ts';
import { fullName, nouns, type ObjectReference } from '../command/object-reference.ts';
import { observeNow, signalRun } from '../command/object-retry.ts';
import { withTemporal } from '../command/temporal-access.ts';
import { oneLine } from '../render/table.ts';
import { agentPoolAccess } from './agent-pool-access.ts';

/**
 * `drover retry pool` and `drover retry agent`: the open run observes at once; where none is open, one starts, and what had failed is
 * retried.
 */
export const retryAgentPool = (
  context: CommandContext,
  noun: 'pool' | 'agent',
  reference: ObjectReference,
  by: string,
): Promise<void> =>
  interruptible(context, (abort) =>
    withTemporal(context, abort, (temporal) =>
      withKubernetes(temporal, async (kubernetes) => {
        const { terminal, clock, env } = context;
        const { kind } = nouns[noun];
        const access = agentPoolAccess(kubernetes, abort);
        const asked = { [annotations.retry]: new Date(clock.now()).toISOString() };
        const consequence = 'Nothing was changed.';
        const found =
          noun === 'pool' ? await access.read(reference, consequence) : await access.readAgent(reference, consequence);
        const name = fullName(found);
        const idle = whyNothingHappens(kind, await context.loadConfig(), { name, observed: found.observed }, env);
        if (idle !== null) terminal.remark(idle);
        else if (await observeNow(temporal, { ...found, kind }, by)) return;
        await retryConflicts(async () => {
          if (noun === 'pool') await access.annotate(await access.read(reference, consequence), asked);
          else await access.annotateAgent(await access.readAgent(reference, consequence), asked);
        });
        const ready = findCondition(found.conditions, agentPoolConditions.ready);
        const was = ready === undefined ? 'No run has said anything of it yet' : `It was ${ready.reason}`;
        terminal.print(
          oneLine(`${kind} ${name} is tried again. ${was}${ready === undefined ? '.' : `: ${ready.message}`}`),
        );
        if (idle !== null) return;
        await signalRun(temporal, { ...found, kind }, by);
        const shown =
          noun === 'pool' ? `drover describe pool ${name}` : `kubectl describe va -n ${found.namespace} ${found.name}`;
        terminal.remark(`\`${shown}\` shows its state, and what it waits for.`);
      }),
    ),
  );

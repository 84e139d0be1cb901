import { annotations } from '../../contracts/ids.ts';
import { retryConflicts } from '../../runtime/kubernetes/retry-conflicts.ts';
import { oneLine } from '../render/table.ts';
import type { CommandContext } from './context.ts';
import { interruptible } from './interruption.ts';
import { type KubernetesAccess, withKubernetes } from './kubernetes-access.ts';
import { whyNothingHappens } from './lifecycle-mode.ts';
import type { ObjectAccess } from './object-access.ts';
import { fullName, type Noun, nouns, type ObjectReference } from './object-reference.ts';
import { observeNow, type RetriedObject, signalRun } from './object-retry.ts';
import { refuseOtherCluster } from './own-cluster.ts';
import { withTemporal } from './temporal-access.ts';

type Retried = Omit<RetriedObject, 'kind'> & { observed: boolean };

export interface Retrying<One extends Retried> {
  noun: Noun;
  access: (kubernetes: KubernetesAccess, abort: AbortSignal) => ObjectAccess<One>;
  /** What its run has said of it last: a condition; undefined: nothing yet. */
  standing: (object: One) => { reason: string; message: string } | undefined;
  /** The command that shows its state. */
  shows: (object: One) => string;
}

/**
 * `drover retry NOUN`: the open run observes at once; where none is open, one starts, and what had failed is retried.
 */
export const retryObject = <One extends Retried>(
  context: CommandContext,
  { noun, access: accessOf, standing: standingOf, shows }: Retrying<One>,
  reference: ObjectReference,
  by: string,
): Promise<void> =>
  interruptible(context, (abort) =>
    withTemporal(context, abort, (temporal) =>
      withKubernetes(temporal, async (kubernetes) => {
        const { terminal, clock, env } = context;
        const { kind } = nouns[noun];
        const access = accessOf(kubernetes, abort);
        const asked = { [annotations.retry]: new Date(clock.now()).toISOString() };
        const consequence = 'Nothing was changed.';
        const found = await access.read(reference, consequence);
        await refuseOtherCluster(temporal, kubernetes);
        const name = fullName(found);
        const idle = whyNothingHappens(kind, await context.loadConfig(), { name, observed: found.observed }, env);
        if (idle !== null) terminal.remark(idle);
        else if (await observeNow(temporal, { ...found, kind }, by)) return;
        await retryConflicts(async () => access.annotate(await access.read(reference, consequence), asked));
        const standing = standingOf(found);
        const was =
          standing === undefined
            ? 'No run has said anything of it yet.'
            : `It was ${standing.reason}: ${standing.message}`;
        terminal.print(oneLine(`${kind} ${name} is tried again. ${was}`));
        if (idle !== null) return;
        await signalRun(temporal, { ...found, kind }, by);
        terminal.remark(`\`${shows(found)}\` shows its state, and what it waits for.`);
      }),
    ),
  );

import type { Kind } from '../../contracts/kinds/table.ts';
import type { RunProgress } from '../../contracts/runs.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import { findHoldingStops } from '../operate/holding-stops.ts';
import type { Paint } from '../render/paint.ts';
import type { CommandContext } from './context.ts';
import { explainError } from './explain-error.ts';
import { interruptible } from './interruption.ts';
import { type KubernetesAccess, withKubernetes } from './kubernetes-access.ts';
import type { ObjectAccess } from './object-access.ts';
import type { ObjectReference } from './object-reference.ts';
import { findRun, type ObjectRun } from './object-run.ts';
import { printJson } from './terminal.ts';

/** Everything that is known of an object; with what a kind adds, also the JSON of `drover describe NOUN --json`. */
export interface ObjectDescription<One, Progress extends RunProgress> {
  namespace: string;
  name: string;
  /** Null: there is none any more, or it cannot be read. */
  object: One | null;
  /** Null: it never ran, or too long ago, or Temporal does not answer. */
  run: ObjectRun<Progress> | null;
  /** Every `drover stop` that holds it up, as a sentence. */
  stops: string[];
  /** What could not be read, and so is missing above. */
  problems: string[];
}

export interface Describing<One, Progress extends RunProgress, Description extends ObjectDescription<One, Progress>> {
  kind: Kind;
  /** Kinds whose stop holds it up. */
  heldBy: readonly Kind[];
  access: (kubernetes: KubernetesAccess, abort: AbortSignal) => ObjectAccess<One>;
  /** What the kind adds; what cannot be read of that is one of its problems. */
  complete: (
    description: ObjectDescription<One, Progress>,
    reading: { kubernetes: KubernetesAccess; config: Config; abort: AbortSignal },
  ) => Promise<Description>;
  render: (description: Description, nowMs: number, paint: Paint, widthColumns: number) => string[];
}

/** `drover describe NOUN`. Kubernetes and Temporal each do without the other. */
export const describeObject = <
  One extends { namespace: string; name: string },
  Progress extends RunProgress,
  Description extends ObjectDescription<One, Progress>,
>(
  context: CommandContext,
  { kind, heldBy, access, complete, render }: Describing<One, Progress, Description>,
  reference: ObjectReference,
  json: boolean,
): Promise<void> =>
  interruptible(context, async (abort) => {
    const { terminal, clock } = context;
    const { config } = await context.loadConfig();
    await withKubernetes({ context, config, abort }, async (kubernetes) => {
      const objects = access(kubernetes, abort);
      const { namespace, name, object, problem } = await find(objects, reference, abort);
      const [{ run, problem: ofRun }, stops] = await Promise.all([
        findRun<Progress>(context, kind, { namespace, name }, abort),
        findHoldingStops(kubernetes, { config, abort }, heldBy),
      ]);
      // It is not there, which this says, with the one that may have been meant.
      if (object === null && problem === null && run === null) await objects.read({ namespace, name });
      const problems = [problem, ofRun, stops.problem].filter((sentence) => sentence !== null);
      const description = await complete(
        { namespace, name, object, run, stops: stops.sentences, problems },
        { kubernetes, config, abort },
      );
      if (json) return printJson(terminal, description);
      for (const line of render(description, clock.now(), terminal.paint, terminal.widthColumns()))
        terminal.print(line);
    });
  });

interface Found<One> {
  namespace: string;
  name: string;
  object: One | null;
  problem: string | null;
}

/** With its namespace given, its run can be described without Kubernetes, and after its object is gone. */
async function find<One extends { namespace: string; name: string }>(
  access: ObjectAccess<One>,
  { namespace, name }: ObjectReference,
  abort: AbortSignal,
): Promise<Found<One>> {
  if (namespace === null) {
    const object = await access.read({ namespace, name });
    return { namespace: object.namespace, name, object, problem: null };
  }
  try {
    return { namespace, name, object: await access.find(namespace, name), problem: null };
  } catch (error) {
    abort.throwIfAborted();
    return { namespace, name, object: null, problem: explainError(error).message };
  }
}

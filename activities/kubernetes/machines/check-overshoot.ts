import { z } from 'zod';

import { machineKind } from '../../../contracts/kinds/machine.ts';
import { isFrozen } from '../../../contracts/machine-safety/frozen-objects.ts';
import { mostNamed, type OvershootInput, type OvershootRound } from '../../../contracts/machine-safety/overshoot.ts';
import { failureCode } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects, Resource } from '../../../runtime/kubernetes/objects.ts';
import { resources, typed } from '../../../runtime/kubernetes/resources.ts';
import { redactedStart } from '../../../runtime/redaction.ts';
import { executeFreeze } from './execute-freeze.ts';
import { type FreezeStep, type OvershootView, planOvershoot } from './plan-overshoot.ts';
import { type SafetyTools, isWatched } from './tools.ts';
import { watchForRound } from './watch-round.ts';

/** No more than is counted: a Machine that is odd elsewhere counts. */
const machines = typed(
  machineKind,
  z.object({
    metadata: z.object({
      labels: z.record(z.string(), z.string()).default({}),
      ownerReferences: z.array(z.object({ kind: z.string(), name: z.string() })).default([]),
    }),
  }),
);

/** Counts, freezes and thaws, again and again for one round. What fails is tried again with the next count. */
export async function checkOvershoot(tools: SafetyTools, { namespace }: OvershootInput): Promise<OvershootRound> {
  const round: OvershootRound = { wanted: isWatched(tools, namespace), sets: 0, frozen: [], changed: 0, trouble: null };
  if (!round.wanted) return round;
  await watchForRound(
    tools,
    () => round,
    async () => {
      try {
        await checkOnce(tools, namespace, round);
      } catch (error) {
        tools.scope.signal.throwIfAborted();
        tell(tools, round, `MachineSets of ${namespace} could not be checked: ${messageOf(error)}`);
      }
      return tools.settings.overshoot.periodMs;
    },
  );
  return round;
}

function tell({ scope }: SafetyTools, round: OvershootRound, trouble: string): void {
  if (round.trouble !== trouble) scope.warn(trouble);
  round.trouble = trouble;
}

async function checkOnce(tools: SafetyTools, namespace: string, round: OvershootRound): Promise<void> {
  const { view, unreadable } = await readView(tools, namespace);
  const { steps, unclear } = planOvershoot(view, tools.settings.overshoot);
  round.sets = view.sets.length;
  const troubles = [
    ...unclear,
    ...(unreadable.length === 0 ? [] : [`Not as their schema says, and left alone: ${unreadable.join(', ')}.`]),
  ];
  const done = new Map<string, FreezeStep['change']>();
  const failed: FreezeStep['object'][] = [];
  for (const step of steps) {
    // Its annotation speaks of all of its MachineSets: it stays until they are written.
    if (failed.some((set) => isOwnedBy(set, step.object))) continue;
    if (tools.mode !== 'act') {
      troubles.push(
        `${step.object.kind} ${step.object.metadata.name} would be ${pastOf(step)}: drover only observes Machines.`,
      );
      continue;
    }
    try {
      await executeFreeze(tools, step);
      round.changed += 1;
      if (step.object.kind === 'MachineSet') done.set(step.object.metadata.name, step.change);
    } catch (error) {
      tools.scope.signal.throwIfAborted();
      failed.push(step.object);
      // Another client was faster: what is right then, the next count says.
      if (!isFailure(error, 'ObjectConflict') && !isFailure(error, 'ObjectNotFound'))
        troubles.push(
          `${step.object.kind} ${step.object.metadata.name} could not be ${pastOf(step)}: ${messageOf(error)}`,
        );
      if (failureCode(error) === 'Stopped') break;
    }
  }
  round.frozen = view.sets
    .filter((set) => (done.get(set.metadata.name) ?? (isFrozen(set) ? 'freeze' : 'thaw')) === 'freeze')
    .map(({ metadata }) => metadata.name)
    .slice(0, mostNamed);
  if (troubles.length === 0) round.trouble = null;
  else tell(tools, round, troubles.slice(0, mostNamed).join(' '));
}

const isOwnedBy = (set: FreezeStep['object'], { metadata: { uid } }: FreezeStep['object']): boolean =>
  set.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;

const pastOf = ({ change }: FreezeStep): string => (change === 'freeze' ? 'frozen' : 'thawed');

/** One list of each. An odd MachineSet or MachineDeployment stands in the way of no other. */
async function readView(
  { control, scope }: SafetyTools,
  namespace: string,
): Promise<{ view: OvershootView; unreadable: string[] }> {
  const query = { namespace };
  const [sets, deployments, counted] = await Promise.all([
    listReadable(control, resources.MachineSet, namespace, scope.signal),
    listReadable(control, resources.MachineDeployment, namespace, scope.signal),
    control.list(machines, query, scope.signal),
  ]);
  return {
    view: {
      sets: sets.found,
      deployments: deployments.found,
      machines: counted.map(({ metadata: { labels, ownerReferences } }) => ({
        labels,
        owners: ownerReferences.filter(({ kind }) => kind === 'MachineSet').map(({ name }) => name),
      })),
    },
    unreadable: [...sets.unreadable, ...deployments.unreadable],
  };
}

async function listReadable<Schema extends z.ZodType>(
  control: Pick<KubernetesObjects, 'list'>,
  resource: Resource<Schema>,
  namespace: string,
  signal: AbortSignal,
): Promise<{ found: z.output<Schema>[]; unreadable: string[] }> {
  const items = await control.list({ ...resource, schema: z.unknown() }, { namespace }, signal);
  const read = items.map((item) => ({ item, ...resource.schema.safeParse(item) }));
  return {
    found: read.flatMap(({ data, success }) => (success ? [data] : [])),
    unreadable: read.flatMap(({ item, success }) => (success ? [] : [`${resource.kind} ${nameOf(item)}`])),
  };
}

const nameOf = (item: unknown): string => {
  const { metadata } = Object(item) as { metadata?: { name?: unknown } };
  return typeof metadata?.name === 'string' ? metadata.name : 'without a name';
};

const messageOf = (error: unknown): string => redactedStart(isError(error) ? error.message : String(error), 300);

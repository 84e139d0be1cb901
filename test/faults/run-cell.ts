import { findCondition } from '../../contracts/conditions.ts';
import { evictionFinalizer } from '../../contracts/ids.ts';
import { settled } from '../../contracts/settled.ts';
import { until } from '../flows/until.ts';
import { readWorld } from '../read-world.ts';
import { violations } from '../violations.ts';
import type { FaultName } from './faults.ts';
import { faults } from './faults.ts';
import type { Lane } from './lane.ts';
import type { Scenario } from './scenarios.ts';
import type { HostAlias, Stage } from './stage.ts';
import { openStage } from './stage.ts';
import type { Call } from './step.ts';
import type { Aim } from './switchboard.ts';

/** One fault at one step. */
export interface Cell {
  scenario: string;
  step: string;
  fault: FaultName;
}

export interface CellResult {
  /** What went wrong, a sentence each; empty: the cell passed. */
  complaints: string[];
  /** Whether the fault struck. */
  struck: boolean;
  seconds: number;
  steps: string[];
}

/** From the fault to an end that does not change any more. The longest cells time out once and start their copy again. */
const convergeMs = 150_000;

/** `happy/A/publishEviction.2/failAfter`: what a person types to see the cell again. */
export const formatCell = ({ scenario, step, fault }: Cell): string => `${scenario}/${step}/${fault}`;

/** Runs the scenario on the lane, with the fault or without, until all has settled; checks its end and the invariants, and clears up. */
export async function runCell(lane: Lane, scenario: Scenario, cell: Cell | null): Promise<CellResult> {
  const startedMs = Date.now();
  const stage = openStage(lane);
  const complaints: string[] = [];
  const recording = lane.switchboard.record(stage.roles, cell === null ? null : aimOf(stage, cell));
  try {
    await scenario.prepare(stage);
    await scenario.start(stage);
    await scenario.meanwhile?.(stage);
    await untilConverged(stage);
    complaints.push(...judgeEnds(stage, scenario, cell?.fault ?? null));
    complaints.push(...violations(await readWorld({ ...lane, ...lane.ground, dir: lane.drover.dir, sinceMs: stage.sinceMs, expected: stage.expected, ownChanges: stage.ownChanges }, lane.hosts)));
  } catch (error) {
    complaints.push((error as Error).message);
  }
  if (recording.failure !== null) complaints.push(`the strike failed: ${recording.failure.message}`);
  const struck = recording.struck !== null;
  if (cell !== null && !struck) complaints.push(`${cell.step} never came, so nothing was struck; there were ${recording.steps.join(', ')}`);
  lane.switchboard.record(new Map(), null);
  await stage.clear().catch((error: unknown) => complaints.push(`not cleared up: ${(error as Error).message}`));
  return { complaints, struck, seconds: (Date.now() - startedMs) / 1_000, steps: [...recording.steps] };
}

function aimOf(stage: Stage, { step, fault }: Cell): Aim {
  const { order, strike } = faults[fault];
  const { client, drover } = stage.lane;
  // Steps of the limits are nobody's in particular.
  const alias: HostAlias = step.startsWith('B') ? 'B' : 'A';
  const own = step.startsWith('limits/');
  const strikes: Record<typeof strike, (call: Call) => Promise<void>> = {
    none: async () => undefined,
    async killWorker() {
      await drover.kill('worker');
      await drover.restart('worker');
    },
    cancel: async ({ workflowId }) => void (await (own ? client.workflow.getHandle(workflowId) : stage.run(alias)).cancel()),
    async terminate({ workflowId }) {
      await (own ? client.workflow.getHandle(workflowId) : stage.run(alias)).terminate('fault matrix');
      await stage.tell(alias, 'resync');
    },
    async signalTwice() {
      await Promise.all([stage.tell(alias, 'annotations'), stage.tell(alias, 'annotations')]);
    },
    changeSpec: () => stage.changeSpec(alias),
  };
  return { step, order, strike: strikes[strike] };
}

/** Every eviction is settled and let go, and no run of these hosts is open. */
async function untilConverged(stage: Stage): Promise<void> {
  await until('the scenario to settle', convergeMs, async () => {
    for (const alias of stage.aliases) {
      const eviction = await stage.eviction(alias);
      const { reason, message } = findCondition(eviction?.status?.conditions, 'Evicting') ?? { reason: 'no condition', message: '' };
      if (eviction === null) return `${alias} has no Eviction`;
      if (!settled.Eviction(eviction, 'act')) return `Eviction ${alias} is ${reason}: ${message}`;
      if (eviction.metadata.finalizers?.includes(evictionFinalizer) === true) return `Eviction ${alias} is ${reason} and carries its finalizer`;
    }
    const open: string[] = [];
    for (const host of stage.lane.hosts) {
      for await (const { workflowId } of stage.lane.client.workflow.list({ query: `DroverHost="${host}" AND ExecutionStatus="Running"` })) open.push(workflowId);
    }
    return open.length === 0 ? true : `open: ${open.join(', ')}`;
  });
}

function judgeEnds(stage: Stage, { ends, endsAfter }: Scenario, fault: FaultName | null): string[] {
  const right = fault === null ? ends : { ...ends, ...endsAfter?.[fault] };
  return stage.aliases.flatMap((alias) => {
    const { reason, message } = findCondition(stage.latest(alias)?.status?.conditions, 'Evicting') ?? { reason: 'nothing', message: '' };
    const isRight = reason === right[alias] || (fault !== null && faults[fault].mayStop && reason === 'Stopped');
    return isRight ? [] : [`Eviction ${alias} ended as ${reason} instead of ${right[alias]}: ${message}`];
  });
}

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
  const stage: Stage = openStage(lane, () => recording.steps);
  const recording = lane.switchboard.record(stage.roles, cell === null ? null : aimOf(stage, cell));
  const complaints: string[] = [];
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

/** Every eviction is settled and let go, and no run of these hosts is open. The watch tells of the first, so that asking costs little. */
async function untilConverged(stage: Stage): Promise<void> {
  await until('the evictions to settle', convergeMs, () => {
    for (const alias of stage.aliases) {
      const eviction = stage.latest(alias);
      const { reason, message } = findCondition(eviction?.status?.conditions, 'Evicting') ?? { reason: 'no condition', message: '' };
      if (eviction === null) return `${alias} has no Eviction`;
      if (!settled.Eviction(eviction, 'act')) return `Eviction ${alias} is ${reason}: ${message}`;
      if (eviction.metadata.finalizers?.includes(evictionFinalizer) === true) return `Eviction ${alias} is ${reason} and carries its finalizer`;
    }
    return true;
  });
  for (const alias of stage.aliases) {
    await until('the run to be closed', convergeMs, async () => {
      const { status } = await stage.run(alias).describe();
      return status.name !== 'RUNNING' && status.name !== 'CONTINUED_AS_NEW' ? true : `${alias} is ${status.name}`;
    });
  }
  // A round more may have begun between the two looks.
  const again = stage.aliases.filter((alias) => !settledNow(stage, alias));
  if (again.length > 0) await untilConverged(stage);
}

function settledNow(stage: Stage, alias: HostAlias): boolean {
  const eviction = stage.latest(alias);
  return eviction !== null && settled.Eviction(eviction, 'act');
}

function judgeEnds(stage: Stage, { ends, endsAfter }: Scenario, fault: FaultName | null): string[] {
  const right = fault === null ? ends : { ...ends, ...endsAfter?.[fault] };
  return stage.aliases.flatMap((alias) => {
    const { reason, message } = findCondition(stage.latest(alias)?.status?.conditions, 'Evicting') ?? { reason: 'nothing', message: '' };
    const isRight = [right[alias] ?? []].flat().includes(reason) || (fault !== null && faults[fault].mayStop && reason === 'Stopped');
    return isRight ? [] : [`Eviction ${alias} ended as ${reason} instead of ${[right[alias] ?? []].flat().join(' or ')}: ${message}`];
  });
}

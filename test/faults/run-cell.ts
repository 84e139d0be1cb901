import type { Condition } from '../../contracts/conditions.ts';
import { evictionFinalizer } from '../../contracts/ids.ts';
import { until } from '../flows/until.ts';
import type { Observed } from '../read-world.ts';
import { readWorld } from '../read-world.ts';
import { violations } from '../violations.ts';
import type { FaultName } from './faults.ts';
import { faults } from './faults.ts';
import type { Lane } from './lane.ts';
import type { Scenario } from './scenario.ts';
import { gone } from './scenario.ts';
import type { HostAlias } from './scene.ts';
import type { Stage } from './stage.ts';
import { openStage } from './stage.ts';
import type { Call } from './step.ts';
import type { AnyObject } from './subjects.ts';
import type { Aim, Recording } from './switchboard.ts';

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
  let recording: Recording | null = null;
  const stage: Stage = openStage(lane, scenario.subject, () => recording?.steps ?? []);
  const complaints: string[] = [];
  try {
    await scenario.prepare(stage);
    recording = lane.switchboard.record(stage.roles, cell === null ? null : aimOf(stage, cell));
    await scenario.start(stage);
    await scenario.meanwhile?.(stage);
    await untilConverged(stage, scenario);
    complaints.push(...(await judgeEnds(stage, scenario, cell?.fault ?? null)));
    complaints.push(...((await scenario.judge?.(stage)) ?? []));
    complaints.push(...violations(await readWorld(observedOf(stage), lane.hosts)));
  } catch (error) {
    complaints.push((error as Error).message);
  }
  const { failure = null, struck = null, steps = [] } = recording ?? {};
  if (failure !== null) complaints.push(`the strike failed: ${failure.message}`);
  if (cell !== null && struck === null) complaints.push(`${cell.step} never came, so nothing was struck; there were ${steps.join(', ')}`);
  lane.switchboard.record(new Map(), null);
  await stage.clear().catch((error: unknown) => complaints.push(`not cleared up: ${(error as Error).message}`));
  return { complaints, struck: struck !== null, seconds: (Date.now() - startedMs) / 1_000, steps: [...steps] };
}

/** What of the lane is looked at in the end. */
function observedOf({ lane, sinceMs, expected, ownChanges }: Stage): Observed {
  const { ground, client, drover, name } = lane;
  const { lab, api, region, vcenter } = ground;
  const strangers = vcenter?.strangers.get(name);
  const common = { lab, api, client, drover, dir: drover.dir, sinceMs };
  return { ...common, ...(region !== null && { ...region, expected, ownChanges }), ...(strangers !== undefined && { vms: { namespace: name, strangers } }) };
}

function aimOf(stage: Stage, { step, fault }: Cell): Aim {
  const { order, strike } = faults[fault];
  const { client, drover } = stage.lane;
  const alias: HostAlias = step.startsWith('B') ? 'B' : 'A';
  // Limits and looks for drift are nobody's in particular, and a host's failure has a run beside that of its object.
  const own = ['limits/', 'drift/', `${alias}-failure/`].some((role) => step.startsWith(role));
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

/** The object of every host is settled and let go, and its run is closed. */
async function untilConverged(stage: Stage, scenario: Scenario): Promise<void> {
  for (const alias of stage.aliases) {
    await until('it to settle', convergeMs, async () => (await unsettled(stage, scenario, alias)) ?? true);
    await until('the run to be closed', convergeMs, async () => {
      const { status } = await stage.run(alias).describe();
      return status.name !== 'RUNNING' && status.name !== 'CONTINUED_AS_NEW' ? true : `${alias} is ${status.name}`;
    });
  }
  // A round more may have begun between the two looks.
  const again = await Promise.all(stage.aliases.map((alias) => unsettled(stage, scenario, alias)));
  if (again.some((words) => words !== null)) await untilConverged(stage, scenario);
}

/** What the object of the host still has to do; null: nothing. */
async function unsettled(stage: Stage, { ends }: Scenario, alias: HostAlias): Promise<string | null> {
  const object = await stage.read(alias);
  if (object === null) return ends[alias] === gone ? null : `${alias} has no object yet`;
  const { reason, message } = endOf(stage, object);
  if (!stage.subject.isSettled(object)) return `${alias} is ${reason}: ${message}`;
  return object.metadata.finalizers?.includes(evictionFinalizer) === true ? `${alias} is ${reason} and carries its finalizer` : null;
}

const endOf = ({ subject }: Stage, object: AnyObject | null): Pick<Condition, 'reason' | 'message'> =>
  object === null ? { reason: gone, message: 'there is no object' } : subject.endOf(object);

async function judgeEnds(stage: Stage, { ends, endsAfter }: Scenario, fault: FaultName | null): Promise<string[]> {
  const right = fault === null ? ends : { ...ends, ...endsAfter?.[fault] };
  const found = await Promise.all(
    stage.aliases.map(async (alias) => {
      const object = await stage.read(alias);
      const { reason, message } = endOf(stage, object);
      const mayStop = fault !== null && faults[fault].mayStop;
      const isRight = [right[alias] ?? []].flat().includes(reason) || (mayStop && object !== null && stage.subject.isStopped(object));
      return isRight ? [] : [`${alias} ended as ${reason} instead of ${[right[alias] ?? []].flat().join(' or ')}: ${message}`];
    }),
  );
  return found.flat();
}

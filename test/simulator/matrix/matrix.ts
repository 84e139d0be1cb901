import { withClock } from '../../../lab/clock.ts';
import { isMissed, runScenario } from '../../faults/run-cell.ts';
import type { Scenario } from '../../faults/scenario.ts';
import type { Simulation, WorkflowBundle } from '../simulation.ts';
import type { CleanRun, SimulatedCell } from './cell.ts';
import type { SimulatedFixtureOptions } from '../fixture.ts';
import { openSimulatedFixture } from '../fixture.ts';

export interface SimulatedResult {
  /** What went wrong, a sentence each; empty: the cell passed. */
  complaints: string[];
  /** What the run did, to know where faults can be injected. */
  run: CleanRun;
  virtualMs: number;
}

/** Longer than any scenario waits for anything. */
const mostVirtualMs = 6 * 3_600_000;

/** All runs of a scenario have the same seed, so that a cell's step is found again where it was. */
const seed = 1;

export interface SimulateHooks extends Pick<SimulatedFixtureOptions, 'onEvent' | 'mutate' | 'isEvicted'> {
  /** Called when the scenario has ended, before its simulation is closed. */
  onEnd?: (simulation: Simulation) => void;
}

/** Runs a scenario in a simulation of its own, without a fault where the cell has no target. */
export async function simulate(
  bundle: WorkflowBundle,
  scenario: Scenario,
  { targets }: Pick<SimulatedCell, 'targets'>,
  { onEnd, ...hooks }: SimulateHooks = {},
): Promise<SimulatedResult> {
  const fixture = await openSimulatedFixture({ bundle, seed, scenario, targets, ...hooks });
  const { simulation } = fixture.deployment;
  const startMs = simulation.clock.nowMs;
  const injections = targets.filter((target) => target.at === 'activity');
  const complaints: string[] = [];
  try {
    const running = withClock(simulation.clock, () => runScenario(fixture, scenario, injections));
    const result = await simulation.run(running, mostVirtualMs);
    // Of two faults, one may lead past the place of the other: then the run is judged with that one.
    const isOneInjected = fixture.injected.length + (result?.injected.length ?? 0) > 0;
    complaints.push(...(result?.complaints ?? []).filter((complaint) => !(isOneInjected && isMissed(complaint))));
    if (hooks.isEvicted === true) await simulation.replay();
  } catch (error) {
    complaints.push((error as Error).stack ?? String(error));
  } finally {
    onEnd?.(simulation);
    fixture.deployment.close();
  }
  const missed = targets.filter((target) => target.at !== 'activity').length - fixture.injected.length;
  if (missed > 0 && missed === targets.length)
    complaints.push(
      `${missed} of the targets never came; what was injected: ${fixture.injected.join(', ') || 'nothing'}`,
    );
  return { complaints, run: fixture.recorded, virtualMs: simulation.clock.nowMs - startMs };
}

import type { AllowanceWanted, AllowanceWorld } from '../../contracts/allowance.ts';
import { countBySource } from '../../activities/nova/observe-allowance.ts';
import type { Answer, Ledger } from '../../workflows/limits/ledger.ts';
import { hear, missed, newLedger } from '../../workflows/limits/ledger.ts';
import { beginLook } from '../../workflows/limits/look.ts';
import { inProgress } from './nova.ts';
import type { Simulation } from './simulation.ts';

export const regionTimes = { checkMs: 60_000, silentMs: 150_000, lingerMs: 2_000 };

export function reportArrives(sim: Simulation, said: AllowanceWanted): void {
  const { region, clock } = sim;
  if (region.ledger === null) {
    region.generation += 1;
    region.looking = false;
    region.ledger = newLedger(clock.nowMs);
  }
  region.ledger = hear(region.ledger, said, clock.nowMs);
  pass(sim);
}

function pass(sim: Simulation): void {
  const { region, clock, planners } = sim;
  if (region.ledger === null) return;
  const { unusedSinceMs } = region.ledger;
  if (unusedSinceMs !== null && unusedSinceMs + regionTimes.lingerMs <= clock.nowMs) {
    region.ledger = null;
    region.alarmMs = null;
    return;
  }
  if (unusedSinceMs === null && !region.looking && region.ledger.nextLookMs <= clock.nowMs) look(sim);
  const { ledger, answers } = planners.share(region.ledger, clock.nowMs);
  region.ledger = sim.throughJson ? (JSON.parse(JSON.stringify(ledger)) as Ledger) : ledger;
  for (const answer of answers) deliver(sim, answer);
  if (!region.looking || unusedSinceMs !== null) setAlarm(sim, unusedSinceMs === null ? region.ledger.nextLookMs : unusedSinceMs + regionTimes.lingerMs);
}

function setAlarm(sim: Simulation, atMs: number): void {
  const { region, clock } = sim;
  const alarmMs = Math.max(atMs, clock.nowMs + 1);
  if (region.alarmMs === alarmMs) return;
  region.alarmMs = alarmMs;
  clock.at(alarmMs, () => {
    if (region.alarmMs !== alarmMs) return;
    region.alarmMs = null;
    pass(sim);
  });
}

function deliver(sim: Simulation, answer: Answer): void {
  const { clock, random, region } = sim;
  const { generation } = region;
  clock.at(clock.nowMs + 20 + random() * 200, () => {
    const run = sim.runs.find(({ runId }) => runId === answer.runId);
    if (run !== undefined && run.stage !== 'closed') return sim.hearGrant(run, answer);
    if (region.generation !== generation || region.ledger === null) return;
    region.ledger = missed(region.ledger, answer, clock.nowMs);
    pass(sim);
  });
}

function look(sim: Simulation): void {
  const { region, clock, random, planners } = sim;
  const { generation } = region;
  const isSame = (): boolean => region.generation === generation && region.ledger !== null;
  region.looking = true;
  region.ledger = beginLook(region.ledger!);
  const asked = region.ledger.holders.filter(({ closed }) => !closed).map(({ runId }) => runId);
  let world: AllowanceWorld | null = null;
  let closed: string[] = [];
  clock.at(clock.nowMs + 20 + random() * 500, () => {
    if (clock.nowMs >= sim.downUntilMs.nova) world = { limit: sim.scenario.limit, ...regionTimes, inProgress: countBySource(inProgress(sim.nova)) };
  });
  clock.at(clock.nowMs + 20 + random() * 500, () => {
    closed = asked.filter((runId) => sim.runs.every((run) => run.runId !== runId || run.stage === 'closed'));
  });
  clock.at(clock.nowMs + 600, () => {
    if (!isSame()) return;
    region.ledger = planners.endLook(region.ledger!, world, closed, clock.nowMs);
    region.looking = false;
    pass(sim);
  });
}

/** The run is terminated, with all that it knew. */
export function wipe({ region }: Simulation): void {
  region.ledger = null;
  region.looking = false;
  region.alarmMs = null;
  region.generation += 1;
}

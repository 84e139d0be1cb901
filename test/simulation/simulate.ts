import { hasEnded } from '../../activities/nova/judge-migration.ts';
import type { Consent, DesiredEviction } from '../../contracts/eviction.ts';
import { planRun } from '../../workflows/eviction/plan-run.ts';
import { desired as sampleDesired, settings as sampleSettings } from '../../workflows/eviction/sample.ts';
import { onItsWay, unsaid } from '../../workflows/limits/claim.ts';
import { share } from '../../workflows/limits/ledger.ts';
import { endLook } from '../../workflows/limits/look.ts';
import { planMove } from '../../workflows/migration/plan.ts';
import { planWindDown } from '../../workflows/migration/plan-wind-down.ts';
import { createClock } from './clock.ts';
import { grantArrives, wake } from './eviction.ts';
import { ends, isHanging } from './nova.ts';
import { addServer, happen, signal } from './people.ts';
import { randomOf } from '../faults/random.ts';
import type { Scenario } from './scenario.ts';
import { eventfulMs } from './scenario.ts';
import type { Planners, Simulation } from './simulation.ts';
import { createWatch } from './watch.ts';

export const realPlanners: Planners = { planRun, planMove, planWindDown, share, endLook, onItsWay, unsaid };

const settings = {
  ...sampleSettings,
  nodeReturnMs: 2 * 3_600_000,
  cancelGraceMs: 5 * 60_000,
  retryDelayMs: 5_000,
};

const startMs = 1_000_000;
/** Everything has to have come to its end this long after the world has become calm. */
const settlesWithinMs = 4 * 3_600_000;

/** How a schedule went. */
export interface Told {
  steps: number;
  /** How each run ended, in order. */
  ends: string[];
}

/**
 * Lets one schedule happen.
 *
 * @param options.throughJson carry every state over as JSON at each step, as a run does that continues as new
 * @throws Violation
 */
export function simulate(scenario: Scenario, { planners = realPlanners, throughJson = false }: { planners?: Planners; throughJson?: boolean } = {}): Told {
  const clock = createClock(startMs);
  const watch = createWatch();
  const sim: Simulation = {
    scenario, planners, settings, clock, watch, throughJson,
    random: randomOf(scenario.seed),
    nova: {
      hosts: new Map(), servers: new Map(), orderedBy: new Map(), lastMigrationId: 0, returned: new Map(), unproven: new Set(),
      changed: () => {
        for (const wait of sim.waits) wait.check();
      },
    },
    downUntilMs: { nova: 0, kubernetes: 0 },
    stopUntilMs: 0,
    reportsFailUntilMs: { lost: 0, unconfirmed: 0 },
    faultPercent: scenario.faultPercent,
    objects: [], runs: [], children: new Map(), waits: new Set(),
    hearGrant: (run, answer) => grantArrives(sim, run, answer),
    region: { ledger: null, looking: false, generation: 0, alarmMs: null },
  };
  const addHost = (name: string): void =>
    void sim.nova.hosts.set(name, { name, service: { status: 'enabled', disabledReason: null, state: 'up', forcedDown: false }, made: 0, ghosts: [] });
  for (let index = 0; index < scenario.targets; index += 1) addHost(`target-${index}`);
  for (const [index, eviction] of scenario.evictions.entries()) {
    const host = `node-${index}`;
    addHost(host);
    for (const server of eviction.servers) addServer(sim, host, server);
    const desired: DesiredEviction = {
      ...sampleDesired, name: host, uid: host, hypervisor: host, acceptedObstacles: [],
      cause: eviction.cause, parallelism: eviction.parallelism, reEnable: eviction.reEnable,
      deadline: eviction.deadline ? '2026-01-31T12:00:00Z' : null,
      consent: (['cold-migrate', 'force-complete'] satisfies Consent[]).filter((_, bit) => ((eviction.consents >> bit) & 1) === 1),
    };
    const object = { desired, settled: false, gone: false, rebooted: false };
    sim.objects.push(object);
    clock.at(startMs + eviction.atMs, () => signal(sim, object));
  }
  for (const event of scenario.events) clock.at(startMs + event.atMs, () => happen(sim, event));
  clock.at(startMs + eventfulMs, () => calm(sim));
  const untilMs = startMs + eventfulMs + settlesWithinMs;
  while (clock.step(untilMs)) if (watch.steps > 20_000) throw new Error(`no end in sight: ${watch.ends.join('\n')}`);
  watch.atRest(sim);
  return { steps: watch.steps, ends: watch.ends };
}

/** Nothing breaks any more, and whoever paused an eviction resumes it. */
function calm(sim: Simulation): void {
  const { clock } = sim;
  sim.faultPercent = 0;
  sim.reportsFailUntilMs = { lost: 0, unconfirmed: 0 };
  // Whoever else migrates servers minds what they began: one that hangs is aborted.
  for (const server of sim.nova.servers.values()) {
    const theirs = server.migrations.find((one) => !hasEnded(one) && !sim.nova.orderedBy.has(one.id));
    if (theirs !== undefined && isHanging(server.fate)) ends(sim.nova, server, theirs, 'cancelled');
  }
  sim.stopUntilMs = Math.min(sim.stopUntilMs, clock.nowMs);
  for (const run of sim.runs) {
    if (run.stage === 'closed') continue;
    run.state.paused = null;
    wake(sim, run);
  }
}

import * as fc from 'fast-check';

import type { Confirmation, TrackedEvacuation } from '../../contracts/node-failure/fencing.ts';
import { fencingDefaults } from '../../contracts/node-failure/fencing.ts';
import type { FailureVerdict, GateDecision, HostSigns } from '../../contracts/node-failure/node-failure.ts';
import { powerStates, type PowerState } from '../../contracts/node-failure/power.ts';
import {
  candidate,
  incident,
  openedAtMs,
  proofAt,
  silentSigns,
  verdictOf,
} from '../../test/fixtures/workflows/fencing.ts';
import {
  applyEvacuation,
  beginFencing,
  loseEvidence,
  applyConfirmation,
  applyPower,
  applyProof,
  applyServers,
  useConfirmation,
  withInFlight,
  type FencingState,
} from './fencing-state.ts';
import { planFencing, type NodeFailurePlan } from './plan.ts';
import type { NodeFailureStep } from './types.ts';

/**
 * No sequence of inputs leads to an evacuation without a proof that the power is Off or a valid confirmation. What
 * counts is told by a referee of its own, who watches the world and none of drover's code.
 */

const { powerRecheckMs, consentMs, holdCheckMs } = fencingDefaults;

/** How a request to power off ends: a good proof, or one of the ways in which it is none. */
const proofEnds = ['good', 'good', 'good', 'failure', 'too close', 'of another host', 'before the incident'] as const;

type Event =
  | { what: 'time'; ms: number }
  | {
      what: 'observation';
      verdict: FailureVerdict['verdict'];
      alive: FailureVerdict['alive'];
      ready: 'True' | 'False' | 'Unknown';
      boot: string | null;
      compute: 'up' | 'down' | null;
      libvirt: 'healthy' | 'failing' | 'silent' | null;
    }
  | { what: 'gate'; gate: GateDecision }
  /** It is silent, has power, and drover may fence it so or not. */
  | { what: 'silence'; fence: boolean }
  | { what: 'mode'; mode: FencingState['mode'] }
  | { what: 'confirm'; id: string; incident: string; boot: string; person: string; agoMs: number }
  | { what: 'power'; power: PowerState }
  /** What the next steps come to. */
  | {
      what: 'fate';
      proof: (typeof proofEnds)[number];
      held: PowerState | 'failure';
      evacuation: 'evacuated' | 'failed' | null;
    };

const mostly = <Value>(usual: Value, ...others: Value[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(usual, ...others) });
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant('time' as const), ms: fc.oneof(fc.nat(20_000), fc.nat(1_200_000)) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('observation' as const),
      verdict: mostly<FailureVerdict['verdict']>('failed', 'suspect', 'watch', 'healthy'),
      alive: mostly<FailureVerdict['alive']>('no', 'unknown', 'yes'),
      ready: mostly<'True' | 'False' | 'Unknown'>('Unknown', 'True', 'False'),
      boot: mostly<string | null>('boot-1', 'boot-2', null),
      compute: mostly<'up' | 'down' | null>('down', 'up', null),
      libvirt: mostly<'healthy' | 'failing' | 'silent' | null>('silent', null, 'healthy', 'failing'),
    }),
  },
  // It came back.
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('observation' as const),
      verdict: fc.constant('watch' as const),
      alive: fc.constant('yes' as const),
      ready: fc.constant('True' as const),
      boot: mostly<string | null>('boot-2', 'boot-1', null),
      compute: fc.constant('down' as const),
      libvirt: mostly<'healthy' | null>('healthy', null),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('gate' as const),
      gate: mostly<GateDecision>(
        { gate: 'go' },
        { gate: 'hold', name: 'DomainFailure', message: '' },
        { gate: 'hold', name: 'SchedulerDown', message: '' },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('mode' as const),
      mode: mostly<FencingState['mode']>('automatic', 'recommend'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('silence' as const), fence: mostly(true, false) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('confirm' as const),
      id: fc.constantFrom('update-1', 'update-2'),
      incident: mostly(incident.id, 'node-1/0'),
      boot: mostly('boot-1', 'boot-2'),
      person: mostly('jane', ''),
      agoMs: mostly(0, consentMs - 1, consentMs, -1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('power' as const), power: fc.constantFrom(...powerStates) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('fate' as const),
      proof: fc.constantFrom(...proofEnds),
      held: mostly<PowerState | 'failure'>('Off', 'On', 'Unknown', 'PoweringOn', 'failure'),
      evacuation: mostly<'evacuated' | 'failed' | null>('evacuated', 'failed', null),
    }),
  },
);

/** Knows what is true, and whether servers may be started elsewhere. */
class Referee {
  mayEvacuate: 'proof' | 'person' | null = null;
  provedMs = -Infinity;
  lastOffMs = -Infinity;
  readonly used = new Set<string>();
  boot: string | null = 'boot-1';
  fencedBoot: string | null = null;
  compute: 'up' | 'down' | null = 'down';
  speaks = false;
  alive: FailureVerdict['alive'] = 'no';
  power: { power: PowerState; atMs: number } | null = null;

  sees({ ready, boot, compute, libvirt, alive }: Extract<Event, { what: 'observation' }>): void {
    const rebooted = boot !== null && this.fencedBoot !== null && boot !== this.fencedBoot;
    this.boot = boot;
    this.compute = compute;
    this.alive = alive;
    this.speaks = ready !== 'Unknown' || compute === 'up' || libvirt === 'healthy' || libvirt === 'failing';
    if (this.speaks || rebooted) this.mayEvacuate = null;
  }

  reads(power: PowerState, atMs: number): void {
    this.power = { power, atMs };
    if (power === 'Off') this.lastOffMs = atMs;
    else if (power !== 'Unknown') this.mayEvacuate = null;
  }

  proves(atMs: number): void {
    this.mayEvacuate = 'proof';
    this.fencedBoot = this.boot ?? incident.bootId;
    this.reads('Off', atMs);
  }

  hears({ id, incident: which, bootId, person, atMs }: Confirmation, nowMs: number): void {
    const powered =
      this.power !== null &&
      this.power.power !== 'Off' &&
      this.power.power !== 'Unknown' &&
      nowMs - this.power.atMs <= holdCheckMs;
    const counts =
      which === incident.id &&
      bootId === 'boot-1' &&
      (this.boot === null || this.boot === 'boot-1') &&
      person !== '' &&
      !this.used.has(id) &&
      atMs <= nowMs &&
      nowMs - atMs < consentMs &&
      this.compute === 'down' &&
      this.alive !== 'yes' &&
      !this.speaks &&
      !powered;
    if (!counts) return;
    this.used.add(id);
    this.mayEvacuate = 'person';
    this.fencedBoot = 'boot-1';
  }
}

interface World {
  state: FencingState;
  inFlight: Set<string>;
  nowMs: number;
  fate: Extract<Event, { what: 'fate' }>;
  referee: Referee;
  evacuations: ('proof' | 'person')[];
  /** How often it was powered off though it had power. */
  silent: number;
}

function proofOf(end: (typeof proofEnds)[number], nowMs: number) {
  const firstOffMs = nowMs - powerRecheckMs;
  if (end === 'too close') return proofAt(nowMs - 1, { secondOffMs: nowMs });
  if (end === 'of another host') return proofAt(firstOffMs, { host: 'node-2' });
  if (end === 'before the incident') return proofAt(openedAtMs - 1);
  return proofAt(firstOffMs);
}

/** Executes the plan, as a run does; false when there is nothing to do now. */
function doSteps(world: World, plan: NodeFailurePlan): boolean {
  if (plan.kind !== 'execute') return false;
  return plan.steps.map((step) => doStep(world, step)).every(Boolean);
}

function doStep(world: World, step: NodeFailureStep): boolean {
  const { state, nowMs, fate, referee } = world;
  const fail = (): true => {
    world.state = { ...state, problem: { message: 'It failed.', retryAtMs: world.nowMs + 1_000 } };
    return true;
  };
  switch (step.kind) {
    case 'recommend':
      world.state = { ...state, recommended: step.what };
      return true;
    case 'evictLive':
      world.state = { ...state, handedOver: true };
      return true;
    case 'powerOff':
      if (step.isSilent) {
        const { mode, silence, gate, forcedDown, evidence } = state;
        expect([mode, silence.fence, gate.gate, forcedDown, evidence]).toEqual(['automatic', true, 'go', false, null]);
        expect(referee.speaks).toBe(false);
        world.silent += 1;
      }
      // Reading it twice takes its time.
      world.nowMs += powerRecheckMs;
      if (fate.proof === 'failure') return fail();
      if (fate.proof === 'good') referee.proves(world.nowMs);
      world.state = applyProof(state, proofOf(fate.proof, world.nowMs));
      return world.state.evidence !== null || fail();
    case 'useConfirmation':
      referee.hears(step.confirmation, nowMs);
      world.state = useConfirmation(state, nowMs);
      return true;
    case 'forceDown':
      world.state = { ...state, forcedDown: true };
      return true;
    case 'listServers':
      world.state = applyServers(
        state,
        ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => candidate(id, id === 'f' ? { localDiskGiB: 1 } : {})),
      );
      return true;
    case 'checkPower':
      if (fate.held === 'failure') return fail();
      referee.reads(fate.held, nowMs);
      world.state = applyPower(state, { host: 'node-1', power: fate.held, atMs: nowMs });
      return true;
    case 'evacuate':
      judge(world, step.server);
      world.inFlight.add(step.server.id);
      return true;
    case 'loseEvidence':
      world.state = loseEvidence(state);
      return true;
    case 'restore':
      expect(referee.boot).not.toBeNull();
      expect(referee.boot).not.toBe(referee.fencedBoot);
      expect(world.inFlight.size).toBe(0);
      world.state = { ...state, restored: true };
      return true;
    case 'withdrawAdvice':
    case 'release':
      throw new Error('planned for the end only');
  }
}

function judge({ referee, nowMs, evacuations }: World, { id }: TrackedEvacuation): void {
  expect(referee.mayEvacuate).not.toBeNull();
  expect(id).not.toBe('f');
  if (referee.mayEvacuate === 'proof') expect(nowMs - referee.lastOffMs).toBeLessThanOrEqual(holdCheckMs);
  evacuations.push(referee.mayEvacuate!);
}

function happen(world: World, event: Event): void {
  const { state, referee, nowMs } = world;
  switch (event.what) {
    case 'time':
      world.nowMs += event.ms;
      return;
    case 'observation': {
      referee.sees(event);
      const signs: HostSigns = {
        ...silentSigns,
        node: { ready: event.ready, sinceMs: nowMs, bootId: event.boot },
        compute: event.compute === null ? null : { state: event.compute, sinceMs: nowMs },
        libvirt: event.libvirt === null ? null : { verdict: event.libvirt, sinceMs: nowMs, message: '' },
      };
      world.state = { ...state, signs, verdict: verdictOf(event.verdict, event.alive) };
      return;
    }
    case 'gate':
      world.state = { ...state, gate: event.gate };
      return;
    case 'silence': {
      const silence = event.fence
        ? ({ fence: true, message: '' } as const)
        : ({ fence: false, reason: 'NoQuorum', message: '', untilMs: null } as const);
      referee.alive = 'unknown';
      world.state = { ...state, silence, verdict: verdictOf('suspect', 'unknown', { reason: 'NoWitness' }) };
      return;
    }
    case 'mode':
      world.state = { ...state, mode: event.mode };
      return;
    case 'confirm':
      world.state = applyConfirmation(
        state,
        { id: event.id, incident: event.incident, bootId: event.boot, person: event.person, atMs: nowMs - event.agoMs },
        nowMs,
      ).state;
      return;
    case 'power':
      referee.reads(event.power, nowMs);
      world.state = applyPower(state, { host: 'node-1', power: event.power, atMs: nowMs });
      return;
    case 'fate': {
      world.fate = event;
      if (event.evacuation === null) return;
      const outcome = { outcome: event.evacuation, why: null };
      for (const id of world.inFlight) world.state = applyEvacuation(world.state, id, outcome, world.nowMs);
      world.inFlight.clear();
    }
  }
}

/** More steps than any plan takes without an input: a plan that goes round would never end. */
const mostSteps = 40;

function play(events: readonly Event[]): World {
  const state = beginFencing({
    incident,
    settings: fencingDefaults,
    mode: 'recommend',
    signs: silentSigns,
    verdict: verdictOf('suspect', 'unknown'),
    gate: { gate: 'go' },
  });
  const world: World = {
    state,
    inFlight: new Set(),
    nowMs: openedAtMs + powerRecheckMs,
    fate: { what: 'fate', proof: 'failure', held: 'Off', evacuation: null },
    referee: new Referee(),
    evacuations: [],
    silent: 0,
  };
  for (const event of events) {
    happen(world, event);
    let steps = 0;
    while (doSteps(world, planFencing(withInFlight(world.state, world.inFlight), world.nowMs))) {
      steps += 1;
      expect(steps).toBeLessThan(mostSteps);
    }
  }
  return world;
}

test('nothing is evacuated without a proof that the power is Off or a valid confirmation, whatever happens', () => {
  const reached = { proof: 0, person: 0, restored: 0, lostAfter: 0, silent: 0 };
  fc.assert(
    fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 40 }), (events) => {
      const { evacuations, state, referee, silent } = play(events);
      if (silent > 0) reached.silent += 1;
      if (evacuations.includes('proof')) reached.proof += 1;
      if (evacuations.includes('person')) reached.person += 1;
      if (state.restored) reached.restored += 1;
      if (evacuations.length > 0 && referee.mayEvacuate === null) reached.lostAfter += 1;
    }),
    { numRuns: 5_000, seed: 20_260_131 },
  );
  // Sequences that never come so far would prove nothing.
  for (const count of Object.values(reached)) expect(count).toBeGreaterThan(20);
});

test('whatever stands in the state, evidence that does not count evacuates nothing', () => {
  const anyMs = fc.oneof(
    fc.integer({ min: openedAtMs - 20_000, max: openedAtMs + 2 * consentMs }),
    fc.constant(Number.NaN),
  );
  const anyProof = fc.record({
    by: fc.constant('power' as const),
    proof: fc.record({
      host: mostly('node-1', 'node-2'),
      systemPath: fc.constant('/'),
      systemUuid: fc.constant(null),
      firstOffMs: anyMs,
      secondOffMs: anyMs,
      asked: fc.boolean(),
    }),
  });
  const anyWord = fc.record({
    by: fc.constant('person' as const),
    confirmation: fc.record({
      id: fc.constantFrom('update-1', 'update-2'),
      incident: mostly(incident.id, 'node-1/0'),
      bootId: mostly('boot-1', 'boot-2'),
      person: fc.constant('jane'),
      atMs: anyMs,
    }),
    usedAtMs: anyMs,
  });
  let evacuated = 0;
  fc.assert(
    fc.property(
      fc.option(fc.oneof(anyProof, anyWord), { nil: null }),
      fc.subarray(['update-1', 'update-2']),
      anyMs,
      fc.constantFrom(...powerStates),
      (evidence, usedConfirmations, nowMs, power) => {
        const begun = beginFencing({
          incident,
          settings: fencingDefaults,
          mode: 'automatic',
          signs: silentSigns,
          verdict: verdictOf('failed', 'no'),
          gate: { gate: 'go' },
        });
        const state: FencingState = {
          ...applyServers(begun, [candidate('a')]),
          evidence,
          usedConfirmations,
          forcedDown: true,
          power: { host: 'node-1', power, atMs: nowMs },
        };
        const plan = planFencing(state, nowMs);
        if (plan.kind !== 'execute' || plan.steps[0]?.kind !== 'evacuate') return;
        evacuated += 1;
        if (evidence?.by === 'power') {
          const { host, firstOffMs, secondOffMs } = evidence.proof;
          expect([host, firstOffMs >= openedAtMs, secondOffMs - firstOffMs >= powerRecheckMs, power]).toEqual([
            'node-1',
            true,
            true,
            'Off',
          ]);
        } else {
          expect(evidence).not.toBeNull();
          const { confirmation, usedAtMs } = evidence!;
          expect([
            confirmation.incident,
            confirmation.bootId,
            usedConfirmations.includes(confirmation.id),
            usedAtMs - confirmation.atMs < consentMs,
            usedAtMs >= confirmation.atMs,
          ]).toEqual([incident.id, 'boot-1', true, true, true]);
        }
      },
    ),
    { numRuns: 10_000, seed: 20_260_131 },
  );
  expect(evacuated).toBeGreaterThan(50);
});

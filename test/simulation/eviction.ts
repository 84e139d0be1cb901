import type { DesiredEviction } from '../../contracts/eviction.ts';
import type { Instance } from '../../contracts/instance.ts';
import { evictionRead, hostLookedAt, moveBegan, moveEnded, moveFoundBusy, preflightAnswered } from '../../workflows/eviction/answers.ts';
import type { RunStep } from '../../workflows/eviction/plan-run.ts';
import { isFinal, remember } from '../../workflows/eviction/problem.ts';
import { planReEnable } from '../../workflows/eviction/re-enable.ts';
import { needOf } from '../../workflows/eviction/need.ts';
import type { EvictionState, TrackedInstance } from '../../workflows/eviction/state.ts';
import { acceptedObstacles, askToStop, become, beginEviction } from '../../workflows/eviction/state.ts';
import type { Problem } from '../../workflows/lib/failures.ts';
import { retryAfterMs } from '../../workflows/lib/retry.ts';
import { allowanceOf, hearAnswer, noShare, report, reportDueMs } from '../../workflows/limits/claim.ts';
import type { Answer } from '../../workflows/limits/ledger.ts';
import { cancelChild, startChild } from './child.ts';
import { observeHost } from './nova.ts';
import { reportArrives } from './region.ts';
import { call, givenUpMs, passStopGate } from './calls.ts';
import type { EvictionObject, Run, Simulation } from './simulation.ts';

export function startRun(sim: Simulation, object: EvictionObject, carried: EvictionState | null = null): Run {
  const { clock, runs, settings } = sim;
  const state = carried ?? beginEviction(object.desired, settings, 'boot', clock.nowMs);
  const run: Run = {
    token: 0, object, runId: `${object.desired.name}#${runs.length}`, stage: 'opening', state, share: noShare, readAtMs: null, events: [], unpublished: true,
    acting: false, liftWait: null, waiting: null, alarmMs: null, moves: new Map(), reporting: false, unheard: null, old: false, cancelled: false,
  };
  runs.push(run);
  open(sim, run, carried, 1);
  return run;
}

const copyOf = (desired: DesiredEviction): DesiredEviction => ({ ...desired, acceptedObstacles: [...desired.acceptedObstacles], consent: [...desired.consent] });

function open(sim: Simulation, run: Run, carried: EvictionState | null, failures: number): void {
  const { clock, settings } = sim;
  call(
    sim, run, 'kubernetes',
    () => (run.object.gone ? null : copyOf(run.object.desired)),
    (desired) => {
      if (desired === null) return close(sim, run);
      const fresh = beginEviction(desired, settings, 'boot', clock.nowMs);
      run.state = carried === null ? fresh : { ...carried, desired, settings, startedAtMs: clock.nowMs, allowance: null };
      if (desired.deleting) askToStop(run.state, 'the deletion of the Eviction', clock.nowMs);
      if (run.cancelled) askToStop(run.state, 'a cancel of the run', clock.nowMs);
      run.stage = 'driving';
      wake(sim, run);
    },
    () => {
      if (run.cancelled) return close(sim, run);
      const { token } = run;
      clock.at(clock.nowMs + retryAfterMs(failures), () => void (run.token === token && open(sim, run, carried, failures + 1)));
    },
  );
}

function close(sim: Simulation, run: Run): void {
  leave(sim, run);
  run.stage = 'closed';
  run.token += 1;
  run.moves.clear();
  sim.watch.runClosed(sim, run);
}

/** Terminated: nothing of it goes on but its children, which are asked to end. */
export function terminate(sim: Simulation, run: Run): void {
  if (run.stage === 'closed') return;
  run.stage = 'closed';
  run.token += 1;
  cancelMoves(sim, run);
  sim.watch.runKilled(run);
}

function cancelMoves(sim: Simulation, run: Run): void {
  for (const [id, child] of run.moves) {
    if (child !== null) sim.clock.at(sim.clock.nowMs + 50, () => void (sim.children.get(id) === child && cancelChild(sim, child)));
  }
}

/** Makes the run look at its plan again. */
export function wake(sim: Simulation, run: Run): void {
  if (run.stage === 'concluding') return steerConclusion(sim, run);
  if (run.stage !== 'driving') return;
  if (run.state.stop !== null || run.readAtMs !== null) run.liftWait?.();
  if (run.acting) return;
  run.alarmMs = null;
  next(sim, run);
}

/** While the reboot is awaited. */
function steerConclusion(sim: Simulation, run: Run): void {
  const { clock } = sim;
  if (run.liftWait === null || run.acting) return;
  if (run.state.stop !== null) return run.liftWait();
  if (run.readAtMs === null) return;
  if (run.readAtMs > clock.nowMs) return clock.at(run.readAtMs, () => wake(sim, run));
  run.acting = true;
  refresh(sim, run, () => {
    run.acting = false;
    wake(sim, run);
  });
}

function next(sim: Simulation, run: Run): void {
  const { clock, planners, watch } = sim;
  if (sim.throughJson) run.state = JSON.parse(JSON.stringify(run.state)) as EvictionState;
  const { state } = run;
  run.acting = false;
  run.waiting = null;
  if (state.end !== null) return conclude(sim, run);
  const step = planners.planRun(state, { readAtMs: run.readAtMs, unheard: run.unheard !== null, old: run.old, inFlight: run.moves.size }, clock.nowMs);
  watch.runSteps(sim, run, step);
  tellWhenDue(sim, run);
  if (step.do === 'wait') return wait(sim, run, step);
  run.acting = true;
  if (step.do === 'continueAsNew') return continueAsNew(sim, run);
  if (step.do === 'refresh') return refresh(sim, run, () => next(sim, run));
  if (step.do === 'forget') {
    run.state.problem = null;
    return next(sim, run);
  }
  carryOut(sim, run, step);
}

function wait(sim: Simulation, run: Run, step: Extract<RunStep, { do: 'wait' }>): void {
  run.waiting = { for: step.for, untilMs: step.untilMs };
  setAlarm(sim, run, Math.min(step.untilMs ?? Infinity, reportDue(run) ?? Infinity));
}

function setAlarm(sim: Simulation, run: Run, atMs: number): void {
  if (!Number.isFinite(atMs)) return;
  const { token } = run;
  const alarmMs = Math.max(atMs, sim.clock.nowMs + 1);
  run.alarmMs = alarmMs;
  sim.clock.at(alarmMs, () => {
    if (run.token === token && run.alarmMs === alarmMs && !run.acting) wake(sim, run);
  });
}

function continueAsNew(sim: Simulation, run: Run): void {
  leave(sim, run);
  run.stage = 'closed';
  run.token += 1;
  const carried = JSON.parse(JSON.stringify(run.state)) as EvictionState;
  const successor = startRun(sim, run.object, carried);
  successor.readAtMs = run.readAtMs;
  successor.cancelled = run.cancelled;
  sim.watch.continued(run, successor);
}

function refresh(sim: Simulation, run: Run, then: () => void): void {
  run.readAtMs = null;
  call(
    sim, run, 'kubernetes',
    () => (run.object.gone ? null : copyOf(run.object.desired)),
    (desired) => {
      if (desired === null) askToStop(run.state, 'the deletion of the Eviction', sim.clock.nowMs);
      else evictionRead(run.state, desired, sim.clock.nowMs);
      then();
    },
    (problem) => {
      remember(run.state, problem, 'read', sim.clock.nowMs);
      run.readAtMs = run.state.problem?.retryAtMs ?? 0;
      then();
    },
  );
}

function carryOut(sim: Simulation, run: Run, step: Exclude<RunStep, { do: 'wait' | 'refresh' | 'forget' | 'continueAsNew' }>): void {
  const { clock, nova } = sim;
  const { hypervisor } = run.state.desired;
  const done = <Answer>(take: (answer: Answer) => void) => (answer: Answer): void => {
    take(answer);
    run.state.problem = null;
    next(sim, run);
  };
  const fail = (problem: Problem): void => takeProblem(sim, run, problem);
  switch (step.do) {
    case 'preflight':
      return call(sim, run, 'nova', () => sim.watch.pictureTaken(sim, run, { host: observeHost(nova, hypervisor), obstacles: obstaclesOf(sim, run) }), done((found) => preflightAnswered(run.state, found, clock.nowMs)), fail);
    case 'disable':
      run.state.phase = 'Disabling';
      return call(
        sim, run, 'nova',
        () => {
          const { service } = nova.hosts.get(hypervisor)!;
          if (service.status === 'enabled') {
            passStopGate(sim);
            Object.assign(service, { status: 'disabled', disabledReason: `drover: eviction ${hypervisor}` });
            sim.watch.disabled(run);
          }
          return { ...service };
        },
        done((service) => (run.state.host!.service = service)),
        fail,
      );
    case 'move':
      for (const { instance } of step.instances) startMove(sim, run, run.state.instances[instance.id]!);
      return next(sim, run);
    case 'look':
      return call(sim, run, 'nova', () => sim.watch.pictureTaken(sim, run, { host: observeHost(nova, hypervisor), obstacles: [] }).host, done((host) => hostLookedAt(run.state, host, clock.nowMs)), fail);
    case 'abort':
      if (run.state.stop !== null) run.state.stop.aborted = true;
      cancelMoves(sim, run);
      return next(sim, run);
    case 'reEnable':
      return call(sim, run, 'nova', () => enableService(sim, hypervisor), done((enabled) => {
        run.state.reEnabled = enabled;
        if (enabled) run.state.host!.service = { ...run.state.host!.service, status: 'enabled', disabledReason: null };
      }), fail);
    case 'end':
      run.state.end = { outcome: step.outcome, reason: step.reason, message: step.message };
      return next(sim, run);
  }
}

function enableService(sim: Simulation, hypervisor: string): boolean {
  const { service } = sim.nova.hosts.get(hypervisor)!;
  if (service.status === 'enabled') return true;
  if (service.disabledReason?.startsWith('drover:') !== true) return false;
  passStopGate(sim);
  Object.assign(service, { status: 'enabled', disabledReason: null });
  sim.watch.enabledAgain(sim, hypervisor);
  return true;
}

function obstaclesOf(sim: Simulation, { object }: Run) {
  const here = sim.nova.servers;
  const eviction = sim.scenario.evictions[sim.objects.indexOf(object)]!;
  return eviction.servers.flatMap(({ obstacle }, index) => {
    const instanceId = `${object.desired.hypervisor}-${index}`;
    const isHere = here.get(instanceId)?.instance.host === object.desired.hypervisor;
    return obstacle === null || !isHere ? [] : [{ id: `${obstacle}/${instanceId}`, code: obstacle, instanceId, message: `${instanceId} has ${obstacle}` }];
  });
}

function takeProblem(sim: Simulation, run: Run, problem: Problem): void {
  const { clock } = sim;
  const { state } = run;
  if (isFinal(problem)) {
    state.end = { outcome: 'Failed', reason: problem.reason, message: problem.message };
    return next(sim, run);
  }
  remember(state, problem, 'step', clock.nowMs);
  if (problem.code !== 'Stopped') return next(sim, run);
  run.waiting = { for: problem.message, untilMs: null };
  untilLiftedOrSteered(sim, run, (lifted) => {
    if (lifted) run.state.problem = null;
    next(sim, run);
  });
}

/** Waits for `drover stop` to be lifted, but no longer than until the run is steered. */
function untilLiftedOrSteered(sim: Simulation, run: Run, then: (lifted: boolean) => void): void {
  const { token } = run;
  const end = (lifted: boolean) => (): void => {
    if (run.token !== token || run.liftWait === null) return;
    run.liftWait = null;
    then(lifted);
  };
  run.liftWait = end(false);
  if (run.state.stop !== null || run.readAtMs !== null) return sim.clock.at(sim.clock.nowMs, end(false));
  sim.clock.at(Math.max(sim.stopUntilMs, sim.clock.nowMs) + 500, end(true));
}

function startMove(sim: Simulation, run: Run, one: TrackedInstance): void {
  const { clock } = sim;
  const { state } = run;
  const { id } = one.instance;
  moveBegan(one, clock.nowMs);
  const { token } = run;
  const settle = (take: (one: TrackedInstance) => void): void => {
    if (run.token !== token) return;
    run.moves.delete(id);
    take(run.state.instances[id]!);
    run.unpublished = true;
    wake(sim, run);
  };
  const child = startChild(
    sim,
    {
      instance: { ...(one.instance satisfies Instance) },
      sourceHost: state.host!.host,
      eviction: { name: state.desired.name, uid: state.desired.uid },
      consent: state.desired.consent,
      accepted: [...acceptedObstacles(state)].some((accepted) => accepted.endsWith(`/${id}`)),
      settings: state.settings,
    },
    (result) => settle(() => moveEnded(run.state, id, result, clock.nowMs)),
    (problem) => settle((its) => {
      become(its, 'pending', clock.nowMs, problem.message);
      if (run.state.stop === null) remember(run.state, problem, 'step', clock.nowMs);
    }),
  );
  run.moves.set(id, child);
  if (child === null) return clock.at(clock.nowMs + 20, () => settle((its) => moveFoundBusy(its, run.state, clock.nowMs)));
  sim.watch.moveBegan(sim, run, id, child);
}

/** The end is known; what follows is the host's return and the Eviction's last word. */
function conclude(sim: Simulation, run: Run): void {
  const { clock } = sim;
  run.stage = 'concluding';
  leave(sim, run);
  const { state } = run;
  const how = state.end?.outcome === 'Succeeded' ? planReEnable(state.desired).how : 'leave';
  const publish = (failures: number): void => {
    const again = (): void => clock.at(clock.nowMs + retryAfterMs(failures), () => publish(failures + 1));
    call(
      sim, run, 'kubernetes',
      () => {
        run.object.settled = true;
        if (run.object.desired.deleting) run.object.gone = true;
      },
      () => close(sim, run),
      again,
    );
  };
  const enable = (attempt: number): void => {
    if (attempt > 5) return publish(1);
    call(sim, run, 'nova', () => enableService(sim, state.desired.hypervisor), (enabled) => {
      state.reEnabled = enabled;
      publish(1);
    }, () => clock.at(clock.nowMs + retryAfterMs(attempt), () => enable(attempt + 1)));
  };
  if (how === 'leave') return publish(1);
  if (how === 'now') return enable(1);
  const { token } = run;
  const end = (isBack: boolean) => (): void => {
    if (run.token !== token || run.liftWait === null) return;
    run.liftWait = null;
    return isBack ? enable(1) : publish(1);
  };
  run.liftWait = end(false);
  run.acting = false;
  wake(sim, run);
  clock.at(clock.nowMs + state.settings.nodeReturnMs, () => end(run.object.rebooted)());
  sim.watch.awaitsReboot(run);
}

const reportDue = (run: Run): number | null => {
  const atMs = reportDueMs(run.share, needOf(run.state), run.state.settings.allowanceRenewMs);
  return run.reporting || atMs === null ? null : Math.max(atMs, run.unheard?.retryAtMs ?? 0);
};

/** Reports to the run that shares out the region's migrations, where that is due. */
function tellWhenDue(sim: Simulation, run: Run): void {
  const { clock } = sim;
  const dueMs = reportDue(run);
  if (dueMs === null || dueMs > clock.nowMs) return;
  run.reporting = true;
  const told = (problem: Problem | null): void => {
    run.reporting = false;
    if (problem === null) {
      run.unheard = null;
    } else {
      const failures = (run.unheard?.failures ?? 0) + 1;
      run.unheard = { failures, retryAtMs: clock.nowMs + retryAfterMs(failures) };
      remember(run.state, problem, 'report', clock.nowMs);
    }
    wake(sim, run);
  };
  tell(sim, run, needOf(run.state), told);
}

function tell(sim: Simulation, run: Run, need: ReturnType<typeof needOf>, then: (problem: Problem | null) => void): void {
  const { clock, random, planners, reportsFailUntilMs } = sim;
  const { share: before } = run;
  const { share, said } = report(before, need, clock.nowMs);
  run.share = planners.onItsWay(before, share);
  if (share.said === null) run.state.allowance = null;
  const { desired } = run.state;
  const wanted = { consumer: desired.name, runId: run.runId, deadline: desired.deadline, host: desired.hypervisor, ...said };
  const { token } = run;
  const chance = random() * 100;
  const isLost = chance < sim.faultPercent / 2 || clock.nowMs < reportsFailUntilMs.lost;
  const fails = isLost || chance < sim.faultPercent || clock.nowMs < reportsFailUntilMs.unconfirmed;
  clock.at(clock.nowMs + 20 + random() * 200, () => {
    if (!isLost) reportArrives(sim, wanted);
    clock.at(clock.nowMs + (fails ? givenUpMs : 30), () => {
      if (run.token !== token) return;
      if (!fails) {
        if (share.said === null) run.share = share;
        return then(null);
      }
      run.share = planners.unsaid(before, run.share);
      then({ code: null, reason: 'TimedOut', message: 'No answer in time' });
    });
  });
}

/** Gives its share back. */
function leave(sim: Simulation, run: Run): void {
  if (run.share.said !== null) tell(sim, run, { want: 0, using: 0 }, () => undefined);
}

/** The region's answer reaches the run. */
export function grantArrives(sim: Simulation, run: Run, { granted }: Answer): void {
  run.share = hearAnswer(run.share, granted);
  run.state.allowance = { allowance: allowanceOf(run.share), limit: granted.limit, consumers: granted.consumers, sequence: granted.sequence };
  wake(sim, run);
}

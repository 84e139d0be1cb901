import type { ErrorCode } from '../../contracts/errors.ts';
import { adviceName, fencedHold, fencedReasonPrefix, hypervisorAnnotations } from '../../contracts/ids.ts';
import type { FencingClaimRequest, GrantedClaim, HypervisorOfHost } from '../../contracts/node-failure/activities.ts';
import { priorityKey } from '../../contracts/node-failure/fencing.ts';
import type { PowerProof } from '../../contracts/node-failure/power.ts';
import { explain, wasTakenUp } from '../lib/failures.ts';
import { hypervisorObjects, hypervisorRegion } from '../lib/hypervisor-activities.ts';
import type { Executed, Executor, Reconciler, StepContext } from '../lib/lifecycle.ts';
import { count } from '../lib/metrics.ts';
import {
  failureHosts,
  failureObjects,
  failureRegion,
  failureRegionWait,
  onEvidence,
  power,
  powerWhileSilent,
} from '../lib/node-failure-activities.ts';
import { confirmCommand } from './describe.ts';
import type { EvacuationOutcome } from './evacuations.ts';
import { evacuationOutcome } from './evacuations.ts';
import { datedProof, downProof, upProof } from './evidence.ts';
import type { FencingState } from './fencing-state.ts';
import {
  applyEvacuation,
  applyObservation,
  applyPower,
  applyProof,
  applyServers,
  loseEvidence,
  useConfirmation,
} from './fencing-state.ts';
import { changeFencing } from './memory.ts';
import { mayFenceSilent } from './plan.ts';
import type { NodeFailureLifecycle, NodeFailureMemory, NodeFailureStep, StepOf } from './types.ts';

type Context = StepContext<NodeFailureLifecycle>;
type Result = Executed<NodeFailureLifecycle>;

/** What a step is executed on: the planner makes none before all of it is known. */
interface Target {
  fencing: FencingState;
  hypervisor: HypervisorOfHost;
  /** Nova's name of the host. */
  novaHost: string;
  region: string;
}

function targetOf({ memory: { fencing }, observed: { hypervisor, nova }, settings: { region } }: Context): Target {
  if (fencing === null || hypervisor === null || nova === null) throw new TypeError('a step without an observation');
  return { fencing, hypervisor, novaHost: nova.host, region };
}

/** What has changed meanwhile, such as an evacuation that ended, stays. */
const changed = (change: (fencing: FencingState) => FencingState, others: Partial<NodeFailureMemory> = {}): Result => ({
  applyResult: (memory) => ({ ...changeFencing(memory, change), failures: 0, ...others }),
});

export const executeSteps: Reconciler<NodeFailureLifecycle>['execute'] = {
  async recommend(context, { what, message }) {
    const target = targetOf(context);
    const { fencing, hypervisor } = target;
    const command = confirmCommand(fencing);
    // A dead host is never emptied live, so there is nothing to plan; and where drover acts, it plans then.
    const isAdvised = what === 'evictLive' && fencing.mode === 'recommend';
    const advice = {
      fence:
        command === null
          ? 'Check it: console, BMC, rack.'
          : `Once you have made sure that it is off and stays off: ${command}`,
      evictLive: `To move its servers live${isAdvised ? ` (what that takes: kubectl describe eviction ${adviceName(hypervisor.name)})` : ''}: kubectl patch hypervisor ${hypervisor.name} --type=merge --patch '{"spec":{"maintenance":"ha"}}'`,
      mend: 'Its servers run: nothing is to be evacuated.',
    }[what];
    const { name, uid } = hypervisor;
    await record(target, 'Warning', fencing.verdict.reason, `${message}. ${advice}`, [what]);
    if (isAdvised)
      await failureObjects(`Plan how ${name} would be emptied, in an Eviction that changes nothing`).adviseEviction({
        name,
        uid,
        incident: fencing.incident.id,
        reason: message,
      });
    count('hostFailures', { reason: fencing.verdict.reason });
    return changed((now) => ({ ...now, recommended: what }), isAdvised ? { advised: true } : {});
  },

  /**
   * What the Hypervisor's own run makes of it: disabled, and emptied by an Eviction whose obstacles are carried along.
   */
  async evictLive(context, { message }) {
    const target = targetOf(context);
    const claim = await claimFencing(context, target, null);
    if ('refused' in claim) return claim.refused;
    const { name } = target.hypervisor;
    let isHandedOver = false;
    try {
      isHandedOver = await patch(target, 'Have its servers moved live', {
        annotations: { [hypervisorAnnotations.maintenanceBy]: null },
        spec: { maintenance: 'ha' },
      });
    } finally {
      if (!isHandedOver) await giveUpFencing(target, claim.granted);
    }
    if (!isHandedOver) return putOff(`The spec of ${name} was changed meanwhile.`, context.settings.observeMs);
    if (context.memory.advised) await withdrawAdvice(target.hypervisor);
    const said = `${message}. ${name} is taken into maintenance, and its servers are moved live`;
    await record(target, 'Warning', 'EvictedLive', said, []);
    return changed((now) => ({ ...now, handedOver: true }), { advised: false });
  },

  async powerOff(context, { cause, isSilent }) {
    const target = targetOf(context);
    const { incident, settings, fencedBootId } = target.fencing;
    const { host } = incident;
    const { power: times, silence } = context.settings;
    const budget = isSilent ? { incident: incident.id, mostPerHour: silence?.mostPerHour ?? 0 } : null;
    const claim = await claimFencing(context, target, budget);
    if ('refused' in claim) return claim.refused;
    let mayBeOff = false;
    try {
      const changedMind = isSilent ? await judgeAgain(context, target) : null;
      if (changedMind !== null) return changedMind;
      // The boot is only written down once it is known to be over.
      await hold(target, fencedBootId);
      mayBeOff = true;
      const askedMs = Date.now();
      const deadlineMs = times.timeoutMs + settings.powerRecheckMs + 60_000;
      const summary = `Power ${host} off, and read Off twice`;
      // A request that no worker takes up in time would kill a host that has come back meanwhile.
      const bmc = isSilent ? powerWhileSilent(summary, deadlineMs, settings.holdCheckMs) : power(summary, deadlineMs);
      const proof = await bmc.ensurePoweredOff({
        host,
        cause,
        // A dead host is off by the word of its BMC: if it is not any more, it is to be judged anew.
        mayAsk: isSilent,
        recheckMs: settings.powerRecheckMs,
        ...times,
      });
      return await applyPowerOff(context, target, datedProof(proof, askedMs));
    } catch (error) {
      if (!isSilent || wasNotAsked(error)) mayBeOff = false;
      throw error;
    } finally {
      if (!mayBeOff) await giveUpFencing(target, claim.granted);
    }
  },

  async useConfirmation(context, { confirmation: { id, person } }) {
    const target = targetOf(context);
    const nowMs = Date.now();
    const { host } = target.fencing.incident;
    const said = `${person} has confirmed that ${host} is off and stays off`;
    if (useConfirmation(target.fencing, nowMs).evidence !== null)
      await record(target, 'Warning', 'ConfirmedOff', said, [id]);
    return changed((now) => useConfirmation(now, nowMs));
  },

  async forceDown(context) {
    const target = targetOf(context);
    const { fencing, novaHost: host, region } = target;
    const { evidence, incident, fencedBootId } = fencing;
    if (evidence === null) throw new TypeError('forced down without evidence');
    await hold(target, fencedBootId);
    await hypervisorRegion(region, `Disable ${host} in Nova`).ensureServiceDisabled({
      host,
      reason: `${fencedReasonPrefix}${incident.id}`,
    });
    await failureRegion(region, `Force ${host} down, as it is off`).ensureForcedDown({
      host,
      forcedDown: true,
      proof: downProof(evidence, incident),
    });
    const said = `${host} is forced down in Nova: its servers can be started elsewhere`;
    await record(target, 'Warning', 'Fenced', said, []);
    return changed((now) => ({ ...now, forcedDown: true, problem: null }), { held: true });
  },

  async listServers(context) {
    const target = targetOf(context);
    const { fencing, novaHost: host, region } = target;
    const excluded = fencing.settings.exclusions.metadata.map((pair) => pair.split('=', 1)[0] ?? pair);
    const servers = await failureRegion(region, `List the servers of ${host}`).listEvacuationCandidates({
      host,
      metadataKeys: [priorityKey, ...excluded],
    });
    const unread = servers.filter(({ imageTags }) => imageTags === null).length;
    if (unread > 0) await record(target, 'Warning', 'ImagesNotRead', imagesNotRead(unread, host), []);
    return changed((now) => applyServers(now, servers));
  },

  async checkPower(context) {
    const { host } = targetOf(context).fencing.incident;
    const askedMs = Date.now();
    const { power: state } = await power(`Check that ${host} is still off`, 60_000).observePower({ host });
    return changed((now) => applyPower(now, { host, power: state, atMs: askedMs }));
  },

  async evacuate(context, step) {
    const outcome = await evacuateServer(context, step);
    const endedMs = Date.now();
    const { id } = step.server;
    return {
      applyResult: (memory) => changeFencing(memory, (now) => applyEvacuation(now, id, outcome, endedMs)),
    };
  },

  async loseEvidence(context, { why }) {
    await record(targetOf(context), 'Warning', 'EvidenceLost', `Nothing more is evacuated: ${why}`, [
      String(Date.now()),
    ]);
    return changed(loseEvidence);
  },

  async restore(context) {
    const target = targetOf(context);
    const { fencing, novaHost: host, region } = target;
    const bootId = fencing.signs.node?.bootId ?? '';
    await failureRegion(region, `Take back that ${host} is forced down`).ensureForcedDown({
      host,
      forcedDown: false,
      proof: upProof(bootId, fencing.incident, Date.now()),
    });
    await record(target, 'Normal', 'Restored', `${host} is back as boot ${bootId}, and no longer forced down`, []);
    return changed((now) => ({ ...now, restored: true, problem: null }));
  },

  async withdrawAdvice(context) {
    const { hypervisor } = context.observed;
    if (hypervisor !== null) await withdrawAdvice(hypervisor);
    return { applyResult: (memory) => ({ ...memory, advised: false }), observation: 'unchanged' };
  },

  async release(context) {
    const target = targetOf(context);
    const { name, userHold } = target.hypervisor;
    // A user's hold is for the user to take away.
    await patch(target, `Release ${name}`, {
      annotations: {
        [hypervisorAnnotations.hold]: userHold,
        [hypervisorAnnotations.userHold]: null,
        [hypervisorAnnotations.fencedBootId]: null,
      },
    });
    return { applyResult: (memory) => ({ ...memory, held: false, failures: 0 }), observation: 'unchanged' };
  },
} satisfies { [Kind in NodeFailureStep['kind']]: Executor<NodeFailureLifecycle, StepOf<Kind>> };

const imagesNotRead = (servers: number, host: string): string =>
  `Glance could not be read, so the images’ tags of ${servers} servers of ${host} are not known: these servers are evacuated like all others. What else brings back, such as amphorae of Octavia, may be there twice; name their images in nodeFailure.evacuation.excludedImageIds`;

/** Has the server started elsewhere, and waits for it. Never fails: what went wrong is the outcome's `why`. */
async function evacuateServer(
  context: Context,
  { server: { id, name } }: StepOf<'evacuate'>,
): Promise<EvacuationOutcome> {
  const { fencing, novaHost: sourceHost, region } = targetOf(context);
  const { deadlineMs, poll } = context.settings.evacuation;
  try {
    const begun = onEvidence(region, `Evacuate ${name} off ${sourceHost}`, fencing.settings.holdCheckMs);
    const start = await begun.startEvacuation({
      instanceId: id,
      sourceHost,
      targetHost: null,
      incident: fencing.incident.id,
    });
    if (start.outcome === 'changed')
      return evacuationOutcome(start.observation, sourceHost, 'Nova has not begun its evacuation');
    if (start.outcome !== 'started')
      return { outcome: 'failed', why: start.outcome === 'refused' ? start.message : 'no host has room for it' };
    // Temporal's own time-out comes after the activity's, which can say how it stands.
    const waiting = failureRegionWait(region, `Wait until ${name} has come up elsewhere`, deadlineMs + 120_000);
    const migrationId = start.migration.id;
    const end = await waiting.awaitEvacuation({ instanceId: id, sourceHost, migrationId, deadlineMs, poll });
    const why =
      end.stuck === null
        ? `its evacuation ended as ${end.status}`
        : `its evacuation has not ended within ${Math.round(deadlineMs / 60_000)} min`;
    return evacuationOutcome(end.observation, sourceHost, end.message ?? why);
  } catch (error) {
    const { code, message } = explain(error);
    // A stop and a worker that is away say nothing of the server: its few attempts are kept for what does.
    return { outcome: code === 'Stopped' || !wasTakenUp(error) ? 'putOff' : 'failed', why: message };
  }
}

/** What drover does by itself, it does to one host at a time. */
async function claimFencing(
  { settings: { gates, observeMs } }: Context,
  { fencing }: Target,
  budget: FencingClaimRequest['budget'],
): Promise<{ granted: GrantedClaim } | { refused: Result }> {
  const { host } = fencing.incident;
  const claim = await failureObjects(`Claim that drover acts on ${host} by itself`).claimFencing({
    host,
    cycleMs: gates.cycleMs,
    budget,
  });
  if (claim.granted) return { granted: claim };
  const why =
    claim.reason === 'OneAtATime'
      ? `Another host, ${claim.host}, was fenced or emptied a short time ago; one at a time.`
      : `No more hosts that have power may be fenced within this hour: it was spent on ${claim.host}.`;
  return { refused: putOff(why, observeMs) };
}

/** What the BMC said of its host counts if it is of this incident. */
async function applyPowerOff({ settings }: Context, target: Target, dated: PowerProof): Promise<Result> {
  if (applyProof(target.fencing, dated).evidence === null) {
    const problem = {
      message: 'What its BMC said proves nothing for this incident.',
      retryAtMs: Date.now() + settings.observeMs,
      step: 'powerOff',
    };
    return changed((now) => ({ ...now, problem }), { held: true });
  }
  const { host } = target.fencing.incident;
  await record(target, 'Warning', 'PoweredOff', `${host} is off: its BMC said so twice`, [String(dated.firstOffMs)]);
  return changed((now) => applyProof(now, dated), { held: true });
}

/** No other host is held back by one that was not fenced. A claim that is left behind is over by itself. */
const giveUpFencing = ({ fencing: { incident } }: Target, { atMs, before }: GrantedClaim): Promise<void> =>
  failureObjects(`Give up the claim on ${incident.host}, which was not fenced`)
    .giveUpFencing({ host: incident.host, atMs, before })
    .catch((error: unknown) => void explain(error));

/** Its BMC has not taken the request to power the host off. After any other failure the host may be off. */
function wasNotAsked(error: unknown): boolean {
  const { code } = explain(error);
  return !wasTakenUp(error) || (code !== null && refusals.includes(code));
}

const refusals: readonly ErrorCode[] = ['Stopped', 'PowerOffRefused', 'BmcCredentialRefused', 'SystemNotFound'];

/** Whatever its BMC says meanwhile does not end it. */
const putOff = (message: string, afterMs: number): Result => {
  const problem = { message, retryAtMs: Date.now() + afterMs, step: 'claim' };
  return changed((now) => ({ ...now, problem }));
};

/**
 * A host that has power may have come back since it was judged: it is observed once more, right before. Null: it is as
 * silent as before.
 */
async function judgeAgain({ input, settings, memory }: Context, { fencing }: Target): Promise<Result | null> {
  const { host } = fencing.incident;
  const askedMs = Date.now();
  const found = await failureHosts(`Observe ${host} once more before it is powered off`).observeNodeFailure(input);
  const dated = found.kind === 'observed' ? { observed: found.observed, askedMs, guests: memory.guests } : null;
  const now = dated === null ? null : applyObservation(fencing, host, dated, settings, Date.now());
  if (now !== null && mayFenceSilent(now) && now.gate.gate === 'go') return null;
  const why = now === null || now.silence.fence ? 'it is not judged as before' : now.silence.message;
  return putOff(`${host} was observed once more, and is not powered off: ${why}.`, settings.observeMs);
}

/**
 * Keeps the host out of service until it is restored, and says so to users and to the hypervisor's run. What a user
 * holds it for is kept meanwhile.
 */
async function hold(target: Target, bootId: string | null): Promise<void> {
  const { host, id } = target.fencing.incident;
  const text = `${fencedHold}: ${host} has failed and is fenced (incident ${id}); it is held off until it is restored`;
  await patch(target, `Hold ${host} out of service`, {
    annotations: {
      [hypervisorAnnotations.hold]: text,
      [hypervisorAnnotations.userHold]: target.hypervisor.userHold,
      [hypervisorAnnotations.fencedBootId]: bootId,
    },
  });
}

const patch = (
  { hypervisor: { name, uid, generation } }: Target,
  summary: string,
  change: Parameters<ReturnType<typeof hypervisorObjects>['patchHypervisor']>[0]['patches'][number],
): Promise<boolean> => hypervisorObjects(summary).patchHypervisor({ name, uid, generation, patches: [change] });

/** What is left of it does no harm. */
const withdrawAdvice = (hypervisor: HypervisorOfHost): Promise<void> =>
  failureObjects(`Delete the advice how ${hypervisor.name} would be emptied`)
    .withdrawAdvice(hypervisor)
    .catch((error: unknown) => void explain(error));

/** Events are for users; one that cannot be written must not hold up what it is about. */
const record = (
  { hypervisor: { name, uid }, fencing }: Target,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  identity: string[],
): Promise<void> =>
  failureObjects(`Record ${reason} on Hypervisor ${name}`)
    .recordHypervisorEvent({ name, uid, type, reason, message, identity: [fencing.incident.id, ...identity] })
    .catch((error: unknown) => void explain(error));

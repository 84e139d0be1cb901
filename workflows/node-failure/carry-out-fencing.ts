import { adviceName, fencedHold, fencedReasonPrefix, hypervisorAnnotations } from '../../contracts/ids.ts';
import type { NodeFailureLook, SeenHypervisor } from '../../contracts/node-failure/activities.ts';
import { priorityKey } from '../../contracts/node-failure/fencing.ts';
import { hypervisorObjects, hypervisorRegion } from '../lib/hypervisor-activities.ts';
import { count } from '../lib/metrics.ts';
import { failureObjects, failureRegion, power } from '../lib/node-failure-activities.ts';
import { confirmCommand } from './describe-failure.ts';
import type { FailureRun } from './failure-run.ts';
import type { FencingState } from './fencing-state.ts';
import { loseEvidence, takePower, takeProblem, takeProof, takeServers, useConfirmation } from './fencing-state.ts';
import { datedProof, downProof, upProof } from './forced-down-proof.ts';
import type { FailureStep } from './plan-failure.ts';

/** What a step is made on. */
export interface Stage {
  run: FailureRun;
  fencing: FencingState;
  hypervisor: SeenHypervisor;
  nova: NonNullable<NodeFailureLook['nova']>;
}

type Deed = Exclude<FailureStep['do'], 'wait' | 'end' | 'evacuate'>;

/** Takes one step, and the state that follows from it. Fails as its calls do; then the state is as it was. */
export const carryOutFencing = (stage: Stage, step: Extract<FailureStep, { do: Deed }>): Promise<FencingState> =>
  deeds[step.do](stage, step as never);

const deeds: {
  readonly [Do in Deed]: (stage: Stage, step: Extract<FailureStep, { do: Do }>) => Promise<FencingState>;
} = {
  async recommend(stage, { what, message }) {
    const { fencing, hypervisor } = stage;
    const command = confirmCommand(fencing);
    // A dead host is never emptied live, so there is nothing to plan; and where drover acts, it plans then.
    const isAdvised = what === 'evictLive' && fencing.mode === 'recommend';
    const advice = {
      fence:
        command === null
          ? 'Look at it: console, BMC, rack.'
          : `Once you have made sure that it is off and stays off: ${command}`,
      evictLive: `To move its servers live${isAdvised ? ` (what that takes: kubectl describe eviction ${adviceName(hypervisor.name)})` : ''}: kubectl patch hypervisor ${hypervisor.name} --type=merge --patch '{"spec":{"maintenance":"ha"}}'`,
      mend: 'Its servers run: nothing is to be evacuated.',
    }[what];
    await record(stage, 'Warning', fencing.verdict.reason, `${message}. ${advice}`, [what]);
    if (isAdvised) await advise(stage, message);
    count('hostFailures', { reason: fencing.verdict.reason });
    return { ...fencing, recommended: what };
  },

  /** What the Hypervisor's own run makes of it: disabled, and emptied by an Eviction whose obstacles are carried along. */
  async evictLive(stage, { message }) {
    const { fencing, hypervisor, run } = stage;
    const waiting = await takeTurn(stage);
    if (waiting !== null) return waiting;
    await withdrawAdvice(run);
    await patch(stage, 'Have its servers moved live', [
      { annotations: { [hypervisorAnnotations.maintenanceBy]: null }, spec: { maintenance: 'ha' } },
    ]);
    await record(
      stage,
      'Warning',
      'EvictedLive',
      `${message}. ${hypervisor.name} is taken into maintenance, and its servers are moved live`,
      [],
    );
    return { ...fencing, handedOver: true };
  },

  async powerOff(stage, { cause }) {
    const { run, fencing } = stage;
    const { settings, incident } = fencing;
    const { power: times } = run.seen!.settings;
    const waiting = await takeTurn(stage);
    if (waiting !== null) return waiting;
    await hold(stage, fencing.incident.bootId);
    const askedMs = Date.now();
    const proof = await power(
      `Power ${incident.host} off, and read Off twice`,
      times.timeoutMs + settings.powerRecheckMs + 60_000,
    ).ensurePoweredOff({ host: incident.host, cause, recheckMs: settings.powerRecheckMs, ...times });
    const taken = takeProof(fencing, datedProof(proof, askedMs));
    if (taken.evidence === null)
      return takeProblem(
        fencing,
        'What its BMC told proves nothing for this incident.',
        Date.now() + run.seen!.settings.lookMs,
      );
    await record(stage, 'Warning', 'PoweredOff', `${incident.host} is off: its BMC told so twice`, [String(askedMs)]);
    return taken;
  },

  async useConfirmation(stage, { confirmation }) {
    const used = useConfirmation(stage.fencing, Date.now());
    if (used.evidence !== null)
      await record(
        stage,
        'Warning',
        'ConfirmedOff',
        `${confirmation.person} has confirmed that ${stage.fencing.incident.host} is off and stays off`,
        [confirmation.id],
      );
    return used;
  },

  async forceDown(stage) {
    const { run, fencing, nova } = stage;
    const { evidence, incident } = fencing;
    if (evidence === null) throw new Error('forced down without evidence');
    const { region } = run.seen!.settings;
    await hold(stage, fencing.fencedBootId);
    await hypervisorRegion(region, `Disable ${nova.host} in Nova`).ensureServiceDisabled({
      host: nova.host,
      reason: `${fencedReasonPrefix}${incident.id}`,
    });
    await failureRegion(region, `Force ${nova.host} down, as it is off`).ensureForcedDown({
      host: nova.host,
      forcedDown: true,
      proof: downProof(evidence, incident),
    });
    await record(
      stage,
      'Warning',
      'Fenced',
      `${nova.host} is forced down in Nova: its servers can be started elsewhere`,
      [],
    );
    return { ...fencing, forcedDown: true, problem: null };
  },

  async listServers({ run, fencing, nova }) {
    const { metadata } = fencing.settings.exclusions;
    const metadataKeys = [priorityKey, ...metadata.map((mark) => mark.split('=', 1)[0] ?? mark)];
    return takeServers(
      fencing,
      await failureRegion(run.seen!.settings.region, `Look up the servers of ${nova.host}`).listEvacuationCandidates({
        host: nova.host,
        metadataKeys,
      }),
    );
  },

  async checkPower({ fencing }) {
    const { host } = fencing.incident;
    const askedMs = Date.now();
    const { power: told } = await power(`Look whether ${host} is still off`, 60_000).observePower({ host });
    return takePower(fencing, { host, power: told, atMs: askedMs });
  },

  async loseEvidence(stage, { why }) {
    await record(stage, 'Warning', 'EvidenceLost', `Nothing more is evacuated: ${why}`, [String(Date.now())]);
    return loseEvidence(stage.fencing);
  },

  async restore(stage) {
    const { run, fencing, nova } = stage;
    const bootId = fencing.signs.node?.bootId ?? '';
    await failureRegion(run.seen!.settings.region, `Take back that ${nova.host} is forced down`).ensureForcedDown({
      host: nova.host,
      forcedDown: false,
      proof: upProof(bootId, fencing.incident, Date.now()),
    });
    await record(stage, 'Normal', 'Restored', `${nova.host} is back as boot ${bootId}, and no longer forced down`, []);
    return { ...fencing, restored: true, problem: null };
  },
};

/** What drover does by itself, it does to one host at a time. Null: it is this one's turn. */
async function takeTurn({ run, fencing }: Stage): Promise<FencingState | null> {
  const { host } = fencing.incident;
  const { gates, lookMs } = run.seen!.settings;
  const claim = await failureObjects(`Take the turn to deal with ${host}`).claimFencing({
    host,
    cycleMs: gates.cycleMs,
  });
  return claim.granted
    ? null
    : takeProblem(
        fencing,
        `Another host, ${claim.host}, was fenced or emptied a short time ago; one at a time.`,
        Date.now() + lookMs,
      );
}

/** Keeps the host out of service until it is restored, and says so where people and the hypervisor's run look. */
async function hold(stage: Stage, bootId: string | null): Promise<void> {
  const { incident } = stage.fencing;
  const text = `${fencedHold}: ${incident.host} has failed and is fenced (incident ${incident.id}); it is held off until it is restored`;
  await patch(stage, `Hold ${incident.host} out of service`, [
    { annotations: { [hypervisorAnnotations.hold]: text, [hypervisorAnnotations.fencedBootId]: bootId } },
  ]);
  stage.run.state.held = true;
}

/** Lets go of a host that is held for this failure. */
export async function release(stage: Stage): Promise<void> {
  await patch(stage, `Let go of ${stage.hypervisor.name}`, [
    { annotations: { [hypervisorAnnotations.hold]: null, [hypervisorAnnotations.fencedBootId]: null } },
  ]);
  stage.run.state.held = false;
}

const patch = (
  { hypervisor: { name, uid, generation } }: Stage,
  words: string,
  patches: Parameters<ReturnType<typeof hypervisorObjects>['patchHypervisor']>[0]['patches'],
): Promise<void> => hypervisorObjects(words).patchHypervisor({ name, uid, generation, patches });

/** What moving the servers live would take, planned by an Eviction that changes nothing. */
async function advise({ run, hypervisor: { name, uid }, fencing }: Stage, message: string): Promise<void> {
  await failureObjects(`Have planned how ${name} would be emptied`).adviseEviction({
    name,
    uid,
    incident: fencing.incident.id,
    reason: message,
  });
  run.state.advised = true;
}

/** Takes that back. What is left of it does no harm. */
export async function withdrawAdvice({ state, seen }: FailureRun): Promise<void> {
  const hypervisor = seen?.look.hypervisor ?? null;
  if (!state.advised || hypervisor === null) return;
  await failureObjects(`Take back how ${hypervisor.name} would be emptied`)
    .withdrawAdvice(hypervisor)
    .then(
      () => void (state.advised = false),
      () => undefined,
    );
}

/** Events are for people; one that cannot be written must not hold up what it tells of. */
async function record(
  { hypervisor: { name, uid }, fencing }: Stage,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  identity: string[],
): Promise<void> {
  await failureObjects(`Record ${reason} on Hypervisor ${name}`)
    .recordHypervisorEvent({ name, uid, type, reason, message, identity: [fencing.incident.id, ...identity] })
    .catch(() => undefined);
}

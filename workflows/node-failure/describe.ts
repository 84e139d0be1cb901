import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { cancelledFailure } from '../../contracts/ids.ts';
import type { FenceEvidence } from '../../contracts/node-failure/fencing.ts';
import type { NodeFailureProgress } from '../../contracts/node-failure/run.ts';
import type { RunProgress } from '../../contracts/runs.ts';
import type { Situation } from '../lib/lifecycle.ts';
import { describePlan } from '../lib/plan.ts';
import { bootWord } from './evidence.ts';
import { withInFlight, type FencingState } from './fencing-state.ts';
import { describeServers, isFenced, isProofSilent, whyNotFenced, type NodeFailurePlan } from './plan.ts';
import type { NodeFailureLifecycle } from './types.ts';

/** What the run says of itself: in `progress`, in the Web UI and in the Hypervisor. All of it is pure. */

type Known = Pick<Situation<NodeFailureLifecycle>, 'memory' | 'observed' | 'inFlight'>;
type Report = NodeFailureLifecycle['status'];

const fencingOf = ({ memory: { fencing }, inFlight }: Known): FencingState | null =>
  fencing === null ? null : withInFlight(fencing, inFlight);

/** What `progress` answers besides what every run does; null: nothing has been observed. */
export function describeFailure(known: Known | null): Omit<NodeFailureProgress, keyof RunProgress> {
  const fencing = known === null ? null : fencingOf(known);
  const gate = fencing?.gate.gate === 'hold' ? `${fencing.gate.name}: ${fencing.gate.message}` : null;
  const { evidence = null, verdict = null } = fencing ?? {};
  return {
    incident: fencing?.incident.id ?? null,
    bootId: fencing === null ? null : bootWord(fencing.incident),
    mode: fencing?.mode ?? null,
    verdict: verdict === null ? null : { verdict: verdict.verdict, reason: verdict.reason },
    gate,
    silence: fencing === null ? null : whyNotFenced(fencing),
    witnesses:
      fencing?.signs.witnesses.map(({ kind, says, message, sinceMs }) => ({
        kind,
        says,
        message,
        since: timeOf(sinceMs),
      })) ?? [],
    evidence: evidence === null ? null : describeEvidence(evidence),
    forcedDown: fencing?.forcedDown ?? false,
    problem: fencing?.problem?.message ?? null,
    unread: known?.observed.problems ?? [],
    refusal: known?.memory.refusal ?? null,
    confirm: fencing === null ? null : confirmCommand(fencing),
    servers: fencing === null ? null : countServers(fencing),
  };
}

function countServers({ servers, consentedDisks }: FencingState): NodeFailureProgress['servers'] {
  if (servers === null) return null;
  const count = (...states: string[]): number => servers.filter(({ state }) => states.includes(state)).length;
  const left = servers
    .filter(({ state }) => state === 'left')
    .map(({ id, name, why }) => ({ id, name, why: why ?? '' }));
  const retrying = servers
    .filter(({ state, attempts }) => state === 'pending' && attempts > 0)
    .map(({ id, name, why, attempts, retryAtMs }) => ({
      id,
      name,
      why: why ?? '',
      attempts,
      at: retryAtMs === null ? null : timeOf(retryAtMs),
    }));
  const abandoned = consentedDisks.map(({ id, person, atMs }) => ({
    id,
    name: servers.find((server) => server.id === id)?.name ?? id,
    person,
    at: timeOf(atMs),
  }));
  return {
    total: servers.length,
    evacuated: count('evacuated', 'gone'),
    evacuating: count('evacuating'),
    pending: count('pending'),
    retrying,
    left,
    abandoned,
  };
}

export const describeEvidence = (evidence: FenceEvidence): string =>
  evidence.by === 'power'
    ? `its BMC said Off twice, from ${timeOf(evidence.proof.firstOffMs)} to ${timeOf(evidence.proof.secondOffMs)}`
    : `${evidence.confirmation.person} confirmed at ${timeOf(evidence.confirmation.atMs)} that it is off`;

const describeWitness = ({ kind, says, since }: NodeFailureProgress['witnesses'][number]): string =>
  `${kind} ${says} since ${since}`;

/** What to type once an operator has made sure that the host is off; null where it would be refused. Pure. */
export function confirmCommand(fencing: FencingState): string | null {
  const { incident, verdict, evidence } = fencing;
  const mayBeDead = (verdict.verdict === 'suspect' || verdict.verdict === 'failed') && verdict.alive !== 'yes';
  if ((evidence !== null && !isProofSilent(fencing)) || !mayBeDead) return null;
  return `drover confirm ${incident.host} --incident ${shellWord(incident.id)} --boot-id ${shellWord(bootWord(incident))}`;
}

const shellWord = (text: string): string => (/^[\w.:/+-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** What the Hypervisor is to say; null: nothing. */
export function failureReport(known: Known, plan: NodeFailurePlan): Report | null {
  const { hypervisor } = known.observed;
  const fencing = fencingOf(known);
  if (hypervisor === null) return null;
  if (plan.kind !== 'done') return fencing === null ? null : openReport(fencing, plan);
  const { reason, message } = plan;
  // A run that opened no incident takes back what an earlier one said of a host that has left.
  if (fencing === null && (reason !== 'LeftNova' || hypervisor.condition === null)) return null;
  // There is nothing to take back of a host that was not said to have failed, but that an earlier run was cancelled.
  const said = hypervisor.condition;
  if (reason === 'Recovered' && said?.reason !== cancelledFailure && (said?.status ?? 'False') === 'False') return null;
  const status = reason === 'HandedOver' ? 'True' : 'False';
  return { type: hypervisorConditions.nodeFailure, status, reason, message };
}

function openReport(fencing: FencingState, plan: NodeFailurePlan): Report {
  const { verdict } = fencing;
  const command = confirmCommand(fencing);
  const statusOf = { failed: 'True', suspect: 'True', watch: 'Unknown', healthy: 'False' } as const;
  const sentences = [
    ...(isFenced(fencing) ? [describeServers(fencing)] : []),
    describePlan(plan).message,
    ...(command === null ? [] : [`Once you have made sure that it is off and stays off: ${command}`]),
  ].filter((one) => one !== verdict.message);
  return {
    type: hypervisorConditions.nodeFailure,
    status: isFenced(fencing) ? 'True' : statusOf[verdict.verdict],
    reason: isFenced(fencing) ? 'Fenced' : verdict.reason,
    message: [verdict.message, ...sentences].join('. '),
  };
}

/** Two reports that differ only by times that are as close as this are the same. */
const repeatMs = 10 * 60_000;

/** A clock that goes on is said from time to time only. */
export function isSaid({ hypervisor }: NodeFailureLifecycle['observed'], { status, reason, message }: Report): boolean {
  const said = hypervisor?.condition ?? null;
  if (said === null || said.status !== status || said.reason !== reason) return false;
  const durations = durationsMs(message);
  return (
    said.message.replaceAll(duration, '') === message.replaceAll(duration, '') &&
    durationsMs(said.message).every((before, index) => Math.abs((durations[index] ?? 0) - before) < repeatMs)
  );
}

const duration = /(\d+) (s|min)\b/gu;

const durationsMs = (message: string): number[] =>
  [...message.matchAll(duration)].map(([, figure, unit]) => Number(figure) * (unit === 's' ? 1_000 : 60_000));

/** What stays as it is when the run is cancelled, for the user who cancels it. */
export function cancelMessage({ input, memory: { fencing, held } }: Situation<NodeFailureLifecycle>): string {
  const stays = [
    ...(fencing?.forcedDown === true && !fencing.restored ? ['forced down'] : []),
    ...(held ? ['held'] : []),
  ].join(' and ');
  return `The run was cancelled: nothing more is begun${stays === '' ? '' : `, and ${input.hypervisor} stays ${stays}`}`;
}

/** Markdown, for the Web UI. */
export function describeFailureRun(known: Situation<NodeFailureLifecycle>, plan: NodeFailurePlan): string {
  const { incident, verdict, gate, silence, witnesses, evidence, problem, unread, servers, confirm } =
    describeFailure(known);
  const left = [
    ...(servers?.retrying.map(
      ({ name, why, attempts, at }) =>
        `- ${name}: attempt ${attempts} failed, ${at === null ? 'again at once' : `again at ${at}`}: ${why}`,
    ) ?? []),
    ...(servers?.left.map(({ name, why }) => `- ${name}: ${why}`) ?? []),
    ...(servers?.abandoned.map(({ name, person, at }) => `- ${name}: ${person} gave up its local disks at ${at}`) ??
      []),
  ];
  const rows: [string, string | null][] = [
    ['incident', incident],
    ['verdict', verdict === null ? null : `${verdict.verdict}: ${verdict.reason}`],
    ['held back by', gate],
    ['not fenced as silent', silence],
    ['witnesses', witnesses.length === 0 ? null : witnesses.map(describeWitness).join(', ')],
    ['evidence', evidence],
    [
      'servers',
      servers === null
        ? null
        : `${servers.evacuated} of ${servers.total} evacuated, ${servers.evacuating} in flight, ${servers.pending} pending, ${servers.left.length} left behind`,
    ],
    ['problem', problem],
    ['not read', unread.length === 0 ? null : unread.join(' ')],
  ];
  return [
    `**${known.input.hypervisor}** ${describePlan(plan).message}`,
    '',
    ...rows.flatMap(([what, value]) => (value === null ? [] : [`- ${what}: ${value}`])),
    ...left,
    ...(confirm === null ? [] : ['', 'Once you have made sure that it is off:', '', `    ${confirm}`]),
  ].join('\n');
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

import type { ConditionUpdate } from '../../contracts/conditions.ts';
import type { FenceEvidence } from '../../contracts/node-failure/fencing.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { NodeFailureProgress, NodeFailureResult } from '../../contracts/node-failure/run.ts';
import type { FailureRun, FailureState } from './failure-run.ts';
import type { FencingState } from './fencing-state.ts';
import type { FailureStep } from './plan-failure.ts';
import { describeServers } from './plan-fencing.ts';

/** The answer to the query `progress`. Pure. */
export function describeFailure({ name, state, seen, waiting, message }: FailureRun): NodeFailureProgress {
  const { fencing, refusal } = state;
  const evidence = fencing?.evidence ?? null;
  const gate = fencing?.gate.gate === 'hold' ? `${fencing.gate.name}: ${fencing.gate.message}` : null;
  return {
    hypervisor: name,
    incident: fencing?.incident.id ?? null,
    bootId: fencing?.incident.bootId ?? null,
    mode: fencing?.mode ?? null,
    verdict: fencing?.verdict.verdict ?? null,
    reason: fencing?.verdict.reason ?? null,
    message,
    gate,
    evidence: evidence === null ? null : describeEvidence(evidence),
    forcedDown: fencing?.forcedDown ?? false,
    waitingFor: waiting?.for ?? null,
    nextWakeUp: waiting === null ? null : timeOf(waiting.untilMs),
    problem: fencing?.problem?.message ?? null,
    unread: seen?.look.problems ?? [],
    refusal,
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
    ? `its BMC told Off twice, from ${timeOf(evidence.proof.firstOffMs)} to ${timeOf(evidence.proof.secondOffMs)}`
    : `${evidence.confirmation.person} confirmed at ${timeOf(evidence.confirmation.atMs)} that it is off`;

/** What to type once somebody has made sure that the host is off; null where it would be refused. Pure. */
export function confirmCommand({ incident, verdict, evidence }: FencingState): string | null {
  const mayBeDead = (verdict.verdict === 'suspect' || verdict.verdict === 'failed') && verdict.alive !== 'yes';
  if (evidence !== null || !mayBeDead || incident.bootId === null) return null;
  return `drover confirm ${incident.host} --incident ${shellWord(incident.id)} --boot-id ${shellWord(incident.bootId)}`;
}

const shellWord = (text: string): string => (/^[\w.:/+-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** What the Hypervisor says of the failure while the run is open. Pure. */
export function failureCondition(state: FencingState, step: FailureStep): Omit<ConditionUpdate, 'observedGeneration'> {
  const { verdict, forcedDown, evidence } = state;
  const isFenced = forcedDown || evidence !== null;
  const status =
    isFenced || verdict.verdict === 'failed' || verdict.verdict === 'suspect'
      ? 'True'
      : verdict.verdict === 'healthy'
        ? 'False'
        : 'Unknown';
  const command = confirmCommand(state);
  const sentences = [
    verdict.message,
    ...(isFenced ? [describeServers(state)] : []),
    sentenceOf(step),
    ...(command === null ? [] : [`Once you have made sure that it is off and stays off: ${command}`]),
  ];
  return {
    type: hypervisorConditions.nodeFailure,
    status,
    reason: isFenced ? 'Fenced' : verdict.reason,
    message: sentences
      .filter((one) => one !== '' && one !== verdict.message)
      .reduce((all, one) => `${all}. ${one}`, verdict.message),
  };
}

/** What it says once the run has ended. */
export const endCondition = ({
  outcome,
  message,
}: Pick<NodeFailureResult, 'outcome' | 'message'>): Omit<ConditionUpdate, 'observedGeneration'> => ({
  type: hypervisorConditions.nodeFailure,
  status: outcome === 'HandedOver' ? 'True' : 'False',
  reason: outcome,
  message,
});

/** What a step is, for people. */
export function sentenceOf(step: FailureStep): string {
  switch (step.do) {
    case 'wait':
      return `Waiting for ${step.for}`;
    case 'end':
    case 'evictLive':
    case 'recommend':
      return step.message;
    case 'powerOff':
      return 'Powering it off by its BMC';
    case 'useConfirmation':
      return `${step.confirmation.person} confirmed that it is off`;
    case 'forceDown':
      return 'Disabling its compute service and forcing it down';
    case 'listServers':
      return 'Looking up its servers';
    case 'checkPower':
      return 'Looking whether it is still off';
    case 'evacuate':
      return `Evacuating ${step.servers.map(({ name }) => name).join(', ')}`;
    case 'loseEvidence':
      return `Nothing more is evacuated: ${step.why}`;
    case 'restore':
      return 'Taking back that it is forced down';
  }
}

/** What is the same in two reports that differ only by a time: a clock that goes on is no news. */
export const reportKey = ({ status, reason, message }: Omit<ConditionUpdate, 'observedGeneration'>): string =>
  `${status} ${reason} ${message.replaceAll(/\d+ (?:s|min)\b/gu, '')}`;

/** The search attribute `DroverPhase`. */
export const phaseOf = ({ fencing }: FailureState): string =>
  fencing === null ? 'Looking' : fencing.forcedDown || fencing.evidence !== null ? 'Fenced' : fencing.verdict.reason;

/** The run as the Web UI shows it. */
export function describeFailureRun(run: FailureRun): string {
  const { incident, message, verdict, reason, gate, evidence, problem, unread, servers, confirm } =
    describeFailure(run);
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
    ['verdict', verdict === null ? null : `${verdict}: ${reason}`],
    ['held back by', gate],
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
    `**${run.name}** ${message}`,
    '',
    ...rows.flatMap(([what, value]) => (value === null ? [] : [`- ${what}: ${value}`])),
    ...left,
    ...(confirm === null ? [] : ['', 'Once you have made sure that it is off:', '', `    ${confirm}`]),
  ].join('\n');
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

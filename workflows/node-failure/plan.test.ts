import { fencedReasonPrefix } from '../../contracts/ids.ts';
import type { FenceEvidence, TrackedEvacuation } from '../../contracts/node-failure/fencing.ts';
import { fencingDefaults } from '../../contracts/node-failure/fencing.ts';
import type {
  GateName,
  HostSigns,
  NodeSign,
  SilenceDecision,
  Witness,
} from '../../contracts/node-failure/node-failure.ts';
import type { PowerState } from '../../contracts/node-failure/power.ts';
import {
  candidate,
  computeService,
  confirmationAt,
  fencingOf,
  observedHypervisor,
  openedAtMs,
  proofAt,
  silentSigns,
  situationOf,
  verdictOf,
} from '../../test/fixtures/workflows/fencing.ts';
import type { Situation } from '../lib/lifecycle.ts';
import { applyProof, applyServers, useConfirmation, type FencingState } from './fencing-state.ts';
import { planFencing, planNodeFailure } from './plan.ts';
import type { NodeFailureLifecycle } from './types.ts';

const nowMs = openedAtMs + 20_000;
const holdUntilMs = openedAtMs + fencingDefaults.powerRecheckMs + fencingDefaults.holdCheckMs;
const held = (name: GateName): Partial<FencingState> => ({ gate: { gate: 'hold', name, message: 'shut' } });
const message = (text: RegExp): string => expect.stringMatching(text) as string;
const wait = (text: RegExp, untilMs: number | null = null): object => ({
  kind: 'wait',
  message: message(text),
  untilMs,
});
const does = (step: object): object => ({ kind: 'execute', steps: [step] });
const evacuates = (...ids: string[]): object => ({
  kind: 'execute',
  steps: ids.map((id) => ({ kind: 'evacuate', background: id, server: { id } })),
});
const recommends = (what: string): object =>
  does({ kind: 'recommend', what, message: 'node-1 is silent', publish: 'beside' });

const byPower: FenceEvidence = { by: 'power', proof: proofAt(openedAtMs) };
const fenced = (change: Partial<FencingState> = {}): FencingState => ({
  ...applyProof(fencingOf(), proofAt(openedAtMs)),
  ...change,
});
const confirmed = (change: Partial<FencingState> = {}): FencingState => ({
  ...useConfirmation(fencingOf({ confirmation: confirmationAt(openedAtMs) }), openedAtMs + 1),
  ...change,
});
const tracked = (
  id: string,
  state: TrackedEvacuation['state'] = 'pending',
  change: Partial<TrackedEvacuation> = {},
): TrackedEvacuation => ({ ...candidate(id), state, attempts: 0, why: null, retryAtMs: null, ...change });
const down = { forcedDown: true };
const going = (...servers: TrackedEvacuation[]): Partial<FencingState> => ({ ...down, servers });
const signs = (change: Partial<HostSigns>): Partial<FencingState> => ({ signs: { ...silentSigns, ...change } });
const node = (ready: NodeSign['ready'], bootId: string | null = 'boot-1'): Partial<HostSigns> => ({
  node: { ready, sinceMs: nowMs, bootId },
});
const power = (state: PowerState, atMs = nowMs): Partial<FencingState> => ({
  power: { host: 'node-1', power: state, atMs },
});

const heard = (kind: 'agent'): Partial<HostSigns> => ({
  witnesses: [{ kind, says: 'alive', sinceMs: nowMs, atMs: nowMs, message: 'its lease was renewed' } satisfies Witness],
});
const noWitness = verdictOf('suspect', 'unknown', { reason: 'NoWitness' });
const quorum: SilenceDecision = { fence: true, message: 'node-1 has power and is silent' };
const noQuorum = { fence: false, reason: 'NoQuorum', message: 'of 3 only 2', untilMs: null } as const;

type Row = [why: string, state: FencingState, step: object];
const rows: Row[] = [
  // Nothing has been done yet
  [
    'a host that is well again is left alone',
    fencingOf({ verdict: verdictOf('healthy', 'yes') }),
    { kind: 'done', reason: 'Recovered', message: message(/nothing was done/) },
  ],
  [
    'one that is watched is watched',
    fencingOf({ verdict: verdictOf('watch', 'unknown', { untilMs: 7 }) }),
    wait(/node-1 is silent/, 7),
  ],
  [
    'a suspect is recommended to an operator',
    fencingOf({ verdict: verdictOf('suspect', 'unknown'), recommended: null }),
    recommends('fence'),
  ],
  [
    'of one that lives, that it needs mending',
    fencingOf({ verdict: verdictOf('suspect', 'yes'), recommended: null }),
    recommends('mend'),
  ],
  [
    'and nothing is done by itself, even where it may be',
    fencingOf({ verdict: verdictOf('suspect', 'unknown') }),
    wait(/an operator to investigate/),
  ],
  ['a failed one is recommended first', fencingOf({ recommended: null }), recommends('fence')],
  ['what was recommended as a suspect is not said twice', fencingOf({ recommended: 'mend' }), recommends('fence')],
  [
    'without an opt-in an operator decides',
    fencingOf({ mode: 'recommend' }),
    wait(/an operator to confirm that node-1 is off/),
  ],
  ['with one it is powered off', fencingOf(), does({ kind: 'powerOff', cause: 'automatic fencing: node-1 is silent' })],
  ['unless a gate holds', fencingOf(held('DomainFailure')), wait(/the gate DomainFailure: shut/)],
  [
    'after a failure, not at once',
    fencingOf({ problem: { message: 'The BMC is away.', retryAtMs: nowMs + 1 } }),
    wait(/The BMC is away\. Or an operator to confirm/, nowMs + 1),
  ],
  [
    'but again',
    fencingOf({ problem: { message: 'The BMC is away.', retryAtMs: nowMs } }),
    does({ kind: 'powerOff', cause: message(/./) }),
  ],

  [
    'nor while something on the host answers',
    fencingOf(signs({ libvirt: { verdict: 'healthy', sinceMs: 0, message: '' } })),
    wait(/a new observation of the host: .* but libvirt on node-1 answers/),
  ],

  // It lives
  [
    'one that fails and lives is recommended',
    fencingOf({ verdict: verdictOf('failed', 'yes') }),
    recommends('evictLive'),
  ],
  [
    'and moved live, never fenced',
    fencingOf({ verdict: verdictOf('failed', 'yes'), recommended: 'evictLive' }),
    does({ kind: 'evictLive', message: 'node-1 is silent' }),
  ],
  [
    'one host at a time',
    fencingOf({
      verdict: verdictOf('failed', 'yes'),
      recommended: 'evictLive',
      problem: { message: 'Another host was emptied.', retryAtMs: nowMs + 1 },
    }),
    wait(/Another host was emptied/, nowMs + 1),
  ],
  [
    'without an opt-in by an operator',
    fencingOf({ verdict: verdictOf('failed', 'yes'), recommended: 'evictLive', mode: 'recommend' }),
    wait(/an operator to start the eviction/),
  ],
  [
    'unless a gate holds',
    fencingOf({ verdict: verdictOf('failed', 'yes'), recommended: 'evictLive', ...held('MassFailure') }),
    wait(/MassFailure/),
  ],
  [
    'then the eviction has it',
    fencingOf({ handedOver: true }),
    { kind: 'done', reason: 'HandedOver', message: message(/Eviction/) },
  ],

  // It has power, and is silent
  [
    'one that has power and is silent is recommended first',
    fencingOf({ verdict: noWitness, silence: quorum, recommended: null }),
    recommends('fence'),
  ],
  [
    'then powered off, where a quorum has heard nothing',
    fencingOf({ verdict: noWitness, silence: quorum }),
    does({ kind: 'powerOff', isSilent: true, cause: 'automatic fencing: node-1 has power and is silent' }),
  ],
  ['one that is dead is not counted so', fencingOf({ silence: quorum }), does({ kind: 'powerOff', isSilent: false })],
  [
    'without an opt-in an operator decides',
    fencingOf({ verdict: noWitness, silence: quorum, mode: 'recommend' }),
    wait(/^an operator to investigate: node-1 is silent$/),
  ],
  [
    'and so too without a quorum, which is said',
    fencingOf({ verdict: noWitness, silence: noQuorum }),
    wait(/does not fence it by itself \(NoQuorum: of 3 only 2\)/),
  ],
  [
    'where time alone changes that, it is waited for',
    fencingOf({ verdict: noWitness, silence: { ...noQuorum, reason: 'TooShort', untilMs: nowMs + 5 } }),
    wait(/TooShort/, nowMs + 5),
  ],
  [
    'where it is not asked for, it is not said',
    fencingOf({ verdict: noWitness, silence: { ...noQuorum, reason: 'SwitchedOff' } }),
    wait(/^an operator to investigate: node-1 is silent$/),
  ],
  [
    'the gates of the fleet hold it too',
    fencingOf({ verdict: noWitness, silence: quorum, ...held('MassFailure') }),
    wait(/the gate MassFailure/),
  ],
  [
    'and so does whatever answers meanwhile',
    fencingOf({ verdict: noWitness, silence: quorum, ...signs({ compute: { state: 'up', sinceMs: nowMs } }) }),
    wait(/but nova-compute on node-1 reports/),
  ],
  [
    'another suspect is never fenced so',
    fencingOf({ verdict: verdictOf('suspect', 'yes', { reason: 'AgentsDown' }), silence: quorum, recommended: 'mend' }),
    wait(/an operator to investigate/),
  ],
  [
    'an operator who confirms is faster',
    fencingOf({ verdict: noWitness, silence: quorum, confirmation: confirmationAt(openedAtMs) }),
    does({ kind: 'useConfirmation', confirmation: confirmationAt(openedAtMs) }),
  ],

  // A user's confirmation
  [
    'a confirmation is used',
    fencingOf({ mode: 'recommend', confirmation: confirmationAt(openedAtMs) }),
    does({ kind: 'useConfirmation', confirmation: confirmationAt(openedAtMs) }),
  ],
  [
    'it passes gates of the fleet',
    fencingOf({ ...held('DomainFailure'), confirmation: confirmationAt(openedAtMs) }),
    does({ kind: 'useConfirmation', confirmation: confirmationAt(openedAtMs) }),
  ],
  [
    'but not without a scheduler',
    fencingOf({ ...held('SchedulerDown'), confirmation: confirmationAt(openedAtMs) }),
    wait(/SchedulerDown/),
  ],
  [
    'one that does not count any more is dropped',
    fencingOf({ ...held('SchedulerDown'), confirmation: confirmationAt(openedAtMs - fencingDefaults.consentMs) }),
    does({ kind: 'useConfirmation', confirmation: expect.anything() as object }),
  ],

  // It is off
  ['a proof: forced down', fenced(), does({ kind: 'forceDown' })],
  ['a confirmation: forced down', confirmed(), does({ kind: 'forceDown' })],
  ['not without the APIs', fenced(held('ApisUnreachable')), wait(/ApisUnreachable/)],
  [
    'after a failure, not at once',
    fenced({ problem: { message: 'Nova is away.', retryAtMs: nowMs + 1 } }),
    wait(/Nova is away/, nowMs + 1),
  ],
  ['then its servers are listed', fenced(down), does({ kind: 'listServers' })],
  ['and evacuated', fenced(going(tracked('a'), tracked('b'))), evacuates('a', 'b')],
  ['on a confirmation too', confirmed(going(tracked('a'))), evacuates('a')],
  [
    'no more than may be at once',
    fenced({ ...going(tracked('a', 'evacuating'), tracked('b')), settings: { ...fencingDefaults, parallelism: 1 } }),
    wait(/1 in flight and 1 pending/, holdUntilMs),
  ],
  ['not without a scheduler', fenced({ ...going(tracked('a')), ...held('SchedulerDown') }), wait(/SchedulerDown/)],
  [
    'those in flight are waited for',
    fenced({ ...going(tracked('a', 'evacuating')), ...held('SchedulerDown') }),
    wait(/1 in flight/, holdUntilMs),
  ],
  [
    'gates of the fleet do not stop what has begun',
    fenced({ ...going(tracked('a')), ...held('MassFailure') }),
    evacuates('a'),
  ],
  [
    'one that failed waits for its next attempt',
    fenced(going(tracked('a', 'pending', { attempts: 1, retryAtMs: nowMs + 1_000 }))),
    wait(/0 in flight and 1 pending, 1 of them for their next attempt/, nowMs + 1_000),
  ],
  [
    'while the others go',
    fenced(going(tracked('a', 'pending', { attempts: 1, retryAtMs: nowMs + 1_000 }), tracked('b'))),
    evacuates('b'),
  ],
  ['and then goes itself', fenced(going(tracked('a', 'pending', { attempts: 1, retryAtMs: nowMs }))), evacuates('a')],
  [
    'the power is read meanwhile',
    fenced(going(tracked('a', 'pending', { attempts: 1, retryAtMs: nowMs + 600_000 }))),
    wait(/next attempt/, holdUntilMs),
  ],
  [
    'when all have left the host is held off',
    fenced(going(tracked('a', 'evacuated'), tracked('b', 'gone'))),
    wait(/node-1 to be mended and started: 2 of 2 servers have left it/),
  ],
  [
    'those that stay behind are named',
    fenced(going(tracked('a', 'evacuated'), tracked('b', 'left', { why: 'a local disk' }))),
    wait(/1 of 2 servers have left it, left behind: vm-b \(a local disk\)/),
  ],

  // It is held off
  [
    'the power is read from time to time',
    fenced({ ...going(tracked('a')), ...power('Off', nowMs - fencingDefaults.holdCheckMs) }),
    does({ kind: 'checkPower' }),
  ],
  [
    'also while the last ones are in flight',
    fenced({ ...going(tracked('a', 'evacuating')), ...power('Off', nowMs - fencingDefaults.holdCheckMs) }),
    does({ kind: 'checkPower' }),
  ],
  [
    'where that fails nothing more is begun',
    fenced({
      ...going(tracked('a')),
      ...power('Off', nowMs - fencingDefaults.holdCheckMs),
      problem: { message: 'The BMC is away.', retryAtMs: nowMs + 1 },
    }),
    wait(/The BMC is away/, nowMs + 1),
  ],
  [
    'nor where the BMC does not say',
    fenced({ ...going(tracked('a')), ...power('Unknown') }),
    wait(/to say its power again.*Or an operator to confirm/, nowMs + fencingDefaults.holdCheckMs),
  ],
  [
    'an operator who has made sure of it takes its place',
    fenced({
      ...going(tracked('a')),
      ...power('Unknown'),
      verdict: noWitness,
      confirmation: confirmationAt(openedAtMs),
    }),
    does({ kind: 'useConfirmation', confirmation: confirmationAt(openedAtMs) }),
  ],
  [
    'also where it cannot be asked',
    fenced({
      ...going(tracked('a')),
      ...power('Off', nowMs - fencingDefaults.holdCheckMs),
      problem: { message: 'The BMC is away.', retryAtMs: nowMs + 1, step: 'checkPower' },
      verdict: noWitness,
      confirmation: confirmationAt(openedAtMs),
    }),
    does({ kind: 'useConfirmation', confirmation: confirmationAt(openedAtMs) }),
  ],
  [
    'what it says itself needs no confirmation',
    fenced({ ...going(tracked('a')), ...power('Off'), confirmation: confirmationAt(openedAtMs) }),
    evacuates('a'),
  ],
  [
    'power that is on again ends it',
    fenced({ ...going(tracked('a')), ...power('On') }),
    does({ kind: 'loseEvidence', why: message(/says On/) }),
  ],
  [
    'also on a confirmation',
    confirmed({ ...going(tracked('a')), ...power('PoweringOn') }),
    does({ kind: 'loseEvidence', why: message(/says PoweringOn/) }),
  ],
  [
    'so does the kubelet',
    fenced({ ...going(tracked('a')), ...signs(node('False')) }),
    does({ kind: 'loseEvidence', why: message(/kubelet/) }),
  ],
  [
    'so does another boot',
    fenced({ ...going(tracked('a')), ...signs(node('Unknown', 'boot-2')) }),
    does({ kind: 'loseEvidence', why: message(/booted again/) }),
  ],
  [
    'so does nova-compute',
    fenced({ ...going(tracked('a')), ...signs({ compute: { state: 'up', sinceMs: nowMs } }) }),
    does({ kind: 'loseEvidence', why: message(/nova-compute/) }),
  ],
  [
    'so does libvirt',
    fenced({ ...going(tracked('a')), ...signs({ libvirt: { verdict: 'failing', sinceMs: nowMs, message: '' } }) }),
    does({ kind: 'loseEvidence', why: message(/libvirt/) }),
  ],
  [
    'on a confirmation, a Lease that is renewed, too',
    confirmed({ ...going(tracked('a')), ...signs(heard('agent')) }),
    does({ kind: 'loseEvidence', why: message(/node-1 was heard of: its lease was renewed/) }),
  ],
  ['a Node that is gone is no life', fenced({ ...going(tracked('a')), ...signs(node('Gone', null)) }), evacuates('a')],
  ['but a Lease outlives lost power', fenced({ ...going(tracked('a')), ...signs(heard('agent')) }), evacuates('a')],
  [
    'evidence of another host is none',
    fenced({ ...going(tracked('a')), evidence: { ...byPower, proof: proofAt(openedAtMs, { host: 'node-2' }) } }),
    does({ kind: 'loseEvidence', why: message(/node-2/) }),
  ],

  // It has shown life
  [
    'those in flight end first',
    fenced({ ...going(tracked('a', 'evacuating')), evidence: null, ...signs(node('True', 'boot-2')) }),
    wait(/1 evacuations in flight to end/),
  ],
  [
    'one that came back with another boot is restored',
    fenced({
      ...going(tracked('a', 'evacuated'), tracked('b')),
      evidence: null,
      ...signs({ ...node('True', 'boot-2'), libvirt: { verdict: 'healthy', sinceMs: nowMs, message: '' } }),
    }),
    does({ kind: 'restore' }),
  ],
  [
    'and that is tried again later where it failed',
    fenced({
      ...going(tracked('a', 'evacuated'), tracked('b')),
      evidence: null,
      problem: { message: 'Nova’s message.', retryAtMs: nowMs + 1 },
      ...signs({ ...node('True', 'boot-2'), libvirt: { verdict: 'healthy', sinceMs: nowMs, message: '' } }),
    }),
    { kind: 'wait', message: 'Nova’s message.', untilMs: nowMs + 1 },
  ],
  [
    'not before libvirt is well',
    fenced({ ...going(tracked('a', 'evacuated')), evidence: null, ...signs({ ...node('True', 'boot-2') }) }),
    wait(/libvirt on node-1: no answer/),
  ],
  [
    'never where it was not rebooted: two copies may run',
    fenced({
      ...going(tracked('a', 'evacuated')),
      evidence: null,
      ...signs({ ...node('True', 'boot-1'), libvirt: null }),
    }),
    wait(/came back without a reboot/),
  ],
  [
    'nor where its boot is not known now',
    fenced({ ...going(tracked('a', 'evacuated')), evidence: null, ...signs({ ...node('True', null), libvirt: null }) }),
    wait(/came back without a reboot/),
  ],
  [
    'nor where the boot that was fenced never was: a user compares, and forces it up',
    fenced({
      ...going(tracked('a', 'evacuated')),
      evidence: null,
      fencedBootId: null,
      ...signs(node('True', 'boot-2')),
    }),
    { kind: 'wait', reason: 'BootUnknown', message: message(/openstack compute service set --up node-1/) },
  ],
  [
    'a host that came on again and is silent is not fenced as a silent one: it may be booting',
    fenced({ ...going(tracked('a')), evidence: null, ...power('On'), verdict: noWitness, silence: quorum }),
    wait(/or an operator to confirm/),
  ],
  [
    'its power came on and it is silent: off again',
    fenced({ ...going(tracked('a')), evidence: null, ...power('On') }),
    does({ kind: 'powerOff', cause: message(/./) }),
  ],
  [
    'but by an operator where no aggregate has opted in',
    fenced({ ...going(tracked('a')), evidence: null, ...power('On'), mode: 'recommend' }),
    wait(/or an operator to confirm/),
  ],
  [
    'and not against a gate',
    fenced({ ...going(tracked('a')), evidence: null, ...power('On'), ...held('DomainFailure') }),
    wait(/DomainFailure/),
  ],
  [
    'a new confirmation counts',
    fenced({ ...going(tracked('a')), evidence: null, mode: 'recommend', confirmation: confirmationAt(nowMs) }),
    does({ kind: 'useConfirmation', confirmation: confirmationAt(nowMs) }),
  ],
  [
    'at last',
    fenced({ ...going(tracked('a', 'evacuated')), restored: true }),
    { kind: 'done', reason: 'Restored', message: message(/node-1 is back; 1 of 1 servers have left it/) },
  ],
];
test.each(rows)('%s', (_why, state, step) => {
  expect(planFencing(state, nowMs)).toMatchObject(step);
});

const forced = (forcedDown: boolean) => ({ host: 'node-1', service: { ...computeService, forcedDown } });
const situation = (
  fencing: FencingState | null,
  { observed = {}, ...change }: Parameters<typeof situationOf>[2] = {},
) => situationOf(fencing, nowMs, { ...change, observed: { nova: forced(true), ...observed } });
const refusedOff = { message: 'x', retryAtMs: nowMs + 1, step: 'powerOff' };
const listed = (change: Partial<FencingState> = {}): FencingState => ({
  ...applyServers(fenced({ ...down, ...power('Off') }), [candidate('a')]),
  ...change,
});
const restored = listed({ evidence: null, restored: true });

const left = { nova: null, compute: null, hasLeftNova: true };
const well = fencingOf({
  verdict: verdictOf('healthy', 'yes'),
  signs: { ...silentSigns, ...node('True'), compute: { state: 'up', sinceMs: nowMs } },
});
const back = (fencedBootId: string) => ({
  nova: forced(false),
  hypervisor: { ...observedHypervisor, hold: 'NodeFailure', fencedBootId },
});

const outside: [why: string, of: Situation<NodeFailureLifecycle>, plan: object][] = [
  ['it is as drover left it', situation(listed()), evacuates('a')],
  [
    'a user took it back: nothing more is begun',
    situation(listed(), { observed: { nova: forced(false) } }),
    does({ kind: 'loseEvidence', why: message(/a user has taken back/) }),
  ],
  [
    'and what is in flight ends',
    situation(listed({ evidence: null }), { observed: { nova: forced(false) }, inFlight: ['a'] }),
    wait(/1 evacuations in flight to end, as a user has taken back/, nowMs + 15_000),
  ],
  [
    'and then it is theirs',
    situation(listed({ evidence: null }), { observed: { nova: forced(false) } }),
    { kind: 'done', outcome: 'blocked', reason: 'TakenOver' },
  ],
  [
    'drover has taken it back itself',
    situation(restored, { observed: { nova: forced(false) } }),
    { kind: 'done', outcome: 'reconciled', reason: 'Restored' },
  ],
  [
    'nor has a user, where the answer to drover was lost',
    situation(listed({ evidence: null, problem: { message: 'x', retryAtMs: nowMs, step: 'restore' } }), {
      observed: { nova: forced(false) },
    }),
    { kind: 'done', outcome: 'reconciled', reason: 'Restored' },
  ],
  [
    'one that lives and is in maintenance ha is being emptied, by drover or by a user',
    situation(fencingOf({ mode: 'recommend', verdict: verdictOf('failed', 'yes') }), {
      observed: { nova: forced(false), hypervisor: { ...observedHypervisor, maintenance: 'ha' } },
      memory: { advised: true },
    }),
    does({ kind: 'withdrawAdvice' }),
  ],
  [
    'one that is fenced is not, whatever its maintenance',
    situation(listed(), { observed: { hypervisor: { ...observedHypervisor, maintenance: 'ha' } } }),
    evacuates('a'),
  ],
  [
    'it is not forced down yet',
    situation(fenced(), { observed: { nova: forced(false) } }),
    does({ kind: 'forceDown' }),
  ],
  [
    'where Nova does not answer, no user has taken anything back, and nothing is done',
    situation(listed({ evidence: null }), { observed: { nova: null, problems: ['Nova is away'] } }),
    wait(/an observation of node-1: Nova is away/, nowMs + 60_000),
  ],
  [
    'nor without the Hypervisor',
    situation(listed(), { observed: { hypervisor: null } }),
    wait(/does not know it/, nowMs + 60_000),
  ],
  // It has left Nova
  [
    'Nova has it no more: once is no proof',
    situation(listed({ evidence: null }), { observed: left, memory: { leftNovaMs: nowMs - 14_999 } }),
    wait(/Nova to say once more that it has no compute service of node-1/, nowMs + 1),
  ],
  [
    'twice is, and it ends; what it is held by stays, as what comes back by that name may never have been off',
    situation(listed({ evidence: null }), { observed: left, memory: { leftNovaMs: nowMs - 15_000, held: true } }),
    { kind: 'done', outcome: 'gone', reason: 'LeftNova', message: message(/any more; 0 of 1 servers have left it/) },
  ],
  [
    'so does one that never opened an incident',
    situation(null, { observed: left, memory: { leftNovaMs: nowMs - 15_000 } }),
    { kind: 'done', outcome: 'gone', reason: 'LeftNova' },
  ],
  [
    'what is in flight ends first',
    situation(listed(), { observed: left, memory: { leftNovaMs: nowMs - 60_000 }, inFlight: ['a'] }),
    wait(/1 evacuations in flight to end, as node-1 has left Nova/, nowMs + 15_000),
  ],
  [
    'advice is taken back',
    situation(listed({ evidence: null }), { observed: left, memory: { leftNovaMs: nowMs - 60_000, advised: true } }),
    does({ kind: 'withdrawAdvice' }),
  ],

  // It is in Nova again
  [
    'one that was fenced, left Nova and is back as the same boot was never off',
    situation(well, { observed: back('boot-1') }),
    wait(
      /fenced as boot boot-1 and is in Nova again without a reboot.*take the annotation drover\.dev\/hold off/,
      nowMs + 60_000,
    ),
  ],
  [
    'one that is back as another boot is released',
    situation(well, { observed: back('boot-0'), memory: { held: true } }),
    does({ kind: 'release' }),
  ],
  [
    'and so is one that a user has forced up: its service is still the one that was fenced',
    situation(well, {
      observed: {
        ...back('boot-1'),
        nova: {
          host: 'node-1',
          service: { ...computeService, status: 'disabled', disabledReason: `${fencedReasonPrefix}x` },
        },
      },
      memory: { held: true },
    }),
    does({ kind: 'release' }),
  ],
  [
    'and so is one whose hold a user has taken off',
    situation(well, { observed: { ...back('boot-1'), hypervisor: { ...observedHypervisor, fencedBootId: 'boot-1' } } }),
    { kind: 'done', reason: 'Recovered' },
  ],
  [
    'one that is silent again is dealt with as any other',
    situation(fencingOf({ mode: 'recommend' }), { observed: back('boot-1') }),
    wait(/an operator to confirm/, nowMs + 60_000),
  ],

  ['nor before an incident is opened', situation(null), wait(/an observation of node-1/, nowMs + 60_000)],

  // In flight
  [
    'what is in flight is waited for',
    situation(listed(), { inFlight: ['a'] }),
    wait(/1 in flight and 0 pending/, nowMs + 15_000),
  ],

  // From time to time
  [
    'while an operator is waited for, it is observed now and then',
    situation(fencingOf({ mode: 'recommend' })),
    wait(/confirm/, nowMs + 60_000),
  ],
  [
    'what is due earlier is not waited for longer',
    situation(fencingOf({ problem: { message: 'x', retryAtMs: nowMs + 1 } })),
    wait(/x/, nowMs + 1),
  ],

  // A step that failed
  [
    'is not repeated before its time, whatever it is',
    situation(fencingOf({ recommended: null, problem: { message: 'x', retryAtMs: nowMs + 1, step: 'recommend' } })),
    wait(/x/, nowMs + 1),
  ],
  [
    'what its BMC refuses is not asked for again at once, though its power is known',
    situation(fencingOf({ problem: refusedOff, power: { host: 'node-1', power: 'Off', atMs: nowMs } })),
    wait(/x Or an operator to confirm/, nowMs + 1),
  ],
  [
    'nor does that hold up what an operator has confirmed',
    situation(confirmed({ problem: refusedOff })),
    does({ kind: 'forceDown' }),
  ],
  [
    'nor a host that is back',
    situation(
      fencingOf({
        ...down,
        ...signs({ ...node('True', 'boot-2'), libvirt: null }),
        fencedBootId: 'boot-1',
        problem: refusedOff,
      }),
    ),
    does({ kind: 'restore' }),
  ],
  [
    'and holds up no other one that does not ask',
    situation(fencingOf({ recommended: null, problem: { message: 'x', retryAtMs: nowMs + 1, step: 'powerOff' } })),
    recommends('fence'),
  ],

  // The end
  ['a host that is held is released first', situation(restored, { memory: { held: true } }), does({ kind: 'release' })],
  [
    'and advice is taken back',
    situation(restored, { memory: { held: true, advised: true } }),
    { kind: 'execute', steps: [{ kind: 'withdrawAdvice' }, { kind: 'release' }] },
  ],
  [
    'a release that failed is not repeated at once',
    situation(
      { ...restored, problem: { message: 'x', retryAtMs: nowMs + 1, step: 'release' } },
      { memory: { held: true } },
    ),
    wait(/x/, nowMs + 1),
  ],
];
test.each(outside)('%s', (_why, of, plan) => {
  expect(planNodeFailure(of)).toMatchObject(plan);
});

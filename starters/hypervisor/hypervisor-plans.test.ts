import type { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import type { HypervisorObject, SpeakingNode } from './hypervisor-objects.ts';
import type { HypervisorPlan } from './plan-maintenance.ts';
import { planActivate, planMaintain } from './plan-maintenance.ts';
import { planDecommission } from './plan-decommission.ts';
import type { OnboardPlan } from './plan-onboard.ts';
import { planOnboard } from './plan-onboard.ts';
import { now } from '../../test/fixtures/starters/progress.ts';
import { lifecycle, sampleHypervisor, terminating } from '../../test/fixtures/starters/hypervisor.ts';

type Facts = Partial<HypervisorObject>;
type Outcome = { plan: OnboardPlan | null } | { refusal: CommandError };

function attempt(decide: () => OnboardPlan | null): Outcome {
  try {
    return { plan: decide() };
  } catch (error) {
    return { refusal: error as CommandError };
  }
}

/** What was decided, and everything that the person reads of it. */
function judged(outcome: Outcome): { does: string; words: string; change: unknown } {
  if ('refusal' in outcome) {
    const { exitCode, message, advice } = outcome.refusal;
    expect([exitCode, message]).toEqual([exitCodes.refused, expect.stringMatching(/Nothing was changed\.$/u)]);
    return { does: 'refuse', words: `${message} ${advice ?? ''}`, change: null };
  }
  const { plan } = outcome;
  if (plan === null) return { does: 'unknown', words: '', change: null };
  const change = plan.kind === 'change' ? plan.change : plan.kind === 'label' ? { label: plan.value } : null;
  return { does: plan.kind, words: plan.says.join(' '), change };
}

const manual: Facts = { maintenance: 'manual', maintenanceReason: 'disks', maintainedBy: 'bob 2026-01-31T11:00:00Z' };
const leaving: Facts = {
  maintenance: 'termination',
  maintenanceReason: 'lease ends',
  conditions: [lifecycle('Evicting', 'Unknown')],
};
const gone: Facts = { ...leaving, conditions: [lifecycle('Decommissioned')] };
const terminates: Facts = { conditions: [lifecycle('Evicting', 'Unknown'), terminating] };
const by = 'alice';
const asked = { maintenance: 'manual', maintenanceReason: 'disks' };

test.each<
  [why: string, facts: Facts, mode: 'manual' | 'auto' | 'ha', does: HypervisorPlan['kind'] | 'refuse', words: RegExp]
>([
  [
    'in service',
    {},
    'manual',
    'change',
    /goes into maintenance manual: disks .*12 by the node agent.*obstacles stop.*drover activate node-1/u,
  ],
  ['for a controller', {}, 'auto', 'change', /carried along/u],
  ['a failed host', {}, 'ha', 'change', /Nothing is moved live/u],
  ['lifecycle not driven', { lifecycleEnabled: false }, 'manual', 'change', /goes into maintenance/u],
  ['the same again', manual, 'manual', 'nothing', /by bob 2026-01-31T11:00:00Z: disks\. Nothing was changed/u],
  [
    'the same for another reason',
    { ...manual, maintenanceReason: 'memory' },
    'manual',
    'refuse',
    /already in maintenance manual, by bob .*: memory\..*another reason, which stays.*drover activate/u,
  ],
  ['another mode', manual, 'ha', 'refuse', /maintenance manual, by bob.*stays manual/u],
  [
    'an update of its Node',
    { maintenance: 'auto', forNodeUpdate: true, maintainedBy: 'drover, for an update of its Node' },
    'manual',
    'refuse',
    /for an update.*ends by itself/u,
  ],
  ['being decommissioned', leaving, 'manual', 'refuse', /already in .*lease ends.*--mode ha/u],
  ['taken back from there', leaving, 'ha', 'change', /not taken out of Nova any more.*drover activate node-1/u],
  ['taken back from Nova’s outside', gone, 'ha', 'change', /onboarded anew/u],
  ['its Node terminates', terminates, 'manual', 'refuse', /Node of node-1 terminates/u],
  ['its Node terminates and it fails', terminates, 'ha', 'change', /maintenance ha/u],
  ['deleted', { deleting: true }, 'manual', 'refuse', /being deleted/u],
])('maintain: %s', (_why, facts, mode, does, words) => {
  const found = judged(attempt(() => planMaintain(sampleHypervisor(facts), { mode, reason: 'disks', by }, now)));
  expect(found).toMatchObject({ does, words: expect.stringMatching(words) });
  if (does === 'change')
    expect(found.change).toEqual({
      spec: { ...asked, maintenance: mode },
      annotations: { 'drover.dev/maintenance-by': 'alice 2026-01-31T12:00:00Z' },
    });
});

test.each<[why: string, facts: Facts, does: HypervisorPlan['kind'] | 'refuse', words: RegExp]>([
  ['from maintenance', manual, 'change', /comes back from maintenance manual, by bob .*: disks\..*checks run again/u],
  ['without tests', { ...manual, skipTests: true }, 'change', /goes away, its service is enabled/u],
  ['while its Node is updated', { ...manual, maintenance: 'auto', forNodeUpdate: true }, 'change', /may reboot/u],
  ['after a failure', { ...manual, maintenance: 'ha' }, 'change', /forced down/u],
  ['being decommissioned', leaving, 'refuse', /is being taken out of Nova for good.*--mode ha/u],
  ['decommissioned', gone, 'refuse', /has been taken out of Nova for good.*--mode ha/u],
  ['its Node terminates', terminates, 'refuse', /will not come back.*new Node named node-1/u],
  ['in maintenance, and its Node terminates', { ...manual, ...terminates }, 'refuse', /will not come back/u],
  ['in service', {}, 'nothing', /not in maintenance\. Active: node-1 is in service\. Nothing/u],
  ['being tested', { conditions: [lifecycle('Testing', 'Unknown')] }, 'nothing', /Testing/u],
  ['aborted', { conditions: [lifecycle('Aborted', 'False')] }, 'refuse', /drover retry node-1/u],
  [
    'cleared a moment ago',
    { conditions: [lifecycle('Evicting', 'Unknown', 'x', 2)] },
    'nothing',
    /has not looked since/u,
  ],
  [
    'emptied by another user’s Eviction',
    { conditions: [lifecycle('Evicting', 'Unknown')] },
    'refuse',
    /drover cancel node-1 --re-enable/u,
  ],
  [
    'disabled by a stranger',
    { conditions: [lifecycle('Ready', 'False')] },
    'refuse',
    /openstack compute service set --enable node-1/u,
  ],
  [
    'held',
    { annotations: { 'drover.dev/hold': 'Fenced: was dead' } },
    'refuse',
    /Fenced: was dead.*drover\.dev\/hold-/u,
  ],
  [
    'not driven',
    { lifecycleEnabled: false, conditions: [lifecycle('Initial', 'False')] },
    'refuse',
    /drover onboard node-1/u,
  ],
  [
    'not driven, and enabled',
    {
      lifecycleEnabled: false,
      conditions: [lifecycle('Initial', 'False'), { ...terminating, type: 'HypervisorDisabled', status: 'False' }],
    },
    'nothing',
    /not in maintenance/u,
  ],
  ['deleted', { deleting: true }, 'refuse', /being deleted/u],
])('activate: %s', (_why, facts, does, words) => {
  const found = judged(attempt(() => planActivate(sampleHypervisor(facts))));
  expect(found).toMatchObject({ does, words: expect.stringMatching(words) });
  if (does === 'change')
    expect(found.change).toEqual({
      spec: { maintenance: '', maintenanceReason: null },
      annotations: { 'drover.dev/maintenance-by': null },
    });
});

const consents = {
  'drover.dev/consent': 'delete-allocations',
  'drover.dev/consent-by': 'alice 2026-01-31T12:00:00.000Z',
};
const termination = { maintenance: 'termination', maintenanceReason: 'old' };
const noted = { 'drover.dev/maintenance-by': 'alice 2026-01-31T12:00:00Z' };

test.each<
  [
    why: string,
    facts: Facts,
    consents: boolean,
    does: HypervisorPlan['kind'] | 'refuse',
    words: RegExp,
    change?: unknown,
  ]
>([
  [
    'in service',
    {},
    false,
    'change',
    /out of Nova for good: old .*12 by the node agent.*asks for your consent.*taken back.*cannot be undone/u,
    { spec: termination, annotations: noted },
  ],
  [
    'with consent',
    {},
    true,
    'change',
    /deleted with it, as you consent/u,
    { spec: termination, annotations: { ...noted, ...consents } },
  ],
  [
    'from maintenance',
    manual,
    false,
    'change',
    /This ends its maintenance manual, by bob .*: disks\./u,
    { spec: termination, annotations: noted },
  ],
  ['on its way', leaving, false, 'nothing', /already \(maintenance termination: lease ends\)/u],
  [
    'on its way, and now with consent',
    leaving,
    true,
    'change',
    /records the consent of alice: delete-allocations/u,
    { annotations: consents },
  ],
  ['its Node terminates', terminates, false, 'nothing', /already \(its Node terminates\)/u],
  ['done', gone, true, 'nothing', /decommissioned already.*kubectl delete hypervisor node-1/u],
  ['held by a controller', { maintenance: 'auto' }, false, 'refuse', /Something else works/u],
  ['failed', { maintenance: 'ha' }, false, 'refuse', /Something else works/u],
  ['not driven', { lifecycleEnabled: false }, false, 'refuse', /stay in Nova.*drover onboard node-1/u],
  ['deleted', { deleting: true }, false, 'refuse', /being deleted/u],
])('decommission: %s', (_why, facts, isConsented, does, words, change = null) => {
  const consent = isConsented ? (['delete-allocations'] as const) : [];
  const found = judged(attempt(() => planDecommission(sampleHypervisor(facts), { reason: 'old', consent, by }, now)));
  expect(found).toEqual({ does, words: expect.stringMatching(words), change });
});

const node = (lifecycleLabel: string | null, isHypervisor = true): SpeakingNode => ({
  name: 'node-1',
  uid: 'n',
  resourceVersion: '5',
  isHypervisor,
  lifecycle: lifecycleLabel,
});
const off: Facts = {
  lifecycleEnabled: false,
  conditions: [lifecycle('Initial', 'False', 'Lifecycle management is disabled')],
};
const on = { lifecycleEnabled: true, skipTests: false };
const aborted: Facts = {
  conditions: [
    lifecycle('Aborted', 'False', 'Onboarding was aborted: no'),
    { ...terminating, type: 'Onboarding', status: 'False', reason: 'Aborted' },
  ],
};

test.each<
  [
    why: string,
    facts: Facts | null,
    node: SpeakingNode | null,
    skipTests: boolean | undefined,
    does: OnboardPlan['kind'] | 'refuse' | 'unknown',
    words: RegExp,
    change?: unknown,
  ]
>([
  ['neither Hypervisor nor Node', null, null, undefined, 'unknown', /^$/u],
  [
    'a Node that is none',
    null,
    node(null, false),
    undefined,
    'refuse',
    /kubectl label node node-1 nova\.openstack\.cloud\.sap\/virt-driver=kvm/u,
  ],
  ['a Node before its Hypervisor', null, node(null), undefined, 'label', /makes its Hypervisor/u, { label: 'true' }],
  ['the same without tests', null, node(null), true, 'label', /makes its Hypervisor/u, { label: 'skip-tests' }],
  ['a Node that says it', null, node('x'), undefined, 'nothing', /has the label .* already/u],
  ['off, no Node', off, null, undefined, 'change', /driven from now on.*is tested, and then/u, { spec: on }],
  [
    'off, a Node that says nothing',
    off,
    node(null),
    true,
    'change',
    /gets its traits, and then/u,
    { spec: { ...on, skipTests: true } },
  ],
  ['off, a Node that is no hypervisor', off, node('x', false), undefined, 'change', /driven/u, { spec: on }],
  [
    'what the Node had said is the person’s now',
    { ...off, annotations: { 'drover.dev/from-node': 'label:a,lifecycleEnabled,skipTests' } },
    node(null),
    undefined,
    'change',
    /driven/u,
    { spec: on, annotations: { 'drover.dev/from-node': 'label:a' } },
  ],
  ['the Node says it, and drover has not looked', off, node('x'), undefined, 'nothing', /Node says so already/u],
  [
    'the Node’s tests are left out',
    {},
    node('x'),
    true,
    'label',
    /Label .* is set: tests are left out/u,
    { label: 'skip-tests' },
  ],
  ['the Node’s tests are made', {}, node('skip-tests'), false, 'label', /tests are made/u, { label: 'true' }],
  ['in service', {}, null, undefined, 'nothing', /driven already\. Active: node-1 is in service\. Nothing/u],
  ['aborted', aborted, null, undefined, 'refuse', /no\. .*drover retry node-1.*--skip-tests/u],
  [
    'aborted, and now without tests',
    aborted,
    null,
    true,
    'change',
    /tests of node-1 are left out.*drover retry node-1/u,
    { spec: { ...on, skipTests: true } },
  ],
  [
    'in maintenance',
    { ...off, ...manual },
    null,
    undefined,
    'change',
    /in maintenance manual, by bob.*drover activate node-1/u,
    { spec: on },
  ],
  [
    'decommissioned',
    gone,
    null,
    undefined,
    'refuse',
    /was taken out of Nova: maintenance termination: lease ends.*--mode ha.*anew/u,
  ],
  ['its Node terminates', terminates, node('x'), undefined, 'refuse', /terminates/u],
  ['deleted', { deleting: true }, null, undefined, 'refuse', /being deleted/u],
])('onboard: %s', (_why, facts, itsNode, skipTests, does, words, change = null) => {
  const found = judged(attempt(() => planOnboard(facts === null ? null : sampleHypervisor(facts), itsNode, skipTests)));
  expect(found).toEqual({ does, words: expect.stringMatching(words), change });
});

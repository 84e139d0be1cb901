import { type Kind, kinds } from '../../contracts/kinds/table.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { tableError } from '../command/error.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { main } from '../main.ts';
import { examine, ok } from './finding.ts';
import { checkClock } from './kubernetes.ts';
import type { HeldLease } from './replaced-operator.ts';
import { judgeReplacedOperator, replacedOperators } from './replaced-operator.ts';
import { checkNova, type OpenStackProbe } from './openstack.ts';
import { type Features, needsOf } from './permissions.ts';
import { compareSearchAttributes } from './temporal.ts';

const now = Date.parse('2026-01-31T12:00:00Z');
const lease = (renewTime: string | null, holderIdentity = 'oho-1'): HeldLease => ({
  metadata: { name: '4c28796a.cloud.sap', namespace: 'oho' },
  spec: { holderIdentity, renewTime, leaseDurationSeconds: 15 },
});

test.each<[why: string, leases: HeldLease[], mode: 'off' | 'observe' | 'act', status: string]>([
  ['no Lease', [], 'act', 'ok'],
  ['a Lease that is renewed, while drover acts', [lease('2026-01-31T11:59:55Z')], 'act', 'fail'],
  ['while drover observes', [lease('2026-01-31T11:59:55Z')], 'observe', 'ok'],
  ['while drover is off', [lease('2026-01-31T11:59:55Z')], 'off', 'warn'],
  ['a Lease of one that is gone', [lease('2026-01-31T11:00:00Z')], 'act', 'ok'],
  ['a Lease that was given back', [lease('2026-01-31T11:59:55Z', '')], 'act', 'ok'],
  ['a Lease that was never held', [lease(null)], 'act', 'ok'],
  ['one of two is held', [lease('2026-01-31T11:00:00Z'), lease('2026-01-31T11:59:55Z')], 'act', 'fail'],
])('replaced operator: %s', (_why, leases, mode, status) => {
  expect(judgeReplacedOperator(leases, replacedOperators.hypervisors, mode, now).status).toBe(status);
});

test('agent-forge-operator is another one, with a mode of its own', () => {
  expect(
    judgeReplacedOperator([lease('2026-01-31T11:59:55Z')], replacedOperators.agentPools, 'act', now),
  ).toMatchObject({
    check: 'agent-forge-operator',
    status: 'fail',
    message: expect.stringContaining('agent-forge-operator.containeroo.ch'),
    advice: expect.stringContaining('modes.VsphereAgentPool'),
  });
});

test.each<[why: string, serverTimeMs: number | null, statuses: string[]]>([
  ['no server time', null, []],
  ['the same', now, ['ok']],
  ['within the second that is cut off', now - 5_900, ['ok']],
  ['ahead', now - 61_000, ['warn']],
  ['behind', now + 61_000, ['warn']],
])('clock: %s', (_why, serverTimeMs, statuses) => {
  expect(checkClock(serverTimeMs, now).map(({ status }) => status)).toEqual(statuses);
});

test('search attributes: missing, of another type, foreign', () => {
  const registered = { DroverKind: 2, DroverObject: 2, DroverHost: 1, Other: 2 };
  expect(compareSearchAttributes(registered)).toEqual({
    missing: ['DroverPhase', 'DroverReason'],
    wrong: ['DroverHost'],
  });
  expect(compareSearchAttributes({}).missing).toHaveLength(5);
});

test('a check that throws has found something', async () => {
  const { signal } = new AbortController();
  await expect(examine('x', signal, () => Promise.resolve(ok('x', 'fine')))).resolves.toEqual([ok('x', 'fine')]);
  await expect(
    examine('x', signal, () => Promise.reject(tableError('CredentialRefused', 'Keystone: 401.'))),
  ).resolves.toEqual([
    { check: 'x', status: 'fail', message: 'Keystone: 401.', advice: expect.stringMatching(/Renew it/) },
  ]);
});

test('Nova of which no cell answers has compute services', async () => {
  const service = { host: '', state: 'down', status: 'enabled', cellDown: true } as const;
  const check = async (services: (typeof service)[]) => {
    const probe = { region: 'eu-1', computeServices: async () => services };
    return await checkNova(probe as unknown as OpenStackProbe, new AbortController().signal);
  };
  expect(await check([])).toMatchObject([{ status: 'fail', message: 'it has no compute service' }]);
  expect(await check([service, service])).toMatchObject([
    { status: 'fail', message: 'no cell answers' },
    { status: 'warn', message: '2 compute services are in a cell that does not answer' },
  ]);
});

test('Temporal settings that are wrong are a finding', async () => {
  const terminal = paper();
  const openTemporal = () => Promise.reject(tableError('InvalidConfiguration', 'There is no profile prdo.'));
  const context = { ...sampleContext(terminal), openTemporal };
  expect(await main(['doctor', '--only', 'temporal', '--json'], context)).toBe(exitCodes.failed);
  expect(JSON.parse(terminal.stdout)).toContainEqual(
    expect.objectContaining({ check: 'Temporal', status: 'fail', message: 'There is no profile prdo.' }),
  );
});

test('Ctrl-C is no finding', async () => {
  const controller = new AbortController();
  controller.abort(new Error('interrupted'));
  await expect(examine('x', controller.signal, (signal) => Promise.reject(signal.reason))).rejects.toThrow(
    'interrupted',
  );
  expect(exitCodes.interrupted).toBe(130);
});

/** `who verb resource`, each. */
const off: Features = {
  modes: { ...(Object.fromEntries(kinds.map((kind) => [kind, 'off'])) as Record<Kind, 'off'>), Eviction: 'act' },
  guardsDrain: false,
  certificates: null,
  fastDeploy: false,
  groups: false,
};
const allowed = ({ modes, ...features }: { modes?: Partial<Features['modes']> } & Partial<Omit<Features, 'modes'>>) =>
  Object.entries(
    needsOf(
      { migrationNamespace: 'm', systemNamespace: 's', leaseName: 'l' },
      { ...off, ...features, modes: { ...off.modes, ...modes } },
    ),
  ).flatMap(([who, needs]) =>
    needs.flatMap(({ verbs, resource }) => verbs.map((verb) => `${who} ${verb} ${resource}`)),
  );
const watching = ['bridge watch hypervisors', 'bridge watch nodes'];
const driving = ['worker patch hypervisors', 'worker create leases'];
const commanding = ['person get hypervisors', 'person patch hypervisors', 'person get nodes'];
const guarding = [
  'worker patch nodes',
  'worker list pods',
  'worker update poddisruptionbudgets',
  'worker create deployments',
];

test.each<[why: string, features: Parameters<typeof allowed>[0], more: string[], not: string[]]>([
  ['switched off', { guardsDrain: true }, [], [...watching, ...commanding, ...guarding, ...driving]],
  [
    'observed',
    { modes: { Hypervisor: 'observe' }, guardsDrain: false },
    [...watching, ...commanding, ...driving],
    guarding,
  ],
  ['driven', { modes: { Hypervisor: 'act' }, guardsDrain: false }, [...watching, ...commanding, ...driving], guarding],
  [
    'driven, and Gardener’s drain held back',
    { modes: { Hypervisor: 'act' }, guardsDrain: true },
    [...watching, ...commanding, ...guarding, ...driving],
    [],
  ],
])('permissions where hypervisors are %s', (_why, features, more, not) => {
  const all = allowed(features);
  expect(all).toEqual(
    expect.arrayContaining(['worker list hypervisors', 'bridge watch evictions', 'person list hypervisors', ...more]),
  );
  expect(all.filter((need) => not.includes(need))).toEqual([]);
});

const drivesVms = [
  'worker patch virtualmachines',
  'bridge watch virtualmachines',
  'bridge watch virtualmachineclasses',
  'person list virtualmachines',
  'person patch virtualmachines',
];
const caches = ['worker create virtualmachineimagecaches', 'bridge watch virtualmachineimagecaches'];
const groups = ['worker get virtualmachinegroups', 'bridge watch virtualmachinegroups'];
const volumes = [
  'worker get persistentvolumeclaims',
  'worker create cnsnodevmattachments',
  'worker patch cnsnodevmbatchattachments',
];
const policies = [
  'worker list virtualmachinesetresourcepolicies',
  'worker patch virtualmachinesetresourcepolicies/status',
];
test.each<[why: string, features: Parameters<typeof allowed>[0], more: string[], not: string[]]>([
  ['switched off', { fastDeploy: true, groups: true }, [], [...drivesVms, ...caches, ...groups, ...volumes]],
  ['driven', { modes: { VirtualMachine: 'act' } }, [...drivesVms, ...volumes], [...caches, ...groups, ...policies]],
  [
    'driven, with all that they may wait for',
    { modes: { VirtualMachine: 'observe' }, fastDeploy: true, groups: true },
    [...drivesVms, ...caches, ...groups],
    [],
  ],
  [
    'driven with what policies name',
    { modes: { VirtualMachine: 'act', VirtualMachineSetResourcePolicy: 'act' } },
    [...drivesVms, ...policies],
    [...caches, ...groups],
  ],
])('permissions where virtual machines are %s', (_why, features, more, not) => {
  const all = allowed(features);
  expect(all).toEqual(expect.arrayContaining(more));
  expect(all.filter((need) => not.includes(need))).toEqual([]);
});

import { gunzipSync } from 'node:zlib';
import { labClock } from '../../../lab/clock.ts';
import { applyObject } from '../../../lab/kubernetes-objects.ts';
import { inventory } from '../../../lab/vsphere/handle.ts';
import { vmFixture } from '../../../lab/vsphere/vm-fixture.ts';
import { defaultBridgeTimings } from '../../../k8s-bridge/run-bridge.ts';
import type { ScenarioContext } from '../../faults/context.ts';
import { vcenterOf } from '../../faults/environment.ts';
import type { Scenario } from '../../faults/scenario.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import { until } from '../../flows/until.ts';
import { common, haveVm, settings, untilRests } from '../../faults/virtual-machine-scenarios.ts';
import { guestScenarios } from './guest-power-scenarios.ts';
import { identityScenarios } from './identity-scenarios.ts';
import { otherUsersScenarios } from './other-users-scenarios.ts';
import { policyScenarios } from './policy-scenarios.ts';
import { volumeScenarios } from './volume-scenarios.ts';
import { describe, judgePower, namespaceOf, unlessStopped } from '../../faults/judge-vm.ts';

/** Virtual machines in ways that only the simulator goes through with every fault. */

const secret = 'user-data';
const userData = '#cloud-config\n# canary-of-the-matrix';
const changedData = `${userData}, changed`;
const bootstrapped = { bootstrap: { cloudInit: { rawCloudConfig: { name: secret, key: 'key' } } } };

const putSecret = (context: ScenarioContext, key: string): Promise<void> =>
  applyObject(context.fixture.environment.api, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: namespaceOf(context), name: secret },
    stringData: { key },
  });

const guestName = 'guest-1';
const newMac = '00:50:56:3f:00:0a';
const cardOf = (name: string, more: object = {}): object => ({ name, network: { name: vmFixture.network }, ...more });

/** What is packed in that key; empty: nothing. */
async function readKey(context: ScenarioContext, key: string): Promise<{ packed: string; text: string }> {
  const { extraConfig = [] } = (await describe(context))?.config ?? {};
  const packed = extraConfig.find((option) => option.key === key)?.value ?? '';
  return { packed, text: packed === '' ? '' : gunzipSync(Buffer.from(packed, 'base64')).toString('utf8') };
}

async function judgeCustomized(context: ScenarioContext): Promise<string[]> {
  const vm = await describe(context);
  const waiting = vm?.config.tools?.pendingCustomization ?? '';
  return [
    ...(vm?.guest.hostName === guestName ? [] : [`its guest is called ${vm?.guest.hostName ?? 'nothing'}`]),
    ...(waiting === '' ? [] : ['a customization waits for another start']),
  ];
}

async function judgeAddress(context: ScenarioContext): Promise<string[]> {
  const { text } = await readKey(context, 'guestinfo.metadata');
  const macs = (await describe(context))?.config.hardware.device.flatMap(({ macAddress }) => macAddress ?? []);
  return [
    ...(macs?.join().toLowerCase() === newMac ? [] : [`its cards have the addresses ${macs?.join() ?? 'of none'}`]),
    ...(text.includes(newMac) ? [] : [`its guest is given ${text}`]),
  ];
}

async function judgeUserData(context: ScenarioContext, wanted = userData): Promise<string[]> {
  const { packed, text: given } = await readKey(context, 'guestinfo.userdata');
  const { texts } = await context.fixture.readWorld(context);
  const shown = texts.filter(({ text }) => text.includes('canary-of-the-matrix') || text.includes(packed || '\0'));
  return [
    ...(given === wanted ? [] : [`its user data are ${JSON.stringify(given)}`]),
    ...shown.map(({ where }) => `the Secret is in ${where}`),
  ];
}

/** What vCenter did, and not what it was asked: a request that is lost on the way restarts nothing. */
async function judgeRestarts(context: ScenarioContext): Promise<string[]> {
  const tasks = await vcenterOf(context.fixture.environment).witness.readTasks();
  const count = tasks.filter(({ descriptionId }) => descriptionId === 'VirtualMachine.reset').length;
  return count === 1 ? [] : [`it was reset ${count} times`];
}

const macsOf = async (context: ScenarioContext): Promise<string[]> =>
  (await describe(context))?.config.hardware.device.flatMap(({ macAddress }) => macAddress ?? []) ?? [];
const macsBefore = new WeakMap<ScenarioContext, string[]>();

export const machineScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'bootstrapped',
    title: 'a VM is made whose guest is set up from a Secret',
    targets: () => true,
    prepare: (context) => putSecret(context, userData),
    start: (context) => context.createVm('A', bootstrapped),
    ends: { A: 'Reconciled' },
    judge: unlessStopped((context) => judgeUserData(context)),
  },
  {
    ...common,
    name: 'forgotten',
    title: 'a VM whose Secret is gone is powered off all the same, and has what the Secret says once it is back',
    bridge: true,
    targets: (step) => step.includes('/submitBootstrap.') || step.includes('/submitPower.'),
    async prepare(context) {
      await putSecret(context, userData);
      await haveVm(context, bootstrapped);
      const path = resourcePath('v1', 'secrets', { namespace: namespaceOf(context), name: secret });
      await context.fixture.environment.api.request({ method: 'DELETE', path }, AbortSignal.timeout(20_000));
    },
    start: (context) => context.change('A', { powerState: 'PoweredOff' }),
    async meanwhile(context) {
      await until('the VM to be off, or a cancel', 120_000, async () => {
        const object = await context.read('A');
        const isStopped = object !== null && context.subject.isStopped(object);
        return isStopped || (await describe(context))?.runtime.powerState === 'poweredOff' || 'it is on';
      });
      // Its run has left.
      await untilRests(context);
      await putSecret(context, changedData);
      // No event tells of a Secret: the bridge asks for it.
      await labClock().sleep(defaultBridgeTimings.secretsMs + 60_000);
    },
    ends: { A: 'Reconciled' },
    judge: unlessStopped(async (context) => [
      ...(await judgePower(context, 'poweredOff')),
      ...(await judgeUserData(context, changedData)),
    ]),
  },
  {
    ...common,
    name: 'remade',
    title: 'a VM that another user has destroyed is made anew, and its guest set up anew',
    targets: (step) => step.includes('/submitNewVm.') || step.includes('/submitBootstrap.'),
    async prepare(context) {
      await putSecret(context, userData);
      // The address stays: it is not that by which the other VM is told from the first.
      const network = { interfaces: [cardOf('eth0', { macAddr: newMac })] };
      await haveVm(context, { powerState: 'PoweredOff', network, ...bootstrapped });
    },
    async start(context) {
      await vcenterOf(context.fixture.environment).witness.destroyVm(`${inventory.vmFolder}/${context.hostOf('A')}`);
      await context.change('A', { powerState: 'PoweredOn' });
    },
    ends: { A: 'Reconciled' },
    judge: unlessStopped((context) => judgeUserData(context)),
  },
  {
    ...common,
    name: 'customized',
    title: 'a VM with two cards is made whose guest is customized at its first start',
    // No guest of the fake's has Tools, which would be waited for.
    settings: { ...settings, virtualMachine: { ...settings.virtualMachine, toolsMs: 1 } },
    targets: (step) => step.includes('/submitBootstrap.') || step.includes('/submitReconfigure.'),
    prepare: async () => undefined,
    start: (context) =>
      context.createVm('A', {
        bootstrap: { linuxPrep: { timeZone: 'UTC' } },
        network: { hostName: guestName, interfaces: ['eth0', 'eth1'].map((name) => cardOf(name)) },
      }),
    ends: { A: 'Reconciled' },
    judge: unlessStopped(judgeCustomized),
  },
  {
    ...common,
    name: 'recarded',
    title: 'the card of a VM is replaced while it is off, and its guest is told the new address',
    targets: (step) => step.includes('/submitReconfigure.') || step.includes('/submitBootstrap.'),
    prepare: (context) =>
      haveVm(context, {
        powerState: 'PoweredOff',
        bootstrap: { cloudInit: { cloudConfig: { timezone: 'UTC' } } },
        network: { interfaces: [cardOf('eth0')] },
      }),
    start: (context) =>
      context.change('A', {
        powerState: 'PoweredOn',
        network: { interfaces: [cardOf('eth0', { macAddr: newMac })] },
      }),
    ends: { A: 'Reconciled' },
    judge: unlessStopped(judgeAddress),
  },
  {
    ...common,
    name: 'uncarded',
    title: 'of three cards in one network the second is removed, and the third stays the one of its interface',
    targets: (step) => step.includes('/submitReconfigure.'),
    async prepare(context) {
      const interfaces = ['eth0', 'eth1', 'eth2'].map((name) => cardOf(name));
      await haveVm(context, { powerState: 'PoweredOff', network: { interfaces } });
      macsBefore.set(context, await macsOf(context));
    },
    start: (context) => context.change('A', { network: { interfaces: ['eth0', 'eth2'].map((name) => cardOf(name)) } }),
    ends: { A: 'Reconciled' },
    judge: unlessStopped(async (context) => {
      const [first, second, third, ...more] = macsBefore.get(context) ?? [];
      const now = await macsOf(context);
      return second !== undefined && more.length === 0 && now.join() === [first, third].join()
        ? []
        : [`its cards are ${now.join()}, and were ${[first, second, third, ...more].join()}`];
    }),
  },
  {
    ...common,
    name: 'suspended',
    title: 'a VM is suspended',
    targets: () => true,
    prepare: (context) => haveVm(context),
    start: (context) => context.change('A', { powerState: 'Suspended', suspendMode: 'Hard' }),
    ends: { A: 'Reconciled' },
    // What cannot be changed of one that is suspended, its object says.
    endsAfter: { changeSpec: { A: ['Reconciled', 'PowerOffRequired'] } },
    judge: unlessStopped((context) => judgePower(context, 'suspended')),
  },
  {
    ...common,
    name: 'restarted',
    title: 'a VM is restarted once',
    targets: () => true,
    prepare: (context) => haveVm(context),
    start: (context) =>
      context.change('A', { restartMode: 'Hard', nextRestartTime: new Date(labClock().now()).toISOString() }),
    ends: { A: 'Reconciled' },
    judge: unlessStopped(judgeRestarts),
  },
  ...guestScenarios,
  ...identityScenarios,
  ...volumeScenarios,
  ...policyScenarios,
  ...otherUsersScenarios,
  {
    ...common,
    name: 'unsupported',
    title: 'a VM is not made whose spec asks for what drover does not do',
    targets: () => true,
    prepare: async () => undefined,
    start: (context) => context.createVm('A', { crypto: { encryptionClassName: 'gold' } }),
    ends: { A: 'NotSupported' },
    judge: async (context) => ((await describe(context)) === null ? [] : ['there is a VM, and it is not encrypted']),
  },
  {
    ...common,
    name: 'partly-supported',
    title: 'of a VM that is there, all is done but what drover does not do',
    targets: () => true,
    prepare: (context) => haveVm(context),
    start: (context) => context.change('A', { currentSnapshotName: 'before', powerState: 'PoweredOff' }),
    ends: { A: 'NotSupported' },
    judge: unlessStopped((context) => judgePower(context, 'poweredOff')),
  },
];

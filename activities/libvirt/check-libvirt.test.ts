import { stoppedClock } from '../../test/fixtures/stopped-clock.ts';
import {
  type LibvirtReply,
  type ReceivedCall,
  type ScriptedLibvirtd,
  startScriptedLibvirtd,
} from '../../test/scripted-libvirtd.ts';
import { openHostPorts } from '../hypervisor/host-ports.ts';
import type { LibvirtSettings } from './access.ts';
import { checkLibvirt, judgeVersion } from './check-libvirt.ts';
import { versionText } from './operations.ts';
import { checkPrefix, ownUuid } from './xml.ts';

const never = new AbortController().signal;
const made = { name: 'drover-check-new', uuid: ownUuid('drover-check-new') };
const leftover = { name: `${checkPrefix}old`, uuid: ownUuid(`${checkPrefix}old`), id: 4 };
const looksLikeIt = { name: `${checkPrefix}of-somebody`, uuid: '8a3b1c5e-0000-4000-8000-000000000001', id: 5 };
const ofNova = { name: 'instance-00000001', uuid: '8a3b1c5e-0000-4000-8000-000000000002', id: 6 };

const answers: Partial<Record<string, object>> = {
  connectGetLibVersion: { version: 9_000_000n },
  connectGetVersion: { version: 28_000_000n },
  connectGetType: { type: 'CH' },
  connectGetHostname: { hostname: 'node-1' },
  connectGetCapabilities: { xml: "<domain type='kvm'/>" },
  connectListAllDomains: { domains: [leftover, looksLikeIt, ofNova], count: 3 },
  domainGetState: { state: 1, reason: 1 },
  domainCreateXml: { domain: { ...made, id: 7 } },
  domainDestroyFlags: {},
};

let open: ScriptedLibvirtd | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const clock = stoppedClock();
const tools = { ...openHostPorts({ clock }), clock, random: Math.random };
const callMs = 500;

/** What a daemon is asked, and what the check makes of its answers. */
async function check(
  uri: string,
  script: (call: ReceivedCall) => LibvirtReply | undefined = () => undefined,
  settings: Partial<LibvirtSettings> = {},
) {
  const libvirtd = await startScriptedLibvirtd((call) => {
    const scripted = script(call);
    if (scripted === 'silent') clock.elapse(callMs);
    if (scripted !== undefined) return scripted;
    if (call.name === 'connectGetUri') return { result: { uri } };
    if (call.name === 'domainUndefineFlags') return { error: 42 };
    const answer = answers[call.name];
    return answer === undefined ? undefined : { result: answer };
  });
  open = libvirtd;
  const connectUri = `${uri.split(':')[0]}+tcp://{host}:${libvirtd.port}/system`;
  const findings = await checkLibvirt(
    tools,
    '127.0.0.1',
    {
      connectUri,
      tls: null,
      sasl: null,
      minimumVersion: '9.0.0',
      kernelPath: null,
      timeouts: { callMs, startMs: callMs },
      ...settings,
    },
    never,
  );
  return { ...findings, received: libvirtd.received };
}

const outcomes = ({ checks }: Awaited<ReturnType<typeof check>>) => checks.map(({ outcome, code }) => code ?? outcome);
const removed = ({ received }: Awaited<ReturnType<typeof check>>) =>
  received.filter(({ name }) => name === 'domainDestroyFlags').map(({ uuid }) => uuid);

test('QEMU’s VM ends with the connection; nothing else is looked for', async () => {
  const found = await check('qemu:///system');
  expect(outcomes(found)).toEqual(['passed', 'passed', 'passed']);
  expect(found.versions).toEqual({ libvirt: '9.0.0', hypervisor: '28.0.0', driver: 'CH', hostname: 'node-1' });
  expect(found.received.find(({ name }) => name === 'domainCreateXml')?.flags).toBe(2);
  expect(found.received.map(({ name }) => name)).not.toContain('connectListAllDomains');
  expect(removed(found)).toEqual([made.uuid]);
});

test('where the driver cannot do that, what an earlier check left is removed first, and nothing that drover did not make', async () => {
  const found = await check('ch:///system', undefined, { kernelPath: '/usr/share/cloud-hypervisor/hypervisor-fw' });
  expect(outcomes(found)).toEqual(['passed', 'passed', 'passed']);
  expect(found.received.find(({ name }) => name === 'domainCreateXml')?.flags).toBe(0);
  expect(removed(found)).toEqual([leftover.uuid, made.uuid]);
});

test.each<[string, (call: ReceivedCall) => LibvirtReply | undefined, string[]]>([
  [
    'it does not start',
    ({ name }) =>
      name === 'domainCreateXml'
        ? { error: 1, message: 'internal error: process exited while connecting to monitor' }
        : undefined,
    ['passed', 'passed', 'HypervisorFailed'],
  ],
  [
    'it is paused',
    ({ name }) => (name === 'domainGetState' ? { result: { state: 3, reason: 5 } } : undefined),
    ['passed', 'passed', 'failed'],
  ],
  [
    'it is gone at once',
    ({ name }) => (name === 'domainGetState' ? { error: 42, message: 'Domain not found' } : undefined),
    ['passed', 'passed', 'DomainNotFound'],
  ],
  [
    'it cannot be destroyed',
    ({ name }) => (name === 'domainDestroyFlags' ? { error: 38, message: 'Failed to terminate process' } : undefined),
    ['passed', 'passed', 'HypervisorFailed'],
  ],
  [
    'it was destroyed by another client',
    ({ name }) => (name === 'domainDestroyFlags' ? { error: 55, message: 'domain is not running' } : undefined),
    ['passed', 'passed', 'passed'],
  ],
  [
    'the version does not come',
    ({ name }) => (name === 'connectGetLibVersion' ? 'silent' : undefined),
    ['passed', 'LibvirtUnavailable', 'passed'],
  ],
  [
    'the connection is cut in between',
    ({ name }) => (name === 'domainCreateXml' ? 'cut' : undefined),
    ['passed', 'passed', 'LibvirtUnavailable'],
  ],
])('%s', async (_, script, expected) => {
  expect(outcomes(await check('qemu:///system', script))).toEqual(expected);
});

test('a host that is no host is a finding', async () => {
  const { checks } = await checkLibvirt(
    tools,
    'node 1',
    {
      connectUri: 'qemu+tcp://{host}/system',
      tls: null,
      sasl: null,
      minimumVersion: '9',
      kernelPath: null,
      timeouts: {},
    },
    never,
  );
  expect(checks.map(({ outcome, code }) => code ?? outcome)).toEqual(['InvalidConfiguration', 'skipped', 'skipped']);
});

describe('judge version', () => {
  test.each([
    ['9.0.0', '9.0.0', true],
    ['9.0.0', '8.10.5', true],
    ['10.0.0', '9.9.9', true],
    ['9.0.0', '9', true],
    ['9.0.0', '9.0.1', false],
    ['9.0.0', '10', false],
    ['9.10.0', '9.9.0', true],
    ['unknown', '9.0.0', false],
    ['', '9.0.0', false],
  ])('%s where at least %s is expected: %s', (version, minimum, isEnough) => {
    expect(judgeVersion(version, minimum)).toEqual({
      isEnough,
      expectation: `libvirt ${minimum} or newer`,
      observed: `libvirt ${version}`,
    });
  });

  test.each([
    [9_000_000n, '9.0.0'],
    [11_003_002n, '11.3.2'],
    [0n, '0.0.0'],
    [18_446_744_073_709_551_615n, '18446744073709.551.615'],
  ])('%s is %s', (number, text) => expect(versionText(number)).toBe(text));
});

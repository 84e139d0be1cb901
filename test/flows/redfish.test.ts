import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createPowerActivities } from '../../activities/redfish/activities.ts';
import { createRedfishClient } from '../../activities/redfish/client.ts';
import type { BmcSettings } from '../../activities/redfish/types.ts';
import type { EnsurePoweredOff } from '../../contracts/power.ts';
import { startLab, type Lab } from '../../lab/lab.ts';
import { redfishServes } from '../../lab/parts/redfish.ts';
import { killService, readProcess, respawnService, signalService } from '../../lab/processes.ts';
import { connectMachines, type Machines, type MachineState } from '../../lab/redfish/machines.ts';
import type { RedfishHandle } from '../../lab/redfish/handle.ts';
import type { AuditEntry } from '../../runtime/audit.ts';

/** The first run on a machine installs the emulator from PyPI. */
const startTimeoutMs = 5 * 60_000;
const never = new AbortController().signal;
const recheckMs = 300;

let root: string;
let lab: Lab<'redfish'>;
let handle: RedfishHandle;
let machines: Machines;
const audit: AuditEntry[] = [];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'drover-redfish-'));
  lab = await startLab({ dir: join(root, 'lab'), parts: ['redfish'] });
  handle = lab.handles.redfish;
  machines = connectMachines(handle);
}, startTimeoutMs);

afterAll(async () => {
  await lab?.stop();
  rmSync(root, { recursive: true, force: true });
});

const fresh: Partial<MachineState> = { power: 'On', behaviour: 'obeys', delaySeconds: 0.2, returnsAfterSeconds: 0.1, resets: [] };
beforeEach(async () => {
  audit.splice(0);
  for (const name of ['node-1', 'node-2']) await machines.change(name, fresh);
});

const settingsOf = (host: string, change: Partial<BmcSettings> = {}): BmcSettings => ({
  url: handle.url,
  username: handle.username,
  password: readFileSync(handle.passwordFile, 'utf8'),
  auth: 'basic',
  ca: readFileSync(handle.caFile, 'utf8'),
  system: { uuid: handle.machines[host]! },
  ...change,
});

const activities = (change: Partial<BmcSettings> = {}, signal = never) =>
  createPowerActivities({
    bmcOf: (host) => Promise.resolve(settingsOf(host, change)),
    stopGate: () => Promise.resolve(),
    audit: { record: (entry) => Promise.resolve(void audit.push(entry)) },
    scope: () => ({ signal, deadlineMs: Infinity, heartbeatDetails: undefined, run: null, heartbeat: () => undefined }),
    connect: (settings) => createRedfishClient(settings, { timeouts: { connectMs: 2_000, headersMs: 2_000, bodyMs: 2_000 } }),
  });
const powerOff = (host = 'node-1', change: Partial<EnsurePoweredOff> = {}): EnsurePoweredOff => ({ host, cause: 'the test', recheckMs, pollMs: 50, timeoutMs: 5_000, ...change });
const stateOf = async (host: string): Promise<MachineState> => (await machines.all())[host]!;

test('a machine that is on is powered off, and proved off; its neighbours stay on', async () => {
  const proof = await activities().ensurePoweredOff(powerOff());
  expect(proof).toMatchObject({ host: 'node-1', systemPath: `/redfish/v1/Systems/${handle.machines['node-1']}`, asked: true });
  expect(proof.secondOffMs - proof.firstOffMs).toBeGreaterThanOrEqual(recheckMs);
  expect(await stateOf('node-1')).toMatchObject({ power: 'Off', resets: ['ForceOff'] });
  expect(await stateOf('node-2')).toMatchObject({ power: 'On', resets: [] });
  expect(audit).toEqual([expect.objectContaining({ action: 'ensurePoweredOff', object: 'host/node-1', cause: 'the test' })]);
});

test('again, it is not asked again', async () => {
  await activities().ensurePoweredOff(powerOff());
  expect(await activities().ensurePoweredOff(powerOff())).toMatchObject({ asked: false });
  expect((await stateOf('node-1')).resets).toEqual(['ForceOff']);
});

test('two at once both prove it', async () => {
  const proofs = await Promise.all([activities().ensurePoweredOff(powerOff()), activities().ensurePoweredOff(powerOff())]);
  expect(proofs).toHaveLength(2);
  expect((await stateOf('node-1')).power).toBe('Off');
});

test('finds it by its configured path, and tells its power without touching it', async () => {
  const system = { path: `/redfish/v1/Systems/${handle.machines['node-2']}` };
  expect(await activities({ system }).observePower({ host: 'node-2' })).toMatchObject({ host: 'node-2', power: 'On' });
  await machines.change('node-2', { power: 'Off' });
  expect(await activities({ system }).observePower({ host: 'node-2' })).toMatchObject({ power: 'Off' });
  expect((await stateOf('node-2')).resets).toEqual([]);
});

test('a path at which another machine stands is not powered off', async () => {
  const system = { path: `/redfish/v1/Systems/${handle.machines['node-2']}`, uuid: handle.machines['node-1']! };
  await expect(activities({ system }).ensurePoweredOff(powerOff())).rejects.toMatchObject({ type: 'SystemNotFound', nonRetryable: true });
  expect((await stateOf('node-2')).resets).toEqual([]);
});

const unproved: [what: string, machine: Partial<MachineState>, request: Partial<EnsurePoweredOff>, type: string, words: RegExp][] = [
  ['takes the request and stays on', { behaviour: 'deaf' }, { timeoutMs: 500 }, 'PowerStillOn', /PowerState On .* after it was asked to power off/u],
  ['refuses the request', { behaviour: 'refuses' }, {}, 'PowerOffRefused', /answered 409 to POST .*ForceOff is not possible now/u],
  ['comes on again by itself', { behaviour: 'returns' }, {}, 'PowerStillOn', /PowerState On .* after it had been read Off/u],
];
test.each(unproved)('one that %s is not fenced', async (_, machine, request, type, words) => {
  await machines.change('node-1', machine);
  await expect(activities().ensurePoweredOff(powerOff('node-1', request))).rejects.toMatchObject({ type, message: expect.stringMatching(words) });
  expect((await stateOf('node-1')).resets).toEqual(['ForceOff']);
});

test('a wrong password is said so, and is not in the failure', async () => {
  const failure = await activities({ password: 'not-the-password' }).ensurePoweredOff(powerOff()).catch((error: unknown) => error);
  expect(failure).toMatchObject({ type: 'BmcCredentialRefused', nonRetryable: true, message: expect.stringMatching(/answered 401 to GET .*Incorrect username or password/u) });
  expect(JSON.stringify(failure)).not.toContain('not-the-password');
  expect((await stateOf('node-1')).resets).toEqual([]);
});

test('a BMC of an unknown CA is not spoken to', async () => {
  await expect(activities({ ca: null }).ensurePoweredOff(powerOff())).rejects.toMatchObject({ type: 'BmcUnreachable', message: expect.stringMatching(/certificate is not trusted/u) });
  expect((await stateOf('node-1')).resets).toEqual([]);
});

test('this BMC has no sessions, which is said', async () => {
  await expect(activities({ auth: 'session' }).ensurePoweredOff(powerOff())).rejects.toMatchObject({ type: 'AnswerMalformed', message: expect.stringMatching(/names no Sessions/u) });
});

test('a BMC that hangs proves nothing, whatever was read before', async () => {
  await machines.change('node-1', { power: 'Off' });
  signalService(handle.dir, 'redfish', 'SIGSTOP');
  try {
    await expect(activities().ensurePoweredOff(powerOff())).rejects.toMatchObject({ type: 'BmcUnreachable', nonRetryable: false });
  } finally {
    signalService(handle.dir, 'redfish', 'SIGCONT');
  }
  await expect(activities().ensurePoweredOff(powerOff())).resolves.toMatchObject({ asked: false });
});

test('a cancel ends it at once', async () => {
  await machines.change('node-1', { behaviour: 'deaf' });
  const controller = new AbortController();
  const reason = new Error('cancelled');
  const waiting = activities({}, controller.signal).ensurePoweredOff(powerOff('node-1', { timeoutMs: 60_000 }));
  const asked = async (): Promise<void> => {
    while ((await stateOf('node-1')).resets.length === 0);
    controller.abort(reason);
  };
  await Promise.all([expect(waiting).rejects.toThrow(/aborted|cancelled/u), asked()]);
});

test('a BMC that died proves nothing; when it is back, the power is as it was', async () => {
  await activities().ensurePoweredOff(powerOff());
  await killService(handle.dir, 'redfish');
  await expect(activities().ensurePoweredOff(powerOff())).rejects.toMatchObject({ type: 'BmcUnreachable', message: expect.stringMatching(/connection was refused/u) });
  await respawnService(handle.dir, 'redfish', { ready: () => redfishServes(handle) }, never);
  expect(await activities().ensurePoweredOff(powerOff())).toMatchObject({ asked: false });
});

test('the password is in no process argument', () => {
  expect(readProcess(handle.dir, 'redfish').args.join(' ')).not.toContain(readFileSync(handle.passwordFile, 'utf8'));
});

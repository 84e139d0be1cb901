import { droverFailure } from '../../runtime/failure.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';
import type { ErrorCode } from '../../contracts/errors.ts';
import type { EnsurePoweredOff, PowerState } from '../../contracts/node-failure/power.ts';
import { systemClock, type Clock } from '../../runtime/clock.ts';
import { createPowerActivities } from './activities.ts';
import type { BmcSettings, ComputerSystem, RedfishClient } from './types.ts';

const request: EnsurePoweredOff = {
  host: 'node-1',
  cause: 'setting of aggregate compute',
  mayAsk: true,
  recheckMs: 5_000,
  pollMs: 1_000,
  timeoutMs: 10_000,
};
const settings: BmcSettings = {
  url: 'https://bmc',
  username: 'u',
  password: 'p',
  auth: 'basic',
  ca: null,
  system: { path: '/redfish/v1/Systems/1' },
};
const fails = (code: ErrorCode) => droverFailure(code, 'as scripted');

/** What each read tells, the last for ever, and what becomes of the request to power off. */
interface Script {
  reads: (PowerState | ErrorCode)[];
  ask?: ErrorCode;
  stopped?: boolean;
}

const states: readonly string[] = ['On', 'Off', 'PoweringOn', 'PoweringOff', 'Paused', 'Unknown'];

function play({ reads, ask, stopped = false }: Script) {
  let nowMs = 1_000_000;
  const log: string[] = [];
  const audit: AuditEntry[] = [];
  const left = [...reads];
  const read = (): Promise<ComputerSystem> => {
    const next = left.length > 1 ? left.shift()! : left[0]!;
    log.push(`read ${next} at ${nowMs - 1_000_000}`);
    if (!states.includes(next)) return Promise.reject(fails(next as ErrorCode));
    return Promise.resolve({
      path: '/redfish/v1/Systems/1',
      uuid: 'u-1',
      serial: null,
      power: next as PowerState,
      reset: null,
    });
  };
  const client: RedfishClient = {
    findSystem: read,
    readSystem: read,
    forceOff: () => {
      log.push('ask');
      return ask === undefined ? Promise.resolve() : Promise.reject(fails(ask));
    },
    close: () => {
      log.push('close');
      return Promise.resolve();
    },
  };
  const clock: Clock = {
    ...systemClock,
    now: () => nowMs,
    sleep: (ms, signal) => {
      // A timer may fire a little early.
      nowMs += ms > 1 ? ms - 1 : ms;
      signal?.throwIfAborted();
      return Promise.resolve();
    },
  };
  const scope = {
    signal: new AbortController().signal,
    deadlineMs: Infinity,
    heartbeatDetails: undefined,
    run: null,
    heartbeat: () => undefined,
    scheduledMs: 0,
    waitedMs: 0,
    warn: () => undefined,
  };
  const activities = createPowerActivities({
    bmcOf: () => Promise.resolve(settings),
    stopGate: () => (stopped ? Promise.reject(fails('Stopped')) : Promise.resolve()),
    audit: { record: (entry) => Promise.resolve(void audit.push(entry)) },
    scope: () => scope,
    clock,
    connect: () => client,
  });
  return { activities, log, audit };
}

test('one that is off is not asked, and read twice', async () => {
  const { activities, log, audit } = play({ reads: ['Off'] });
  const proof = await activities.ensurePoweredOff(request);
  expect(proof).toEqual({
    host: 'node-1',
    systemPath: '/redfish/v1/Systems/1',
    systemUuid: 'u-1',
    firstOffMs: 1_000_000,
    secondOffMs: 1_005_000,
    asked: false,
  });
  expect(log).toEqual(['read Off at 0', 'read Off at 5000', 'close']);
  expect(audit).toEqual([]);
});

test('one that is on is asked once, waited for, and read twice', async () => {
  const { activities, log, audit } = play({ reads: ['On', 'On', 'PoweringOff', 'Off'] });
  const proof = await activities.ensurePoweredOff(request);
  expect(log.map((line) => line.replace(/ at .*/u, ''))).toEqual([
    'read On',
    'ask',
    'read On',
    'read PoweringOff',
    'read Off',
    'read Off',
    'close',
  ]);
  expect(proof.asked).toBe(true);
  expect(proof.secondOffMs - proof.firstOffMs).toBeGreaterThanOrEqual(request.recheckMs);
  expect(audit).toEqual([
    expect.objectContaining({
      action: 'ensurePoweredOff',
      object: 'host/node-1',
      cause: request.cause,
      before: { power: 'On', system: '/redfish/v1/Systems/1', uuid: 'u-1' },
    }),
  ]);
});

const notFenced: [what: string, script: Script, code: ErrorCode, asks: number][] = [
  ['the BMC cannot be reached', { reads: ['BmcUnreachable'] }, 'BmcUnreachable', 0],
  ['the BMC is lost while it goes off', { reads: ['On', 'PoweringOff', 'BmcUnreachable'] }, 'BmcUnreachable', 1],
  ['the BMC is lost between the two reads', { reads: ['Off', 'BmcUnreachable'] }, 'BmcUnreachable', 0],
  ['the request gets no answer', { reads: ['On'], ask: 'BmcUnreachable' }, 'BmcUnreachable', 1],
  ['the BMC refuses', { reads: ['On'], ask: 'PowerOffRefused' }, 'PowerOffRefused', 1],
  ['the credential is refused', { reads: ['BmcCredentialRefused'] }, 'BmcCredentialRefused', 0],
  ['it is another machine', { reads: ['SystemNotFound'] }, 'SystemNotFound', 0],
  ['it is another machine all of a sudden', { reads: ['Off', 'SystemNotFound'] }, 'SystemNotFound', 0],
  ['the credential is refused once it was asked', { reads: ['On', 'BmcCredentialRefused'] }, 'BmcUnreachable', 1],
  [
    'the credential is refused between the two reads',
    { reads: ['On', 'Off', 'BmcCredentialRefused'] },
    'BmcUnreachable',
    1,
  ],
  ['it is another machine once it was asked', { reads: ['On', 'SystemNotFound'] }, 'BmcUnreachable', 1],
  ['it is another machine after it went off', { reads: ['On', 'Off', 'SystemNotFound'] }, 'BmcUnreachable', 1],
  ['it stays on', { reads: ['On'] }, 'PowerStillOn', 1],
  ['its power is not told', { reads: ['Unknown'] }, 'PowerStillOn', 1],
  ['it never ends going off', { reads: ['PoweringOff'] }, 'PowerStillOn', 1],
  ['it comes on again', { reads: ['Off', 'On'] }, 'PowerStillOn', 0],
  ['it is coming on again', { reads: ['On', 'Off', 'PoweringOn'] }, 'PowerStillOn', 1],
  ['its power is not told any more', { reads: ['Off', 'Unknown'] }, 'PowerStillOn', 0],
  ['a user ran drover stop', { reads: ['On'], stopped: true }, 'Stopped', 0],
];
test.each(notFenced)('proves nothing where %s', async (_, script, code, asks) => {
  const { activities, log } = play(script);
  await expect(activities.ensurePoweredOff(request)).rejects.toMatchObject({ type: code });
  expect(log.filter((line) => line === 'ask')).toHaveLength(asks);
  expect(log.at(-1)).toBe('close');
});

test.each<PowerState>(['On', 'PoweringOn', 'Unknown'])(
  'one that was off and is %s is not asked, as it boots',
  async (power) => {
    const { activities, log } = play({ reads: [power, 'Off'] });
    await expect(activities.ensurePoweredOff({ ...request, mayAsk: false })).rejects.toMatchObject({
      type: 'PowerStillOn',
    });
    expect(log).toEqual([`read ${power} at 0`, 'close']);
  },
);

test('one that may not be asked is proved to be off', async () => {
  const { activities } = play({ reads: ['Off'] });
  expect(await activities.ensurePoweredOff({ ...request, mayAsk: false })).toMatchObject({ asked: false });
});

test('a refusal of what another has done meanwhile is none', async () => {
  const { activities } = play({ reads: ['On', 'Off'], ask: 'PowerOffRefused' });
  await expect(activities.ensurePoweredOff(request)).resolves.toMatchObject({ asked: true });
});

test('a request without an answer is in the audit log: it may have been obeyed', async () => {
  const { activities, audit } = play({ reads: ['On'], ask: 'BmcUnreachable' });
  await expect(activities.ensurePoweredOff(request)).rejects.toMatchObject({ type: 'BmcUnreachable' });
  expect(audit).toMatchObject([{ after: { asked: { requested: 'ForceOff' }, unanswered: true } }]);
});

test('observing reads once and asks nothing', async () => {
  const { activities, log } = play({ reads: ['PoweringOn'] });
  expect(await activities.observePower({ host: 'node-1' })).toEqual({
    host: 'node-1',
    power: 'PoweringOn',
    atMs: 1_000_000,
  });
  expect(log).toEqual(['read PoweringOn at 0', 'close']);
});

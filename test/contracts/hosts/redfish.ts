import { createPowerActivities } from '../../../activities/redfish/activities.ts';
import type { ClientOptions } from '../../../activities/redfish/client.ts';
import type { BmcSettings, RedfishClient } from '../../../activities/redfish/types.ts';
import type { EnsurePoweredOff } from '../../../contracts/node-failure/power.ts';
import type { Machines, MachineState } from '../../../lab/redfish/machines.ts';
import type { AuditEntry } from '../../../runtime/telemetry/audit.ts';
import { until } from '../../flows/until.ts';
import { bodyOf, never, type Subject } from './subject.ts';

/** A BMC with the machines node-1 and node-2 behind it. */
export interface RedfishSubject extends Subject {
  createRedfishClient: (settings: BmcSettings, options: Pick<ClientOptions, 'timeouts'>) => RedfishClient;
  /** With the machine's UUID, and what opens the BMC. */
  settingsOf: (host: string) => BmcSettings;
  uuidOf: (host: string) => string;
  machines: Machines;
  /** Connections stand, and nothing is answered. */
  freeze: () => void;
  thaw: () => void;
  kill: () => Promise<void>;
  restart: () => Promise<void>;
}

const recheckMs = 300;
const waitMs = 10_000;
const fresh: Partial<MachineState> = {
  power: 'On',
  behaviour: 'obeys',
  delaySeconds: 0.2,
  returnsAfterSeconds: 0.1,
  resets: [],
};

/** What drover expects of BMCs. @param subject of the test that runs */
export function redfishContract(subject: () => RedfishSubject): void {
  const audit: AuditEntry[] = [];
  const contract = (name: string, body: (bmc: RedfishSubject) => Promise<unknown>): void =>
    test(name, bodyOf(subject, body));

  beforeEach(() => {
    audit.splice(0);
    return subject().run(async () => {
      for (const name of ['node-1', 'node-2']) await subject().machines.change(name, fresh);
    });
  });

  const activities = (change: Partial<BmcSettings> = {}, signal = never) => {
    const { clock, settingsOf, createRedfishClient } = subject();
    return createPowerActivities({
      bmcOf: (host) => Promise.resolve({ ...settingsOf(host), ...change }),
      stopGate: () => Promise.resolve(),
      audit: { record: (entry) => Promise.resolve(void audit.push(entry)) },
      scope: () => ({
        signal,
        deadlineMs: Infinity,
        heartbeatDetails: undefined,
        run: null,
        heartbeat: () => undefined,
        scheduledMs: 0,
        waitedMs: 0,
        warn: () => undefined,
      }),
      clock,
      connect: (settings) =>
        createRedfishClient(settings, { timeouts: { connectMs: 2_000, headersMs: 2_000, bodyMs: 2_000 } }),
    });
  };
  const powerOff = (change: Partial<EnsurePoweredOff> = {}): EnsurePoweredOff => ({
    host: 'node-1',
    cause: 'the test',
    mayAsk: true,
    recheckMs,
    pollMs: 50,
    timeoutMs: 5_000,
    ...change,
  });
  const stateOf = async (host: string): Promise<MachineState> => {
    const state = (await subject().machines.all())[host];
    if (state === undefined) throw new Error(`no machine ${host}`);
    return state;
  };
  const pathOf = (host: string): string => `/redfish/v1/Systems/${subject().uuidOf(host)}`;

  contract('a machine that is on is powered off, and proved off; its neighbours stay on', async () => {
    const proof = await activities().ensurePoweredOff(powerOff());
    expect(proof).toMatchObject({ host: 'node-1', systemPath: pathOf('node-1'), asked: true });
    expect(proof.secondOffMs - proof.firstOffMs).toBeGreaterThanOrEqual(recheckMs);
    expect(await stateOf('node-1')).toMatchObject({ power: 'Off', resets: ['ForceOff'] });
    expect(await stateOf('node-2')).toMatchObject({ power: 'On', resets: [] });
    expect(audit).toEqual([
      expect.objectContaining({ action: 'ensurePoweredOff', object: 'host/node-1', cause: 'the test' }),
    ]);
  });

  contract('again, it is not asked again', async () => {
    await activities().ensurePoweredOff(powerOff());
    expect(await activities().ensurePoweredOff(powerOff())).toMatchObject({ asked: false });
    expect((await stateOf('node-1')).resets).toEqual(['ForceOff']);
  });

  contract('two at once both prove it', async () => {
    const proofs = await Promise.all([
      activities().ensurePoweredOff(powerOff()),
      activities().ensurePoweredOff(powerOff()),
    ]);
    expect(proofs).toHaveLength(2);
    expect((await stateOf('node-1')).power).toBe('Off');
  });

  contract(
    'a machine has its UUID, its power and a reset with ForceOff',
    async ({ createRedfishClient, settingsOf, uuidOf }) => {
      const client = createRedfishClient(settingsOf('node-1'), {});
      const system = await client.findSystem(never);
      await client.close();
      expect(system).toEqual({
        path: pathOf('node-1'),
        uuid: uuidOf('node-1'),
        serial: null,
        power: 'On',
        reset: {
          target: `${pathOf('node-1')}/Actions/ComputerSystem.Reset`,
          types: ['On', 'ForceOff', 'GracefulShutdown', 'GracefulRestart', 'ForceRestart', 'Nmi', 'ForceOn'],
        },
      });
    },
  );

  contract('finds it by its configured path, and reads its power without touching it', async ({ machines }) => {
    const system = { path: pathOf('node-2') };
    expect(await activities({ system }).observePower({ host: 'node-2' })).toMatchObject({
      host: 'node-2',
      power: 'On',
    });
    await machines.change('node-2', { power: 'Off' });
    expect(await activities({ system }).observePower({ host: 'node-2' })).toMatchObject({ power: 'Off' });
    expect((await stateOf('node-2')).resets).toEqual([]);
  });

  const strangers: [what: string, system: () => BmcSettings['system'], message: RegExp][] = [
    [
      'a path at which another machine stands',
      () => ({ path: pathOf('node-2'), uuid: subject().uuidOf('node-1') }),
      /is another machine: its UUID is/u,
    ],
    [
      'a path at which none stands',
      () => ({ path: '/redfish/v1/Systems/nowhere' }),
      /answered 404 to GET \/redfish\/v1\/Systems\/nowhere/u,
    ],
    [
      'a UUID that none has',
      () => ({ uuid: '00000000-0000-4000-8000-000000000000' }),
      /No machine of the BMC at \S+ has UUID/u,
    ],
  ];
  test.each(strangers)('%s: nothing is powered off', async (_, system, message) => {
    await subject().run(async () => {
      await expect(activities({ system: system() }).ensurePoweredOff(powerOff())).rejects.toMatchObject({
        type: 'SystemNotFound',
        nonRetryable: true,
        message: expect.stringMatching(message),
      });
      for (const host of ['node-1', 'node-2']) expect((await stateOf(host)).resets).toEqual([]);
    });
  });

  const unproved: [
    what: string,
    machine: Partial<MachineState>,
    request: Partial<EnsurePoweredOff>,
    type: string,
    message: RegExp,
  ][] = [
    [
      'takes the request and stays on',
      { behaviour: 'deaf' },
      { timeoutMs: 500 },
      'PowerStillOn',
      /PowerState On .* after it was asked to power off/u,
    ],
    [
      'refuses the request',
      { behaviour: 'refuses' },
      {},
      'PowerOffRefused',
      /answered 409 to POST .*ForceOff is not possible now/u,
    ],
    [
      'comes on again by itself',
      { behaviour: 'returns' },
      {},
      'PowerStillOn',
      /PowerState On .* after it had been read Off/u,
    ],
  ];
  test.each(unproved)('one that %s is not fenced', async (_, machine, request, type, message) => {
    await subject().run(async () => {
      await subject().machines.change('node-1', machine);
      await expect(activities().ensurePoweredOff(powerOff(request))).rejects.toMatchObject({
        type,
        message: expect.stringMatching(message),
      });
      expect((await stateOf('node-1')).resets).toEqual(['ForceOff']);
    });
  });

  contract('a wrong password is reported, and is not in the failure', async () => {
    const failure = await activities({ password: 'not-the-password' })
      .ensurePoweredOff(powerOff())
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      type: 'BmcCredentialRefused',
      nonRetryable: true,
      message: expect.stringMatching(/answered 401 to GET .*Incorrect username or password/u),
    });
    expect(JSON.stringify(failure)).not.toContain('not-the-password');
    expect((await stateOf('node-1')).resets).toEqual([]);
  });

  contract('a BMC of an unknown CA is sent nothing', async () => {
    await expect(activities({ ca: null }).ensurePoweredOff(powerOff())).rejects.toMatchObject({
      type: 'BmcUnreachable',
      message: expect.stringMatching(/certificate is not trusted/u),
    });
    expect((await stateOf('node-1')).resets).toEqual([]);
  });

  contract('a BMC without sessions is reported', async () => {
    await expect(activities({ auth: 'session' }).ensurePoweredOff(powerOff())).rejects.toMatchObject({
      type: 'AnswerMalformed',
      message: expect.stringMatching(/names no Sessions/u),
    });
  });

  contract('a BMC that hangs proves nothing, whatever was read before', async ({ machines, freeze, thaw }) => {
    await machines.change('node-1', { power: 'Off' });
    freeze();
    try {
      await expect(activities().ensurePoweredOff(powerOff())).rejects.toMatchObject({
        type: 'BmcUnreachable',
        nonRetryable: false,
        message: expect.stringMatching(/no (answer|connection) within 2 s/u),
      });
    } finally {
      thaw();
    }
    await expect(activities().ensurePoweredOff(powerOff())).resolves.toMatchObject({ asked: false });
  });

  contract('a cancel ends it', async ({ machines }) => {
    await machines.change('node-1', { behaviour: 'deaf' });
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const waiting = activities({}, controller.signal)
      .ensurePoweredOff(powerOff({ timeoutMs: 60_000 }))
      .catch((error: unknown) => error);
    await until('the request', waitMs, async () => (await stateOf('node-1')).resets.length > 0 || 'none');
    controller.abort(reason);
    expect(String(await waiting)).toMatch(/abort|cancelled/u);
  });

  contract('a BMC that died proves nothing; when it is back, the power is as it was', async ({ kill, restart }) => {
    await activities().ensurePoweredOff(powerOff());
    await kill();
    try {
      await expect(activities().ensurePoweredOff(powerOff())).rejects.toMatchObject({
        type: 'BmcUnreachable',
        message: expect.stringMatching(/connection was refused/u),
      });
    } finally {
      await restart();
    }
    expect(await activities().ensurePoweredOff(powerOff())).toMatchObject({ asked: false });
  });
}

import { type HttpTimeouts, transportFailure } from '../../../activities/lib/http.ts';
import {
  type Http,
  type HttpAnswer,
  type HttpOptions,
  type HttpRequest,
  verbOf,
} from '../../../activities/redfish/http.ts';
import type { BmcSettings } from '../../../activities/redfish/types.ts';
import type { MachineState, Machines } from '../../../lab/redfish/machines.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { observed } from '../../../runtime/telemetry/outside-calls.ts';
import type { VirtualClock } from '../../simulator/clock.ts';
import type { Network } from '../../simulator/network.ts';
import { type Service, createService } from '../service.ts';
import { within } from '../within.ts';

/** A BMC with the machines behind it, as sushy-tools' emulator is one. */
export interface Bmc {
  service: Service;
  username: string;
  password: string;
  /** PEM; what a client has to trust. */
  ca: string | null;
  /** What people do to the machines behind the BMC's back, as in the lab. */
  machines: Machines;
  /** By name; plain data, at once. */
  read(name: string): MachineState;
  /** The button: at once, whatever the machine's behaviour. */
  setPower(name: string, power: MachineState['power']): void;
}

export interface BmcOptions {
  clock: VirtualClock;
  username: string;
  password: string;
  ca: string | null;
}

type Machine = { -readonly [Key in keyof MachineState]: MachineState[Key] } & {
  cancel: () => void;
  onPower: (power: MachineState['power']) => void;
};

export interface BmcModel extends Bmc {
  /** @param onPower called whenever the machine goes on or off */
  add(name: string, uuid: string, onPower: (power: MachineState['power']) => void): void;
  /** What becomes of a request for power. */
  reset(uuid: string, resetType: string): 'taken' | 'refused' | 'unknown';
  byUuid(uuid: string): (MachineState & { name: string }) | null;
  uuids(): readonly string[];
}

const fresh = {
  power: 'On',
  behaviour: 'obeys',
  delaySeconds: 0.2,
  returnsAfterSeconds: 0.5,
  resets: [],
  powered: [],
} as const;

export function createBmc({ clock, ...login }: BmcOptions): BmcModel {
  const all = new Map<string, Machine>();
  const named = (name: string): Machine => {
    const machine = all.get(name);
    if (machine === undefined) throw new Error(`the BMC has no machine ${name}`);
    return machine;
  };
  const state = ({ cancel: _cancel, onPower: _onPower, ...machine }: Machine): MachineState => machine;
  const setPower = (name: string, power: MachineState['power']): void => {
    const machine = named(name);
    machine.cancel();
    if (machine.power === power) return;
    machine.power = power;
    machine.powered = [...machine.powered, { power, atMs: clock.now() }];
    machine.onPower(power);
  };
  const later = (name: string, power: MachineState['power'], seconds: number, then: () => void): void => {
    const machine = named(name);
    machine.cancel();
    machine.cancel = clock.schedule(() => {
      setPower(name, power);
      then();
    }, seconds * 1_000);
  };
  const byUuid = (uuid: string): (MachineState & { name: string }) | null => {
    const [name, machine] = [...all].find(([, one]) => one.uuid === uuid) ?? [];
    return name === undefined || machine === undefined ? null : { name, ...state(machine) };
  };
  return {
    service: createService(),
    ...login,
    machines: {
      all: () => Promise.resolve(Object.fromEntries([...all].map(([name, machine]) => [name, state(machine)]))),
      change(name, { power, ...rest }) {
        const machine = named(name);
        Object.assign(machine, rest);
        if (power !== undefined) setPower(name, power);
        return Promise.resolve(state(machine));
      },
    },
    add: (name, uuid, onPower) => void all.set(name, { uuid, ...fresh, onPower, cancel: () => undefined }),
    read: (name) => state(named(name)),
    setPower,
    byUuid,
    uuids: () => [...all.values()].map(({ uuid }) => uuid),
    reset(uuid, resetType) {
      const name = byUuid(uuid)?.name;
      if (name === undefined) return 'unknown';
      const machine = named(name);
      machine.resets = [...machine.resets, resetType];
      if (machine.behaviour === 'refuses') return 'refused';
      if (machine.behaviour === 'deaf') return 'taken';
      const power = resetType === 'ForceOff' || resetType === 'GracefulShutdown' ? 'Off' : 'On';
      const back = (): void => {
        if (power === 'Off' && machine.behaviour === 'returns')
          later(name, 'On', machine.returnsAfterSeconds, () => undefined);
      };
      later(name, power, machine.delaySeconds, back);
      return 'taken';
    },
  };
}

/** As the real client has them. */
const defaultTimeouts: HttpTimeouts = { connectMs: 4_000, headersMs: 10_000, bodyMs: 10_000 };

/** How the real client reaches a BMC. @param bmcAt null: no such name */
export function createFakeBmcHttp(
  { clock, network }: { clock: VirtualClock; network: Network },
  bmc: BmcModel | null,
  { url, ca }: Pick<BmcSettings, 'url' | 'ca'>,
  { observe, ...options }: HttpOptions,
): Http {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const send = (request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> => {
    const { method, path } = request;
    const fault = (code: string): Error => {
      const { words } = transportFailure(
        Object.assign(new Error(code), { code }),
        timeouts,
        'the CA given for this BMC',
      );
      return droverFailure('BmcUnreachable', `The BMC at ${url}: ${words} (${method} ${path})`, {
        details: { method, path },
      });
    };
    const effect = async (): Promise<HttpAnswer> => {
      if (bmc === null) throw fault('ENOTFOUND');
      if (bmc.service.state === 'down') throw fault('ECONNREFUSED');
      if (bmc.ca !== ca) throw fault('DEPTH_ZERO_SELF_SIGNED_CERT');
      await bmc.service.serving(() => fault('UND_ERR_SOCKET'));
      return answerOf(bmc, request);
    };
    return within(
      clock,
      timeouts.headersMs,
      () => fault('UND_ERR_HEADERS_TIMEOUT'),
      signal,
      (bounded) =>
        network.call({ system: 'redfish', verb: verbOf(method, path) }, effect, bounded, () => fault('UND_ERR_SOCKET')),
    );
  };
  return {
    send: (request, signal) =>
      observed(observe, { system: 'redfish', verb: verbOf(request.method, request.path) }, signal, () =>
        send(request, signal),
      ),
    close: () => Promise.resolve(),
  };
}

const answer = (status: number, body: unknown): HttpAnswer => ({
  status,
  text: body === null ? '' : JSON.stringify(body),
  token: null,
  location: null,
  requestId: '',
});
const refusal = (status: number, message: string): HttpAnswer =>
  answer(status, {
    error: {
      code: 'Base.1.0.GeneralError',
      message,
      '@Message.ExtendedInfo': [
        { '@odata.type': '/redfish/v1/$metadata#Message.1.0.0.Message', MessageId: 'Base.1.0.GeneralError' },
      ],
    },
  });

const systemsPath = '/redfish/v1/Systems';

function answerOf(bmc: BmcModel, { method, path, headers, body }: HttpRequest): HttpAnswer {
  // The root is read without a credential.
  if (path === '/redfish/v1/') return answer(200, rootAnswer);
  if (headers['authorization'] !== `Basic ${Buffer.from(`${bmc.username}:${bmc.password}`).toString('base64')}`)
    return refusal(401, 'Incorrect username or password');
  if (path === systemsPath)
    return answer(200, {
      Name: 'Computer System Collection',
      'Members@odata.count': bmc.uuids().length,
      Members: bmc.uuids().map((uuid) => ({ '@odata.id': `${systemsPath}/${uuid}` })),
    });
  const [uuid = '', ...action] = path.slice(systemsPath.length + 1).split('/');
  const machine = path.startsWith(`${systemsPath}/`) ? bmc.byUuid(uuid) : null;
  if (machine === null) return refusal(404, `Fake system ${uuid} was not found`);
  if (method === 'GET' && action.length === 0) return answer(200, systemAnswer(machine));
  if (method === 'POST' && action.join('/') === 'Actions/ComputerSystem.Reset') {
    const { ResetType: resetType } = body as { ResetType: string };
    return bmc.reset(uuid, resetType) === 'refused'
      ? refusal(409, `${resetType} is not possible now`)
      : answer(204, null);
  }
  return refusal(404, 'Not Found');
}

/** sushy-tools has no sessions. */
const rootAnswer = {
  '@odata.type': '#ServiceRoot.v1_5_0.ServiceRoot',
  Id: 'RedvirtService',
  Name: 'Redvirt Service',
  RedfishVersion: '1.5.0',
  Systems: { '@odata.id': systemsPath },
  '@odata.id': '/redfish/v1/',
};

const systemAnswer = ({ uuid, name, power }: MachineState & { name: string }): object => ({
  '@odata.type': '#ComputerSystem.v1_1_0.ComputerSystem',
  Id: uuid,
  Name: name,
  UUID: uuid,
  Status: { State: 'Enabled', Health: 'OK', HealthRollUp: 'OK' },
  PowerState: power,
  Actions: {
    '#ComputerSystem.Reset': {
      target: `${systemsPath}/${uuid}/Actions/ComputerSystem.Reset`,
      'ResetType@Redfish.AllowableValues': [
        'On',
        'ForceOff',
        'GracefulShutdown',
        'GracefulRestart',
        'ForceRestart',
        'Nmi',
        'ForceOn',
      ],
    },
  },
  '@odata.id': `${systemsPath}/${uuid}`,
});

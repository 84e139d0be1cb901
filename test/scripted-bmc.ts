import type { BmcSettings } from '../activities/redfish/types.ts';
import { startScriptedService, type Received, type Reply, type ScriptedService } from './scripted-service.ts';

export const systemPath = '/redfish/v1/Systems/1';
export const systemUuid = '0f2b1c3d-4e5f-6071-8293-a4b5c6d7e8f9';

/** A machine as a BMC describes it, with what vendors add. */
export const systemAnswer = (change: object = {}): object => ({
  '@odata.id': systemPath,
  '@odata.type': '#ComputerSystem.v1_13_0.ComputerSystem',
  Id: '1',
  Name: 'System',
  UUID: systemUuid.toUpperCase(),
  SerialNumber: 'SN-1 ',
  PowerState: 'On',
  Actions: {
    '#ComputerSystem.Reset': {
      target: `${systemPath}/Actions/ComputerSystem.Reset`,
      'ResetType@Redfish.AllowableValues': ['On', 'ForceOff', 'GracefulShutdown'],
    },
    Oem: {},
  },
  Status: { State: 'Enabled', Health: 'OK' },
  ...change,
});

export const rootAnswer = {
  '@odata.id': '/redfish/v1/',
  RedfishVersion: '1.5.0',
  Systems: { '@odata.id': '/redfish/v1/Systems' },
  Links: { Sessions: { '@odata.id': '/redfish/v1/SessionService/Sessions' } },
};
export const systemsAnswer = { Members: [{ '@odata.id': systemPath }], 'Members@odata.count': 1 };
export const refusal = (message: string, ...extended: string[]): object => ({
  error: { code: 'Base.1.0.GeneralError', message, '@Message.ExtendedInfo': extended.map((Message) => ({ Message })) },
});

/**
 * A BMC that answers by the script, and where that says nothing as one does whose one machine is `power`. Only for
 * answers that the real emulator cannot be brought to give.
 */
export async function startScriptedBmc(
  tls: { key: string; cert: string },
  script: (request: Received, count: number) => Reply | undefined = () => undefined,
) {
  const machine = { power: 'On' };
  const service: ScriptedService = await startScriptedService(
    (request) => script(request, service.received.length) ?? usual(machine, request),
    tls,
  );
  const settings = (change: Partial<BmcSettings> = {}): BmcSettings => ({
    url: service.url,
    username: 'drover',
    password: 'the-bmc-password',
    auth: 'basic',
    ca: tls.cert,
    system: { uuid: systemUuid },
    ...change,
  });
  const resets = () =>
    service.received.filter(({ method, path }) => method === 'POST' && path.endsWith('ComputerSystem.Reset'));
  return { ...service, machine, settings, resets };
}

function usual(machine: { power: string }, { method, path, body }: Received): Reply {
  if (path === '/redfish/v1/') return { json: rootAnswer };
  if (path === '/redfish/v1/Systems') return { json: systemsAnswer };
  if (path === systemPath) return { json: systemAnswer({ PowerState: machine.power }) };
  if (method === 'POST' && path === `${systemPath}/Actions/ComputerSystem.Reset`) {
    if ((body as { ResetType?: string }).ResetType === 'ForceOff') machine.power = 'Off';
    return { status: 204, text: '' };
  }
  return { status: 404, json: refusal('not here') };
}

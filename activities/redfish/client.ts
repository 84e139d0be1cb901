import { type PowerState, powerStates } from '../../contracts/node-failure/power.ts';
import type { Clock } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { registerSecret } from '../../runtime/redaction.ts';
import { type Bmc, pathOf, rootPath, talkTo } from './bmc.ts';
import { type Http, type HttpOptions, createHttp } from './http.ts';
import type { BmcSettings, ComputerSystem, RedfishClient, SystemSelector } from './types.ts';
import { type WireSystem, collection, computerSystem, serviceRoot } from './wire.ts';

/** More machines than this are not behind one BMC. */
const mostSystems = 256;

export interface ClientOptions extends HttpOptions {
  clock: Clock;
  /** What the answers come by; default: a connection of its own. */
  http?: Http;
}

/** Nothing is sent before the first request. @throws InvalidConfiguration */
export function createRedfishClient(settings: BmcSettings, options: ClientOptions): RedfishClient {
  check(settings);
  registerSecret(settings.password);
  const http = options.http ?? createHttp(settings.url, settings.ca, options);
  const bmc = talkTo(http, settings, options.clock);
  const read = async (path: string, signal: AbortSignal): Promise<ComputerSystem> =>
    toSystem(path, await bmc.get('system', path, computerSystem, signal));
  const readMeant = async (path: string, signal: AbortSignal): Promise<ComputerSystem> => {
    const system = await read(path, signal);
    const wrong = mismatch(settings.system, system);
    if (wrong !== null)
      throw droverFailure('SystemNotFound', `${path} of the BMC at ${settings.url} is another machine: ${wrong}`);
    return system;
  };
  return {
    async findSystem(signal) {
      if (settings.system.path !== undefined)
        return readMeant(bmc.follow(settings.system.path, 'its configured path'), signal);
      const systems: ComputerSystem[] = [];
      for (const path of await listSystems(bmc, signal)) systems.push(await read(path, signal));
      const [found, ...others] = systems.filter((system) => mismatch(settings.system, system) === null);
      const { uuid, serial } = settings.system;
      const wanted = [
        ...(uuid === undefined ? [] : [`UUID ${uuid}`]),
        ...(serial === undefined ? [] : [`serial number ${serial}`]),
      ].join(' and ');
      const listed = systems
        .map((system) => `${system.path} (${system.uuid ?? 'no UUID'}, ${system.serial ?? 'no serial number'})`)
        .join(', ');
      if (found === undefined)
        throw droverFailure(
          'SystemNotFound',
          `No machine of the BMC at ${settings.url} has ${wanted}; it has ${listed || 'none'}`,
        );
      if (others.length > 0)
        throw droverFailure(
          'SystemNotFound',
          `${1 + others.length} machines of the BMC at ${settings.url} have ${wanted}: ${listed}`,
        );
      return found;
    },
    readSystem: readMeant,
    async forceOff({ path, reset }, signal) {
      const types = reset?.types;
      if (reset === null || (types !== null && types !== undefined && !types.includes('ForceOff'))) {
        const offered =
          types === null || types === undefined ? 'no reset at all' : `only ${types.join(', ') || 'nothing'}`;
        throw droverFailure(
          'PowerOffRefused',
          `The BMC at ${settings.url} does not offer to power off ${path}, ${offered}`,
        );
      }
      await bmc.post('reset', bmc.follow(reset.target, 'the target of its reset'), { ResetType: 'ForceOff' }, signal);
    },
    close: async () => {
      await bmc.end();
      await http.close();
    },
  };
}

function check({ url, system }: BmcSettings): void {
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw droverFailure('InvalidConfiguration', `The address of a BMC must be an https URL, not ${url}`);
  if (Object.values(system).every((value) => value === undefined || value === ''))
    throw droverFailure(
      'InvalidConfiguration',
      `Which machine of the BMC at ${url} is meant? Give its path, UUID or serial number`,
    );
  if (system.path !== undefined && pathOf(system.path, url) === null)
    throw droverFailure(
      'InvalidConfiguration',
      `${system.path} is no path of a machine of the BMC at ${url}; it begins with ${rootPath}Systems/`,
    );
}

async function listSystems(bmc: Bmc, signal: AbortSignal): Promise<string[]> {
  const { Systems: systems } = await bmc.get('read', rootPath, serviceRoot, signal);
  if (systems === undefined) throw bmc.malformed(rootPath, 'names no Systems');
  const paths = new Set<string>();
  for (let page: string | undefined = systems['@odata.id']; page !== undefined;) {
    const at = bmc.follow(page, 'a page of its systems');
    const { Members: members, 'Members@odata.nextLink': next } = await bmc.get('read', at, collection, signal);
    const before = paths.size;
    for (const { '@odata.id': member } of members) paths.add(bmc.follow(member, 'one of its systems'));
    if (paths.size > mostSystems) throw bmc.malformed(at, `names more than ${mostSystems} systems`);
    // A page that brings nothing new, and leads on, could lead on for ever.
    if (next !== undefined && paths.size === before) throw bmc.malformed(at, 'leads on without an end');
    page = next;
  }
  return [...paths];
}

function toSystem(path: string, found: WireSystem): ComputerSystem {
  const reset = found.Actions?.['#ComputerSystem.Reset'];
  return {
    path,
    uuid: found.UUID ?? null,
    serial: found.SerialNumber?.trim() ?? null,
    power: powerState(found.PowerState),
    reset:
      reset === undefined ? null : { target: reset.target, types: reset['ResetType@Redfish.AllowableValues'] ?? null },
  };
}

/** Whatever is not one of the schema's states says nothing. */
const powerState = (reported: string | null | undefined): PowerState =>
  powerStates.find((state) => state === reported) ?? 'Unknown';

/** Why the machine is not the one that is meant; null where it is. Pure. */
function mismatch({ uuid, serial }: SystemSelector, system: ComputerSystem): string | null {
  if (uuid !== undefined && uuid.toLowerCase() !== system.uuid?.toLowerCase())
    return `its UUID is ${system.uuid ?? 'not reported'}, not ${uuid}`;
  if (serial !== undefined && serial !== system.serial)
    return `its serial number is ${system.serial ?? 'not reported'}, not ${serial}`;
  return null;
}

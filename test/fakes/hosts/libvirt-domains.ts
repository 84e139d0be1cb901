import {
  domainStates,
  type Domain,
  type DomainEvent,
  type DomainState,
  type IoErrorAction,
  type StopDetail,
  type SuspendDetail,
  type WatchdogAction,
} from '../../../activities/libvirt/types.ts';
import { uuidFrom } from '../uuid.ts';
import type { Handlers } from './libvirt-handlers.ts';
import { LibvirtRefused } from './libvirt-refusal.ts';

/** VIR_DOMAIN_START_AUTODESTROY. */
const autodestroyFlag = 2;

/** What Nova's agent, owners and QEMUs do to the guests of a host. No call of drover's. */
export interface Guests {
  /** Defines a domain and starts it, as Nova's agent does. */
  start(guest: { name: string; uuid?: string }): Domain;
  /**
   * It ends and stays defined, unless it is transient: `shutdown` by its owner, `destroyed` by Nova, `migrated` away,
   * `failed` where QEMU was killed.
   */
  stop(name: string, detail: StopDetail): void;
  /** Stopped or not, the host does not know it any more. */
  remove(name: string): void;
  /** The guest's kernel panicked, and its QEMU is kept for examination. */
  crash(name: string): void;
  pause(name: string, detail: SuspendDetail): void;
  resume(name: string): void;
  reboot(name: string): void;
  /** The guest's watchdog fired; what its action does, happens. */
  fireWatchdog(name: string, action: WatchdogAction): void;
  /** QEMU cannot write to a disk; `pause` stops the guest. */
  failDisk(name: string, error: { action: IoErrorAction; device?: string; reason?: string }): void;
  /** Plain data. */
  list(): readonly { name: string; uuid: string; state: DomainState; isPersistent: boolean }[];
}

interface Held {
  name: string;
  uuid: string;
  id: number;
  state: DomainState;
  isPersistent: boolean;
  /** The connection that it ends with. */
  session: object | null;
}

export interface DomainsOptions {
  random: () => number;
  /** What a domain's type may be. */
  traits: { domainTypes: readonly string[] };
  /** Called for every event, with the domain's id. */
  onEvent: (event: DomainEvent, id: number) => void;
}

export interface Domains {
  guests: Guests;
  handlers: Pick<
    Handlers,
    | 'connectListAllDomains'
    | 'domainGetState'
    | 'domainCreateXml'
    | 'domainDestroyFlags'
    | 'domainUndefineFlags'
    | 'domainReset'
  >;
  /** A connection is gone. */
  endSession(session: object): void;
  /** The machine has lost its power. */
  losePower(): void;
}

export function createDomains({ random, traits, onEvent }: DomainsOptions): Domains {
  const held = new Map<string, Held>();
  let lastId = 0;

  const say = ({ uuid, name, id }: Held, event: EventBody): void => onEvent({ domain: { uuid, name }, ...event }, id);
  const running = (one: Held): boolean => one.state !== 'shut-off';
  const end = (one: Held, detail: StopDetail): void => {
    if (!running(one)) return;
    // QEMU is asked to end first, and reports it.
    if (detail === 'destroyed' || detail === 'shutdown') say(one, { type: 'shutting-down' });
    say(one, { type: 'stopped', detail });
    Object.assign(one, { state: 'shut-off', id: -1 });
    if (!one.isPersistent) held.delete(one.uuid);
  };
  const begin = (one: Held): void => {
    Object.assign(one, { state: 'running', id: (lastId += 1) });
    // QEMU's driver lets the guest go on before it says that it started.
    say(one, { type: 'resumed' });
    say(one, { type: 'started' });
  };
  const named = (name: string): Held => {
    const one = [...held.values()].find((other) => other.name === name);
    if (one === undefined) throw new Error(`the host has no domain ${name}`);
    return one;
  };
  const asked = ({ uuid, name }: Domain): Held => {
    const one = held.get(uuid);
    if (one === undefined)
      throw new LibvirtRefused('noDomain', `Domain not found: no domain with matching uuid '${uuid}' (${name})`);
    return one;
  };
  const needsRunning = (one: Held): Held => {
    if (!running(one))
      throw new LibvirtRefused('operationInvalid', 'Requested operation is not valid: domain is not running');
    return one;
  };
  const enter = (state: DomainState, one: Held): void => void (one.state = state);
  const wire = ({ uuid, name, id }: Held) => ({ uuid, name, id });

  return {
    guests: {
      start({ name, uuid = uuidFrom(random) }) {
        const before = held.get(uuid);
        const one: Held = before ?? { name, uuid, id: -1, state: 'shut-off', isPersistent: true, session: null };
        held.set(uuid, one);
        if (before === undefined) say(one, { type: 'defined' });
        if (!running(one)) begin(one);
        return { uuid, name };
      },
      stop: (name, detail) => end(named(name), detail),
      remove(name) {
        const one = named(name);
        end(one, 'destroyed');
        if (one.isPersistent) say(one, { type: 'undefined' });
        held.delete(one.uuid);
      },
      crash(name) {
        const one = named(name);
        enter('crashed', one);
        say(one, { type: 'crashed' });
      },
      pause(name, detail) {
        const one = named(name);
        enter('paused', one);
        say(one, { type: 'suspended', detail });
      },
      resume(name) {
        const one = named(name);
        enter('running', one);
        say(one, { type: 'resumed' });
      },
      reboot: (name) => say(named(name), { type: 'rebooted' }),
      fireWatchdog(name, action) {
        const one = named(name);
        say(one, { type: 'watchdog', action });
        if (action === 'pause') {
          enter('paused', one);
          say(one, { type: 'suspended', detail: 'watchdog' });
        } else if (action === 'reset') say(one, { type: 'rebooted' });
        else if (action === 'power-off') end(one, 'destroyed');
        else if (action === 'shutdown') end(one, 'shutdown');
      },
      failDisk(name, { action, device = 'virtio-disk0', reason = 'enospc' }) {
        const one = named(name);
        say(one, { type: 'io-error', action, device, sourcePath: `vms/${one.uuid}_disk`, reason });
        if (action !== 'pause') return;
        enter('paused', one);
        say(one, { type: 'suspended', detail: 'io-error' });
      },
      list: () =>
        [...held.values()].map(({ name, uuid, state, isPersistent }) => ({ name, uuid, state, isPersistent })),
    },

    handlers: {
      connectListAllDomains: () => ({ domains: [...held.values()].map(wire), count: held.size }),
      domainGetState: ({ domain }) => ({ state: domainStates.indexOf(asked(domain).state), reason: 1 }),
      domainCreateXml({ xml, flags }, session) {
        const { type, name, uuid = uuidFrom(random) } = readDomain(xml);
        if (!traits.domainTypes.includes(type))
          throw new LibvirtRefused(
            'invalidArgument',
            `invalid argument: could not get preferred machine for /usr/bin/qemu-system-x86_64 type=${type}`,
          );
        const other = [...held.values()].find((one) => one.name === name || one.uuid === uuid);
        if (other !== undefined) throw alreadyThere(other, { name, uuid });
        const one: Held = {
          name,
          uuid,
          id: -1,
          state: 'shut-off',
          isPersistent: false,
          session: (flags & autodestroyFlag) === 0 ? null : session,
        };
        held.set(uuid, one);
        begin(one);
        return { domain: wire(one) };
      },
      domainDestroyFlags({ domain }) {
        end(needsRunning(asked(domain)), 'destroyed');
        return {};
      },
      domainUndefineFlags({ domain }) {
        const one = asked(domain);
        if (!one.isPersistent)
          throw new LibvirtRefused(
            'operationInvalid',
            'Requested operation is not valid: cannot undefine transient domain',
          );
        say(one, { type: 'undefined' });
        one.isPersistent = false;
        if (!running(one)) held.delete(one.uuid);
        return {};
      },
      domainReset({ domain }) {
        say(needsRunning(asked(domain)), { type: 'rebooted' });
        return {};
      },
    },

    endSession(session) {
      for (const one of held.values()) if (one.session === session) end(one, 'destroyed');
    },
    losePower() {
      for (const one of held.values()) {
        Object.assign(one, { state: 'shut-off', id: -1 });
        if (!one.isPersistent) held.delete(one.uuid);
      }
    },
  };
}

/** Why a domain cannot be made beside another of its name or UUID. */
function alreadyThere(other: Domain, { name, uuid }: Domain): LibvirtRefused {
  if (other.name === name && other.uuid === uuid)
    return new LibvirtRefused(
      'operationInvalid',
      `Requested operation is not valid: domain '${name}' is already active`,
    );
  return new LibvirtRefused(
    'operationFailed',
    `operation failed: domain '${other.name}' ${other.name === name ? 'already exists' : 'is already defined'} with uuid ${other.uuid}`,
  );
}

/** An event without its domain. */
type EventBody = DomainEvent extends infer One ? (One extends DomainEvent ? Omit<One, 'domain'> : never) : never;

function readDomain(xml: string): { type: string; name: string; uuid?: string } {
  const [, type] = /<domain\b[^>]*\btype='([^']+)'/u.exec(xml) ?? [];
  const [, name] = /<name>([^<]+)<\/name>/u.exec(xml) ?? [];
  const [, uuid] = /<uuid>([^<]+)<\/uuid>/u.exec(xml) ?? [];
  if (type === undefined) throw new LibvirtRefused('internal', 'internal error: missing domain type attribute');
  if (name === undefined) throw new LibvirtRefused('noName', 'missing name information');
  return { type, name, ...(uuid === undefined ? {} : { uuid }) };
}

import type { LibvirtRefusal } from '../../../activities/libvirt/faults.ts';
import type { LibvirtAccess } from '../../../activities/libvirt/types.ts';
import type { ProcedureArgs, ProcedureName, ProcedureResult } from '../../../activities/libvirt/wire/procedures.ts';
import { createService, type Service } from '../service.ts';
import { createDomains, type Guests } from './libvirt-domains.ts';
import { encodeEvent } from './libvirt-events.ts';
import { LibvirtRefused } from './libvirt-refusal.ts';
import type { Handler, Handlers, Session } from './libvirt-handlers.ts';
import { createStorage, type Storage, type StorageOptions } from './libvirt-storage.ts';

/** What a daemon is; may be changed at any time. */
export interface LibvirtTraits {
  /** Of the daemon, `major.minor.release`. */
  version: string;
  /** Of QEMU, likewise. */
  hypervisorVersion: string;
  driver: 'QEMU' | 'CH';
  domainTypes: readonly string[];
  /** null: it asks for none. */
  credential: LibvirtAccess['credential'];
}

export interface LibvirtDaemon {
  service: Service;
  traits: LibvirtTraits;
  guests: Guests;
  storage: Storage;
  open(session: Session): void;
  close(session: Session): void;
  /** What the daemon answers, which may be a refusal. */
  answer<Name extends ProcedureName>(
    session: Session,
    name: Name,
    args: ProcedureArgs<Name>,
  ): Promise<{ result: ProcedureResult<Name> } | { refusal: LibvirtRefusal }>;
  /** Its machine has no power any more: the daemon is down, and all guests are. */
  losePower(): void;
  /** Connections that are open, and those of them that get events. */
  readonly sessions: number;
  readonly listeners: number;
}

export interface LibvirtDaemonOptions extends StorageOptions {
  hostname: string;
  random: () => number;
  traits?: Partial<LibvirtTraits>;
  /** Called for every event of a domain. */
  onEvent: Parameters<typeof createDomains>[0]['onEvent'];
}

/** virAuth types: none, SASL. */
const authTypes = { none: 0, sasl: 1 } as const;

/** Debian 12's. */
const defaultTraits: LibvirtTraits = {
  version: '9.0.0',
  hypervisorVersion: '7.2.22',
  driver: 'QEMU',
  domainTypes: ['qemu', 'kvm'],
  credential: null,
};

/** libvirtd with QEMU's driver, as it answers calls of the remote program. */
export function createLibvirtDaemon({
  hostname,
  random,
  listImages,
  traits: given = {},
  onEvent,
}: LibvirtDaemonOptions): LibvirtDaemon {
  const service = createService();
  const traits = { ...defaultTraits, ...given };
  const sessions = new Set<Session>();

  /** A client that was killed has closed its connection: the kernel does so. */
  const reap = (): void => {
    for (const session of sessions) if (!session.isAlive()) close(session);
  };
  const domains = createDomains({
    random,
    traits,
    onEvent(event, id) {
      const message = encodeEvent(event, id);
      for (const session of sessions) if (session.isAlive() && session.kinds.has(message.kind)) session.send(message);
      onEvent(event, id);
    },
  });
  const storage = createStorage({ listImages });
  const close = (session: Session): void => {
    if (sessions.delete(session)) domains.endSession(session);
  };
  const drivers: Record<string, (path: string) => void> = {
    [traits.driver.toLowerCase()]: (path) => {
      if (path !== '/system')
        throw new LibvirtRefused(
          'internal',
          `internal error: unexpected ${traits.driver} URI path '${path}', try ${traits.driver.toLowerCase()}:///system`,
        );
    },
  };

  const handlers: Handlers = {
    authList: (_, { credential }) => ({
      types: [traits.credential === null || matches(credential, traits.credential) ? authTypes.none : authTypes.sasl],
    }),
    authSaslInit: () => ({ mechanisms: 'SCRAM-SHA-256' }),
    authSaslStart: () => {
      throw new LibvirtRefused('authFailed', 'authentication failed: authentication failed');
    },
    authSaslStep: () => {
      throw new LibvirtRefused('authFailed', 'authentication failed: authentication failed');
    },
    connectSupportsFeature: () => ({ supported: 1 }),
    connectOpen({ name }, session) {
      const [, driver = '', path = ''] = /^([a-z]+):\/\/(.*)$/u.exec(name ?? '') ?? [];
      const opens = drivers[driver];
      if (opens === undefined)
        throw new LibvirtRefused('noConnect', `no connection driver available for ${name ?? ''}`);
      opens(path);
      session.uri = name;
      return {};
    },
    connectClose: () => ({}),
    connectGetUri: (_, { uri }) => ({ uri: uri ?? '' }),
    connectGetType: () => ({ type: traits.driver }),
    connectGetVersion: () => ({ version: numberOf(traits.hypervisorVersion) }),
    connectGetLibVersion: () => ({ version: numberOf(traits.version) }),
    connectGetHostname: () => ({ hostname }),
    connectGetCapabilities: () => ({ xml: capabilitiesXml(traits.domainTypes) }),
    connectDomainEventCallbackRegisterAny({ eventId }, { kinds }) {
      kinds.add(eventId);
      return { callbackId: kinds.size - 1 };
    },
    ...domains.handlers,
    ...storage.handlers,
  };

  service.onChange((state) => {
    if (state !== 'down') return;
    const cut = [...sessions];
    sessions.clear();
    // Guests live on without their daemon, but for those that end with a connection.
    for (const session of cut) {
      session.cut();
      domains.endSession(session);
    }
    storage.forget();
  });

  return {
    service,
    traits,
    guests: {
      ...domains.guests,
      list: () => {
        reap();
        return domains.guests.list();
      },
    },
    storage,
    get sessions() {
      reap();
      return sessions.size;
    },
    get listeners() {
      reap();
      return [...sessions].filter(({ kinds }) => kinds.size > 0).length;
    },
    open: (session) => void sessions.add(session),
    close,
    async answer(session, name, args) {
      reap();
      try {
        return { result: await (handlers[name] as Handler<typeof name>)(args, session) };
      } catch (error) {
        if (!(error instanceof LibvirtRefused)) throw error;
        return { refusal: { code: error.code, words: error.message } };
      }
    },
    losePower() {
      domains.losePower();
      service.kill();
    },
  };
}

const matches = (given: LibvirtAccess['credential'], wanted: NonNullable<LibvirtAccess['credential']>): boolean =>
  given?.user === wanted.user && given.password === wanted.password;

/** libvirt's way to put a version into a number. */
function numberOf(version: string): bigint {
  const [major = 0n, minor = 0n, release = 0n] = version.split('.').map(BigInt);
  return major * 1_000_000n + minor * 1_000n + release;
}

const capabilitiesXml = (types: readonly string[]): string =>
  `<capabilities><host><cpu><arch>x86_64</arch></cpu></host><guest><os_type>hvm</os_type><arch name='x86_64'>${types.map((type) => `<domain type='${type}'/>`).join('')}</arch></guest></capabilities>`;

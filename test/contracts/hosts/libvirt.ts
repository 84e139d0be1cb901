import type { LibvirtSettings } from '../../../activities/libvirt/access.ts';
import { checkLibvirt, domainType } from '../../../activities/libvirt/check-libvirt.ts';
import type { Domain, DomainEvent, LibvirtConnection } from '../../../activities/libvirt/types.ts';
import { startGuestWatch } from '../../../activities/libvirt/watch-guests.ts';
import { newCheckName, ownUuid, tinyDomainXml } from '../../../activities/libvirt/xml.ts';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { until } from '../../flows/until.ts';
import {
  type LibvirtSubject,
  connect,
  namesOn,
  openHost,
  settingsOf,
  testTimeoutMs,
  withPassword,
} from './libvirt-subject.ts';
import { bodyOf, never } from './subject.ts';

const deadlineMs = 60_000;
const enough = new Error('enough');

/**
 * What drover expects of libvirt's connections, domains and events.
 * @param subject of the test that runs; it may be the same for all
 */
export function libvirtContract(subject: () => LibvirtSubject): void {
  const contract = (name: string, body: (libvirt: LibvirtSubject) => Promise<unknown>): void =>
    test(name, bodyOf(subject, body), testTimeoutMs);
  const overTls = (changes: Partial<LibvirtSettings> = {}): LibvirtSettings =>
    settingsOf(subject(), { connectUri: subject().tlsUri, ...changes });
  const check = (host: string, of: LibvirtSettings) => checkLibvirt(subject(), subject().addressOf(host), of, never);
  const startVm = async (libvirt: LibvirtConnection): Promise<Domain> => {
    const { domainTypes } = await libvirt.capabilities(never);
    return libvirt.createDomain(
      tinyDomainXml(newCheckName(subject().random), domainType(libvirt.uri, domainTypes), null),
      { autodestroy: true },
      never,
    );
  };

  contract('a VM from its start to its end, with the events that say so', async () => {
    const libvirt = await connect(subject());
    const stop = new AbortController();
    const events = await libvirt.domainEvents(stop.signal);
    const domain = await startVm(libvirt);
    expect(await libvirt.domainState(domain, never)).toBe('running');
    expect(await libvirt.domains(never)).toContainEqual({ ...domain, state: 'running' });
    await libvirt.resetDomain(domain, never);
    await libvirt.removeDomain(domain, never);
    await libvirt.removeDomain(domain, never);
    await expect(libvirt.domainState(domain, never)).rejects.toMatchObject({
      type: 'DomainNotFound',
      message: expect.stringContaining(
        `Domain not found: no domain with matching uuid '${domain.uuid}' (${domain.name})`,
      ),
    });
    await expect(libvirt.resetDomain(domain, never)).rejects.toMatchObject({ type: 'DomainNotFound' });
    const seenEvents = await untilStopped(events, domain);
    // QEMU may reset more than once, and may be killed before it says that it shuts down.
    const said = seenEvents.filter(({ type }) => type !== 'shutting-down');
    expect(said.filter(({ type }, index) => type !== 'rebooted' || said[index - 1]?.type !== 'rebooted')).toEqual([
      { domain, type: 'resumed' },
      { domain, type: 'started' },
      { domain, type: 'rebooted' },
      { domain, type: 'stopped', detail: 'destroyed' },
    ]);
    stop.abort();
    await libvirt.close();
  });

  contract('a name or a UUID that is there already is refused, and a description that is none', async () => {
    const libvirt = await connect(subject());
    const { name, uuid } = await startVm(libvirt);
    const type = domainType(libvirt.uri, (await libvirt.capabilities(never)).domainTypes);
    const xml = tinyDomainXml(name, type, null);
    const refused: [xml: string, type: ErrorCode, message: string][] = [
      [xml, 'HypervisorFailed', `Requested operation is not valid: domain '${name}' is already active`],
      [
        xml.replace(uuid, ownUuid('another')),
        'HypervisorFailed',
        `operation failed: domain '${name}' already exists with uuid ${uuid}`,
      ],
      [
        xml.replace(`<name>${name}`, '<name>another'),
        'HypervisorFailed',
        `operation failed: domain '${name}' is already defined with uuid ${uuid}`,
      ],
      [xml.replace(/type='\w+'/u, ''), 'HypervisorFailed', 'internal error: missing domain type attribute'],
      [xml.replace(/<name>.*<\/name>/u, ''), 'LibvirtRefused', 'missing name information'],
    ];
    for (const [of, code, message] of refused)
      await expect(libvirt.createDomain(of, { autodestroy: true }, never)).rejects.toMatchObject({
        type: code,
        message: expect.stringContaining(`answered domainCreateXml: ${message}.`),
      });
    expect(await namesOn(subject(), openHost)).toEqual([name]);
    await libvirt.close();
    await until(
      'the VM to be gone with its connection',
      deadlineMs,
      async () => !(await namesOn(subject(), openHost)).includes(name) || 'it is there',
    );
  });

  contract('QEMU that is killed is reported as a failure of the hypervisor', async ({ killQemu }) => {
    const libvirt = await connect(subject());
    const events = await libvirt.domainEvents(never);
    const domain = await startVm(libvirt);
    await killQemu(domain.name);
    expect(await untilStopped(events, domain)).toEqual([
      { domain, type: 'resumed' },
      { domain, type: 'started' },
      { domain, type: 'stopped', detail: 'failed' },
    ]);
    await libvirt.close();
  });

  contract(
    'the watch of guests reports one that stopped and should run, and QEMUs that are killed',
    async ({ killQemu, clock, random }) => {
      const libvirt = await connect(subject());
      const notices: string[] = [];
      const wanted = new Set<string>();
      const watch = startGuestWatch({
        open: () => connect(subject()),
        shouldRun: ({ uuid }) => Promise.resolve(wanted.has(uuid)),
        notice: ({ verdict, domain }) => notices.push(`${verdict} ${domain.name}`),
        limits: { windowMs: 600_000, ioErrors: 3, failingGuests: 3 },
        verifyAfterMs: 200,
        clock,
        random,
      });
      try {
        await until('the connection', deadlineMs, () => watch.isConnected || 'not yet');
        const [ordered, unasked, first, second] = [
          await startVm(libvirt),
          await startVm(libvirt),
          await startVm(libvirt),
          await startVm(libvirt),
        ];
        wanted.add(unasked.uuid);
        await libvirt.removeDomain(ordered, never);
        await libvirt.removeDomain(unasked, never);
        await until(
          'the one that should run',
          deadlineMs,
          () => notices.includes(`evict ${unasked.name}`) || 'not yet',
        );
        await killQemu(first.name);
        await until('the first that is killed', deadlineMs, () => notices.includes(`evict ${first.name}`) || 'not yet');
        expect(watch.judge()).toBeNull();
        await killQemu(second.name);
        await until('three to be the host’s trouble', deadlineMs, () => watch.judge() !== null || 'not yet');
        expect(watch.judge()).toContain('3 guests failed');
        expect(notices).not.toContain(`evict ${ordered.name}`);
      } finally {
        await watch.stop();
      }
      expect(watch.isConnected).toBe(false);
      await libvirt.close();
    },
  );

  contract('a VM is gone when the process that started it is killed', async ({ startVmElsewhere }) => {
    const { name, killProcess } = await startVmElsewhere();
    expect(await namesOn(subject(), openHost)).toContain(name);
    killProcess();
    await until(
      `${name} to be destroyed`,
      deadlineMs,
      async () => !(await namesOn(subject(), openHost)).includes(name) || `${name} is there`,
    );
  });

  contract(
    'a daemon that is killed: what is under way fails, the check says so, and finds it well afterwards',
    async ({ killDaemon, restartDaemon }) => {
      const of = overTls({ sasl: subject().sasl });
      const libvirt = await connect(subject(), { host: withPassword, settings: of });
      const events = (await libvirt.domainEvents(never))[Symbol.asyncIterator]();
      await killDaemon(withPassword);
      try {
        await expect(events.next()).rejects.toMatchObject({ type: 'LibvirtUnavailable' });
        await expect(libvirt.domains(never)).rejects.toMatchObject({ type: 'LibvirtUnavailable' });
        const { checks } = await check(withPassword, of);
        expect(checks[0]).toMatchObject({
          outcome: 'failed',
          code: 'LibvirtUnavailable',
          observed: expect.stringContaining('the connection was refused'),
        });
      } finally {
        await restartDaemon(withPassword);
      }
      const { checks: again } = await check(withPassword, of);
      expect(again.map(({ outcome }) => outcome)).toEqual(['passed', 'passed', 'passed']);
    },
  );

  contract(
    'a daemon that hangs: an answer is waited for until the time-out, a cancel ends it, and the connection serves afterwards',
    async ({ freeze, thaw }) => {
      const libvirt = await connect(subject(), { timeouts: { callMs: 500, startMs: 500 } });
      freeze(openHost);
      try {
        await expect(libvirt.pools(never)).rejects.toThrow('no answer to connectListAllStoragePools within 0.5 s');
        const aborter = new AbortController();
        const asked = libvirt.capabilities(aborter.signal).catch((error: unknown) => error);
        aborter.abort(enough);
        expect(await asked).toBe(enough);
        // The kernel takes connections; TLS needs the daemon.
        const timeouts = { connectMs: 500 };
        await expect(connect(subject(), { timeouts })).rejects.toMatchObject({
          type: 'LibvirtUnavailable',
          message: expect.stringMatching(/no answer to authList within 0\.\d+ s/u),
        });
        await expect(connect(subject(), { timeouts, settings: overTls() })).rejects.toMatchObject({
          type: 'LibvirtUnavailable',
          message: expect.stringMatching(/no connection within 0\.5 s/u),
        });
      } finally {
        thaw(openHost);
      }
      expect(await libvirt.pools(never)).toEqual([]);
      await libvirt.close();
    },
  );

  contract('a daemon without a sign of life loses the connection', async ({ freeze, thaw }) => {
    const libvirt = await connect(subject(), { timeouts: { keepAliveMs: 100 } });
    const events = (await libvirt.domainEvents(never))[Symbol.asyncIterator]();
    freeze(openHost);
    try {
      await expect(events.next()).rejects.toThrow('no sign of life for');
    } finally {
      thaw(openHost);
    }
    await expect(libvirt.pools(never)).rejects.toMatchObject({ type: 'LibvirtUnavailable' });
  });

  contract('every call is counted, with its outcome', async () => {
    const calls: string[] = [];
    const libvirt = await connect(subject(), {
      observe: ({ system, verb }, { outcome }) => calls.push(`${system} ${verb} ${outcome}`),
    });
    expect(await libvirt.findPool('vms', never)).toBeNull();
    await libvirt.close();
    expect(calls).toEqual([
      'libvirt connect ok',
      'libvirt authList ok',
      'libvirt connectSupportsFeature ok',
      'libvirt connectOpen ok',
      'libvirt connectGetUri ok',
      'libvirt storagePoolLookupByName not_found',
    ]);
  });
}

/** The domain's events up to the one that says that it stopped. */
async function untilStopped(events: AsyncIterable<DomainEvent>, domain: Domain): Promise<DomainEvent[]> {
  const observed: DomainEvent[] = [];
  for await (const event of events) {
    if (event.domain.uuid !== domain.uuid) continue;
    observed.push(event);
    if (event.type === 'stopped') break;
  }
  return observed;
}

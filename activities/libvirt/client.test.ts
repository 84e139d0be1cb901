import { systemClock } from '../../runtime/clock.ts';
import { failureCode } from '../../runtime/failure.ts';
import { stoppedClock } from '../../test/fixtures/stopped-clock.ts';
import {
  frame,
  lifecycleEvent,
  ping,
  reply,
  startScriptedLibvirtd,
  type LibvirtReply,
  type ReceivedCall,
  type ScriptedLibvirtd,
} from '../../test/scripted-libvirtd.ts';
import { connectLibvirt, type LibvirtOptions } from './client.ts';
import type { LibvirtConnection, LibvirtTimeouts } from './types.ts';

const never = new AbortController().signal;
/** Longer than any answer that comes takes. */
const patient: LibvirtTimeouts = {
  connectMs: 60_000,
  callMs: 60_000,
  startMs: 60_000,
  storageMs: 60_000,
  keepAliveMs: 600_000,
};
const domain = { name: 'vm-1', uuid: '8a3b1c5e-0000-4000-8000-000000000001' };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

async function daemon(script: (call: ReceivedCall) => LibvirtReply | undefined): Promise<ScriptedLibvirtd> {
  const started = await startScriptedLibvirtd(script);
  open.push(started);
  return started;
}

async function connect(
  to: Pick<ScriptedLibvirtd, 'port'>,
  options: Partial<LibvirtOptions> = {},
  signal: AbortSignal = never,
): Promise<LibvirtConnection> {
  const endpoint = { transport: 'tcp', host: '127.0.0.1', port: to.port, uri: 'qemu:///system' } as const;
  const connection = await connectLibvirt(
    endpoint,
    { certificate: null, credential: null },
    { clock: systemClock, timeouts: patient, ...options },
    signal,
  );
  open.push(connection);
  return connection;
}

/** @param timeOut lets the call run into its time-out */
type Answer = (call: ReceivedCall, timeOut: () => void) => LibvirtReply;

/** The code of the failure, for a script that answers one call in its own way. */
async function failureOf(
  name: string,
  answer: Answer,
  ask: (libvirt: LibvirtConnection) => Promise<unknown>,
): Promise<unknown> {
  const clock = stoppedClock();
  const timeOut = (): void => clock.elapse(patient.callMs);
  const script = (call: ReceivedCall) => (call.name === name ? answer(call, timeOut) : undefined);
  const libvirt = await connect(await daemon(script), { clock });
  return ask(libvirt).then(
    () => 'it did not fail',
    (error: unknown) => failureCode(error) ?? error,
  );
}

const ofCapabilities = (answer: Answer) =>
  failureOf('connectGetCapabilities', answer, (libvirt) => libvirt.capabilities(never));
const xml = { xml: '<capabilities/>' };

describe('an answer that does not come as it should', () => {
  test.each<[string, Answer, string]>([
    ['the connection is cut', () => 'cut', 'LibvirtUnavailable'],
    ['nothing comes', (_, timeOut) => (timeOut(), 'silent'), 'LibvirtUnavailable'],
    ['no protocol at all', () => ({ raw: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') }), 'AnswerMalformed'],
    ['a length beyond all bounds', () => ({ raw: Buffer.from('ffffffff', 'hex') }), 'AnswerMalformed'],
    ['a length below a header', () => ({ raw: Buffer.from('00000004', 'hex') }), 'AnswerMalformed'],
    [
      'half of it',
      (call, timeOut) => {
        setTimeout(timeOut, 50);
        return { raw: reply('connectGetCapabilities', call.serial, xml).subarray(0, 40) };
      },
      'LibvirtUnavailable',
    ],
    [
      'the serial of no call',
      (call) => ({ raw: reply('connectGetCapabilities', call.serial + 7, xml) }),
      'AnswerMalformed',
    ],
    [
      'the serial of an earlier call',
      (call) => ({ raw: reply('connectGetCapabilities', call.serial - 1, xml) }),
      'AnswerMalformed',
    ],
    [
      'the answer to another procedure',
      (call) => ({ raw: reply('connectGetHostname', call.serial, { hostname: 'node-1' }) }),
      'AnswerMalformed',
    ],
    [
      'a text that is longer than the message',
      (call) => ({ raw: frame({ procedure: 7, serial: call.serial }, Buffer.from('00001000', 'hex')) }),
      'AnswerMalformed',
    ],
    [
      'more than the answer',
      (call) => ({ raw: frame({ procedure: 7, serial: call.serial }, Buffer.from('0000000000000000', 'hex')) }),
      'AnswerMalformed',
    ],
    [
      'an error that is none',
      (call) => ({ raw: frame({ procedure: 7, serial: call.serial, status: 1 }, Buffer.from('00', 'hex')) }),
      'AnswerMalformed',
    ],
    [
      'another program',
      (call) => ({ raw: frame({ program: 1, procedure: 7, serial: call.serial }) }),
      'AnswerMalformed',
    ],
    ['libvirt says no', () => ({ error: 1, message: 'internal error: no' }), 'HypervisorFailed'],
  ])('%s: %s', async (_, answer, code) => {
    expect(await ofCapabilities(answer)).toBe(code);
  });

  test('what libvirt says is in the failure, with its number', async () => {
    const libvirt = await connect(
      await daemon(({ name }) =>
        name === 'domainCreateXml' ? { error: 67, message: 'unsupported configuration: no KVM' } : undefined,
      ),
    );
    const failure = await libvirt
      .createDomain('<domain/>', { autodestroy: true }, never)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      type: 'LibvirtRefused',
      nonRetryable: true,
      details: [{ libvirtCode: 67, procedure: 'domainCreateXml' }],
    });
    expect((failure as Error).message).toContain(
      'answered domainCreateXml: unsupported configuration: no KVM. libvirt refused the request',
    );
  });

  test('after a time-out the connection still serves, and the late answer harms no other call', async () => {
    const clock = stoppedClock();
    const startMs = 150;
    let first: ReceivedCall | null = null;
    const libvirtd = await daemon((call) => {
      if (call.name !== 'connectGetCapabilities') return undefined;
      if (first === null) {
        first = call;
        clock.elapse(startMs);
        return 'silent';
      }
      return {
        raw: Buffer.concat([
          reply('connectGetCapabilities', first.serial, { xml: '<arch>late</arch>' }),
          reply('connectGetCapabilities', call.serial, { xml: '<arch>timely</arch>' }),
        ]),
      };
    });
    const libvirt = await connect(libvirtd, { clock, timeouts: { startMs } });
    await expect(libvirt.capabilities(never)).rejects.toThrow('no answer to connectGetCapabilities within 0.15 s');
    expect((await libvirt.capabilities(never)).architecture).toBe('timely');
  });

  test('all that is under way fails with the connection, and so does what comes later', async () => {
    const libvirt = await connect(
      await daemon(({ name }) =>
        name === 'connectGetCapabilities' ? 'silent' : name === 'connectListAllStoragePools' ? 'cut' : undefined,
      ),
    );
    const outcomes = await Promise.allSettled([libvirt.capabilities(never), libvirt.pools(never)]);
    expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? failureCode(outcome.reason) : 'no'))).toEqual([
      'LibvirtUnavailable',
      'LibvirtUnavailable',
    ]);
    await expect(libvirt.pools(never)).rejects.toMatchObject({ type: 'LibvirtUnavailable' });
  });
});

describe('opening', () => {
  const opening = async (script: (call: ReceivedCall) => LibvirtReply | undefined): Promise<unknown> =>
    connect(await daemon(script)).catch((error: unknown) => failureCode(error) ?? error);

  test.each<[string, (call: ReceivedCall) => LibvirtReply | undefined, string]>([
    [
      'a password on plain TCP',
      ({ name }) => (name === 'authList' ? { result: { types: [1] } } : undefined),
      'LibvirtCredentialRefused',
    ],
    [
      'polkit',
      ({ name }) => (name === 'authList' ? { result: { types: [2] } } : undefined),
      'LibvirtCredentialRefused',
    ],
    [
      'too many kinds of authentication',
      (call) =>
        call.name === 'authList'
          ? { raw: frame({ procedure: 66, serial: call.serial }, Buffer.from('00000015', 'hex')) }
          : undefined,
      'AnswerMalformed',
    ],
    ['a cut connection', () => 'cut', 'LibvirtUnavailable'],
  ])('%s: %s', async (_, script, code) => {
    expect(await opening(script)).toBe(code);
  });

  test('a TLS port that speaks no TLS', async () => {
    const { port } = await daemon(() => 'cut');
    const endpoint = { transport: 'tls', host: '127.0.0.1', port, uri: 'qemu:///system' } as const;
    const failure = connectLibvirt(
      endpoint,
      { certificate: null, credential: null },
      { clock: systemClock, timeouts: { ...patient, connectMs: 300 } },
      never,
    );
    await expect(failure).rejects.toMatchObject({ type: 'LibvirtUnavailable' });
  });
});

test('domains that vanish while they are listed are left out', async () => {
  const other = { name: 'vm-2', uuid: '8a3b1c5e-0000-4000-8000-000000000002' };
  const states: LibvirtReply[] = [{ result: { state: 1, reason: 1 } }, { error: 42, message: 'Domain not found' }];
  const libvirt = await connect(
    await daemon(({ name }) => {
      if (name === 'connectListAllDomains')
        return {
          result: {
            domains: [
              { ...domain, id: 1 },
              { ...other, id: 2 },
            ],
            count: 2,
          },
        };
      return name === 'domainGetState' ? states.shift() : undefined;
    }),
  );
  expect(await libvirt.domains(never)).toEqual([{ ...domain, state: 'running' }]);
});

describe('events', () => {
  test('come in their order, also those that came before the answer to the registration', async () => {
    let early = true;
    const libvirtd = await daemon((call) => {
      if (call.name !== 'connectDomainEventCallbackRegisterAny' || !early) return undefined;
      early = false;
      return {
        raw: Buffer.concat([
          lifecycleEvent(domain, 2, 0),
          reply('connectDomainEventCallbackRegisterAny', call.serial, { callbackId: 0 }),
        ]),
      };
    });
    const libvirt = await connect(libvirtd);
    const aborter = new AbortController();
    const events = await libvirt.domainEvents(aborter.signal);
    libvirtd.say(lifecycleEvent(domain, 5, 5));
    const observed: unknown[] = [];
    for await (const event of events) {
      observed.push(event);
      if (observed.length === 2) aborter.abort();
    }
    expect(observed).toEqual([
      { domain, type: 'started' },
      { domain, type: 'stopped', detail: 'failed' },
    ]);
    expect(libvirtd.received.filter(({ name }) => name === 'connectDomainEventCallbackRegisterAny')).toHaveLength(4);
  });

  test('an event that cannot be read loses the connection', async () => {
    const libvirtd = await daemon(() => undefined);
    const events = (await (await connect(libvirtd)).domainEvents(never))[Symbol.asyncIterator]();
    libvirtd.say(frame({ procedure: 318, type: 2 }, Buffer.alloc(8)));
    await expect(events.next()).rejects.toMatchObject({ type: 'AnswerMalformed' });
  });

  test('a driver without events says so', async () => {
    const libvirt = await connect(
      await daemon(({ name }) =>
        name === 'connectDomainEventCallbackRegisterAny'
          ? { error: 3, message: 'this function is not supported by the connection driver' }
          : undefined,
      ),
    );
    await expect(libvirt.domainEvents(never)).rejects.toMatchObject({ type: 'LibvirtRefused' });
  });
});

describe('signs of life', () => {
  test('are given when the daemon asks', async () => {
    const libvirtd = await daemon(({ name }) =>
      name === 'connectListAllStoragePools' ? { result: { pools: [], count: 0 } } : undefined,
    );
    const libvirt = await connect(libvirtd);
    libvirtd.say(ping);
    // The answer to the second question comes after the first one's, and so after the pong.
    await libvirt.pools(never);
    await libvirt.pools(never);
    expect(libvirtd.pongs).toBe(1);
  });
});

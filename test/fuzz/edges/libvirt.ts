import * as fc from 'fast-check';
import { Duplex } from 'node:stream';

import { type Ask, authenticate } from '../../../activities/libvirt/authenticate.ts';
import { endpointOf } from '../../../activities/libvirt/endpoint.ts';
import { createOperations } from '../../../activities/libvirt/operations.ts';
import { createRequest, createRpc } from '../../../activities/libvirt/rpc.ts';
import { type ProcedureName, procedures } from '../../../activities/libvirt/wire/procedures.ts';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { lifecycleEvent, refusal, reply } from '../../scripted-libvirtd.ts';
import { type Edge, edge } from '../edge.ts';
import { hostileText, nearText } from '../hostile.ts';

const never = new AbortController().signal;
const endpoint = { transport: 'tls', host: 'node-1', port: 16_514, uri: 'qemu:///system' } as const;
const timeouts = { connectMs: 5_000, callMs: 5_000, startMs: 5_000, storageMs: 5_000, keepAliveMs: 5_000 };

/** What becomes of one answer on its way. */
interface Damage {
  /** Which answer of the conversation. */
  answer: number;
  how: 'flip' | 'cut' | 'insert' | 'drop' | 'refuse' | 'none';
  at: number;
  bytes: Buffer;
  error: number;
  words: string | null;
}

const damage = (): fc.Arbitrary<Damage> =>
  fc.record({
    answer: fc.nat(3),
    how: fc.constantFrom('flip', 'flip', 'flip', 'cut', 'insert', 'drop', 'refuse', 'none'),
    at: fc.nat(999),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    error: fc.oneof(fc.integer({ min: 0, max: 111 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
    words: fc.option(hostileText()),
  });

function damaged(whole: Buffer, { how, at, bytes }: Damage): Buffer {
  const from = at % whole.length;
  if (how === 'cut') return whole.subarray(0, from);
  if (how === 'insert') return Buffer.concat([whole.subarray(0, from), bytes, whole.subarray(from)]);
  if (how === 'drop') return Buffer.concat([whole.subarray(0, from), whole.subarray(from + bytes.length)]);
  const changed = Buffer.from(whole);
  if (how === 'flip') bytes.copy(changed, from);
  return changed;
}

type Answers = Partial<Record<ProcedureName, object>>;

/** Whether nothing that follows can be told apart any more: waiting for the rest would take the time-out. */
const endsTheStream = ({ how, at }: Damage, whole: Buffer): boolean =>
  how === 'cut' || how === 'insert' || how === 'drop' || (how === 'flip' && at % whole.length < 4);

/**
 * A daemon at the other end of a wire without network: each call gets its answer, one of them damaged; then
 * the wire ends.
 */
function daemon(answers: Answers, one: Damage, last: { after: number; say: Buffer }): Duplex {
  let calls = 0;
  return new Duplex({
    allowHalfOpen: false,
    read: () => undefined,
    write(chunk: Buffer, _, done) {
      const number = chunk.readUInt32BE(12);
      const serial = chunk.readUInt32BE(20);
      const name =
        (Object.keys(procedures) as ProcedureName[]).find((key) => procedures[key].number === number) ?? 'connectClose';
      const whole =
        one.how === 'refuse' && one.answer === calls
          ? refusal(name, serial, one.error, one.words?.slice(0, 10_000) ?? null)
          : reply(name, serial, (answers[name] ?? {}) as never);
      this.push(one.answer === calls ? damaged(whole, one) : whole);
      if (one.answer === calls && endsTheStream(one, whole)) this.push(null);
      calls += 1;
      if (calls === last.after) {
        this.push(one.answer === calls ? damaged(last.say, one) : last.say);
        this.push(null);
      }
      done();
    },
  });
}

const domain = { name: 'vm-1', uuid: '8a3b1c5e-0000-4000-8000-000000000001', id: 1 };
const pool = { name: 'vms', uuid: '8a3b1c5e-0000-4000-8000-000000000002' };
const answers: Answers = {
  connectGetLibVersion: { version: 9_000_000n },
  connectGetVersion: { version: 7_002_022n },
  connectGetType: { type: 'QEMU' },
  connectGetHostname: { hostname: 'node-1' },
  connectGetCapabilities: { xml: "<host><cpu><arch>x86_64</arch></cpu></host><guest><domain type='kvm'/></guest>" },
  connectListAllDomains: { domains: [domain, { ...domain, name: 'vm-2', uuid: pool.uuid }], count: 2 },
  domainGetState: { state: 1, reason: 1 },
  domainCreateXml: { domain },
  storagePoolLookupByName: { pool },
  storagePoolGetInfo: { state: 2, capacity: 1n << 40n, allocation: 1n << 30n, available: 1n << 39n },
  storagePoolListAllVolumes: { volumes: [{ pool: 'vms', name: 'volume-1', key: 'vms/volume-1' }], count: 1 },
  connectDomainEventCallbackRegisterAny: { callbackId: 0 },
};

const failures: ErrorCode[] = [
  'AnswerMalformed',
  'LibvirtUnavailable',
  'LibvirtRefused',
  'HypervisorFailed',
  'LibvirtCredentialRefused',
  'LibvirtDriverMissing',
  'DomainNotFound',
  'StoragePoolNotFound',
];

/** @param calls that the verb makes when all goes well */
function libvirt(
  what: string,
  calls: number,
  read: (operations: ReturnType<typeof createOperations>) => Promise<unknown>,
  say: Buffer = Buffer.alloc(0),
): Edge {
  return edge({
    name: `libvirt: ${what}`,
    inputs: damage(),
    failures,
    read: (one) => {
      const rpc = createRpc(daemon(answers, one, { after: calls, say }), endpoint, systemClock);
      return read(createOperations(rpc, createRequest(rpc, endpoint, timeouts, undefined), timeouts)).finally(() =>
        rpc.destroy(),
      );
    },
  });
}

const nonce = 'NONCE';
const salt = 'W22ZaJ0SNY7soEsUEjb6gQ==';

/** A login at a daemon that challenges in its own way; no text proves that it knows the password. */
function logIn(text: string): Promise<void> {
  let said = '';
  const ask = (name: ProcedureName, args: { data?: Buffer }): Promise<object> => {
    if (name === 'authList') return Promise.resolve({ types: [1] });
    if (name === 'authSaslInit') return Promise.resolve({ mechanisms: 'SCRAM-SHA-256' });
    if (name === 'authSaslStart') said = args.data?.toString().split('r=')[1] ?? '';
    return Promise.resolve({ complete: 1, isNull: 0, data: Buffer.from(text.replaceAll(nonce, () => said)) });
  };
  return authenticate(ask as unknown as Ask, endpoint, { user: 'drover', password: 'the-password' });
}

export const libvirtEdges: readonly Edge[] = [
  libvirt('versions', 4, (operations) => operations.versions(never)),
  libvirt('capabilities', 1, (operations) => operations.capabilities(never)),
  libvirt('domains', 3, (operations) => operations.domains(never)),
  libvirt('a new domain', 1, (operations) => operations.createDomain('<domain/>', { autodestroy: true }, never)),
  libvirt('a storage pool', 1, (operations) => operations.findPool('vms', never)),
  libvirt('what a pool holds', 1, (operations) => operations.poolInfo(pool, never)),
  libvirt('images of a pool', 1, (operations) => operations.poolVolumes(pool, never)),
  libvirt(
    'an event',
    4,
    async (operations) => {
      for await (const event of await operations.domainEvents(never)) return event;
      return null;
    },
    lifecycleEvent(domain, 5, 5),
  ),
  edge({
    name: 'libvirt: a URI',
    inputs: nearText('qemu+tls://{host}/system', 'ch+tcp://{host}:16509/system', 'qemu+tcp://[::1]/session'),
    failures: ['InvalidConfiguration'],
    read: (uri) => endpointOf(uri, 'node-1'),
  }),
  edge({
    name: 'libvirt: a host',
    inputs: nearText('node-1', '10.0.0.1', '2001:db8::1'),
    failures: ['InvalidConfiguration'],
    read: (host) => endpointOf('qemu+tls://{host}/system', host),
  }),
  edge({
    name: 'libvirt: a login',
    inputs: nearText(`r=${nonce}x,s=${salt},i=4096`, `v=${salt}`),
    failures: ['AnswerMalformed', 'LibvirtCredentialRefused'],
    takes: 'nothing',
    read: logIn,
  }),
];

import * as fc from 'fast-check';
import { readEvictionInput } from '../../../activities/lib/input.ts';
import { readSharedLimit } from '../../../contracts/allowance.ts';
import { readCodecRequest, writeCodecAnswer } from '../../../runtime/temporal/codec-request.ts';
import { createPayloadCodec } from '../../../runtime/temporal/payload-codec.ts';
import {
  collectConsents,
  collectHypervisorConsents,
  collectObstacles,
  collectStates,
  collectVirtualMachineStates,
  parseCause,
  parseDeadline,
  parseHost,
  parseInstance,
  parseMaintainMode,
  parseParallelism,
  parseReason,
  parseTimeout,
} from '../../../starters/command/arguments.ts';
import { parseNamespace, readReference } from '../../../starters/command/object-reference.ts';
import { readCommand } from '../../../workflows/eviction/commands.ts';
import { readApproval, readLeftover } from '../../../workflows/machine-safety/messages.ts';
import { readAbandonment, readConfirmation, readGuestsFailing } from '../../../workflows/node-failure/messages.ts';
import { readGrant } from '../../../workflows/limits/membership.ts';
import { readRequest } from '../../../workflows/limits/ledger.ts';
import { readMigrateInput } from '../../../workflows/migration/migrate-instance.ts';
import { edge, type Edge } from '../edge.ts';
import { hostileText, near, nearJson, nearText } from '../hostile.ts';

const input = {
  hypervisor: 'node-1',
  reason: 'firmware',
  cause: 'rolling-update',
  deadline: '2026-01-31T12:00:00Z',
  reEnable: true,
  parallelism: 4,
  acceptObstacles: ['LocalDisk', 'LocalDisk/a'],
  consent: ['cold-migrate'],
  mode: 'observe',
  startedBy: 'jane',
};

const move = {
  instance: { id: 'a', name: 'vm-1' },
  sourceHost: 'node-1',
  eviction: { name: 'e', uid: 'u' },
  consent: [],
  accepted: false,
  settings: { region: 'R', maxAttempts: 3, stuck: {}, poll: {} },
};

const leftover = { machineClass: 'small', kind: 'port', id: 'a', by: 'jane', at: '2026-01-31T12:00:00Z' };

/** So long at most is what a run remembers of a user's word. */
const isShort = (text: unknown): boolean => typeof text === 'string' && text.length <= 1_024;

const report = {
  consumer: 'eviction/node-1',
  runId: 'r',
  want: 4,
  using: 1,
  deadline: null,
  host: 'node-1',
  acknowledged: { sequence: 1, allowance: 2 },
};

/** Arguments come from JSON, and where none is given they are undefined. */
const argument = (...samples: readonly unknown[]) =>
  fc.oneof({ weight: 20, arbitrary: near(...samples) }, { weight: 1, arbitrary: fc.constant(undefined) });

const parsers: readonly [what: string, parse: (text: string) => unknown, samples: string[]][] = [
  ['a host', parseHost, ['node-1', 'node001.bb123.local']],
  ['a reason', parseReason, ['new firmware']],
  ['an instance', parseInstance, ['vm-1']],
  ['a cause', parseCause, ['admin', 'rolling-update']],
  ['a number of moves', parseParallelism, ['1', '64']],
  ['a deadline', (text) => parseDeadline(text, 0), ['2026-01-31T12:00:00Z', '90m', '1d12h']],
  ['consents', (text) => collectConsents(text, undefined), ['cold-migrate', 'cold-migrate,force-complete']],
  ['consents for a hypervisor', (text) => collectHypervisorConsents(text, undefined), ['delete-allocations']],
  ['states of hosts', (text) => collectStates(text, undefined), ['aborted', 'Active,Maintenance']],
  ['a maintenance', parseMaintainMode, ['manual', 'termination']],
  ['a patience', parseTimeout, ['90m', '1d12h']],
  [
    'states of virtual machines',
    (text) => collectVirtualMachineStates(text, undefined),
    ['failed', 'Reconciled,NotOwned'],
  ],
  ['a namespace', parseNamespace, ['team', 'kube-system']],
  ['a virtual machine', (text) => readReference('vm', text, 'team'), ['team/web', 'web-1.example']],
  [
    'obstacles',
    (text) => collectObstacles(text, undefined),
    ['LocalDisk', 'Vgpu/a0000000-0000-4000-8000-000000000001, LocalDisk'],
  ],
];

const codec = createPayloadCodec({ current: 'a', keys: new Map([['a', Buffer.alloc(32, 1)]]) });

const commands = [
  'pause',
  'resume',
  'skipInstance',
  'retryInstance',
  'setParallelism',
  'acceptObstacle',
  'cancelEviction',
  'retryNow',
] as const;

export const peopleEdges: readonly Edge[] = [
  {
    name: 'workflow input: evictHypervisor',
    inputs: argument(input, { hypervisor: 'node-1' }),
    failures: ['InvalidInput'],
    read: readEvictionInput,
  },
  {
    name: 'update: confirmOff',
    inputs: argument({ incident: 'node-1/2026-01-31T12:00:00.000Z', bootId: 'b', person: 'jane' }),
    failures: ['InvalidInput'],
    read: readConfirmation,
  },
  {
    name: 'update: abandonDisks',
    inputs: argument({ incident: 'node-1/2026-01-31T12:00:00.000Z', instances: ['web-3'], person: 'jane' }),
    failures: ['InvalidInput'],
    read: readAbandonment,
  },
  edge({
    name: 'update: approve',
    inputs: argument({ by: 'jane', reason: 'the pool was removed' }, {}),
    failures: ['InvalidInput'],
    read: readApproval,
    holds(value) {
      const { by, reason } = value as ReturnType<typeof readApproval>;
      return by !== '' && isShort(by) && (reason === null || isShort(reason));
    },
  }),
  edge({
    name: 'update: deleteLeftover',
    inputs: argument(leftover),
    failures: ['InvalidInput'],
    read: readLeftover,
    // Anything else would be asked for, and answered, under another name.
    holds(value) {
      const { machineClass, kind, id, by, at } = value as ReturnType<typeof readLeftover>;
      const texts = [machineClass, id, by];
      return ['port', 'volume'].includes(kind) && !texts.includes('') && [...texts, at].every(isShort);
    },
  }),
  {
    name: 'workflow signals: a word about guests',
    inputs: argument({ message: '2 guests failed' }),
    failures: [],
    read: (value) => readGuestsFailing(value),
  },
  {
    name: 'workflow input: migrateInstance',
    inputs: argument(move),
    failures: ['InvalidInput'],
    read: readMigrateInput,
  },
  edge({
    name: 'workflow commands: the argument of an update or signal',
    inputs: fc.tuple(
      fc.constantFrom(...commands),
      argument(
        {
          by: 'jane',
          reason: 'x',
          instance: 'vm-1',
          parallelism: 4,
          obstacle: 'LocalDisk',
          abort: true,
          reEnable: false,
        },
        {},
      ),
    ),
    failures: ['InvalidInput'],
    read: ([name, given]) => readCommand(name, given),
  }),
  {
    name: 'workflow signals: a report to the share-out',
    inputs: argument(report),
    failures: [],
    read: (value) => readRequest(value),
  },
  {
    name: 'workflow inputs: what is shared out',
    inputs: argument({ region: 'RegionOne' }, { kind: 'creates', vcenter: 'lab' }),
    failures: [],
    read: (value) => readSharedLimit(value),
  },
  {
    name: 'workflow signals: a grant of the share-out',
    inputs: argument(
      { sequence: 1, allowance: 2, limit: 8, consumers: 2 },
      { sequence: 1, allowance: 1, limit: 8, consumers: 2, kind: 'creates' },
    ),
    failures: [],
    read: (value) => readGrant(value),
  },
  edge({
    name: 'codec endpoint: a request',
    inputs: nearJson({ payloads: [{ metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'ImEi' }] }),
    failures: ['InvalidInput'],
    read: (body) => writeCodecAnswer(readCodecRequest(body)),
  }),
  edge({
    name: 'payload codec: a payload of a history',
    inputs: fc.record({
      metadata: fc.option(
        fc.dictionary(
          fc.constantFrom('encoding', 'encryption-key-id', 'other'),
          fc.oneof(
            fc.constantFrom('binary/encrypted', 'json/plain', 'a').map((text) => Buffer.from(text)),
            fc.uint8Array(),
          ),
        ),
      ),
      data: fc.option(fc.uint8Array({ maxLength: 60 })),
    }),
    failures: ['PayloadKeyMissing', 'PayloadUnreadable'],
    read: (payload) => codec.decode([payload]),
  }),
  ...parsers.map(([what, parse, samples]) =>
    edge({
      name: `command line: ${what}`,
      inputs: fc.oneof(nearText(...samples), hostileText()),
      failures: ['usage'],
      read: parse,
    }),
  ),
];

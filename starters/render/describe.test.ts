import type { EvictionDescription } from '../eviction/eviction-description.ts';
import type { EvictionRun } from '../eviction/eviction-objects.ts';
import type { Condition } from '../../contracts/conditions.ts';
import type { HypervisorProgress } from '../../contracts/hypervisor/hypervisor.ts';
import type { HypervisorDescription } from '../hypervisor/hypervisor-description.ts';
import { readTakenAway } from '../hypervisor/hypervisor-description.ts';
import { lifecycle, sampleHypervisor } from '../../test/fixtures/starters/hypervisor.ts';
import { sampleFailure } from '../../test/fixtures/starters/failure.ts';
import { sampleEviction } from '../../test/fixtures/starters/eviction.ts';
import { renderDescription } from './describe.ts';
import { plain } from './paint.ts';
import { ago, now, sampleProgress } from '../../test/fixtures/starters/progress.ts';

const run: EvictionRun = {
  workflowId: 'eviction/node-1',
  runId: 'r-2',
  host: 'node-1',
  status: 'Running',
  startedAt: ago(300),
  endedAt: null,
  phase: 'Moving',
  reason: null,
};
const earlierRun: EvictionRun = { ...run, runId: 'r-1', status: 'Failed', startedAt: ago(4000), endedAt: ago(3600) };
const eviction = sampleEviction({
  createdAt: ago(300),
  annotations: { 'drover.dev/consent-by': 'alice 2026-01-31T11:00:00Z' },
  conditions: [
    { type: 'Evicting', status: 'True', reason: 'Running', message: '1 of 4 moved', lastTransitionTime: ago(240) },
  ],
});
const description = (facts: Partial<EvictionDescription> = {}): EvictionDescription => ({
  host: 'node-1',
  run,
  runsKnown: true,
  progress: sampleProgress(),
  ending: null,
  eviction,
  others: [],
  earlier: [],
  migrations: [],
  hypervisor: null,
  failure: null,
  stops: [],
  webUi: null,
  problems: [],
  ...facts,
});
const render = (facts: Partial<EvictionDescription> = {}) => renderDescription(description(facts), now, plain, 200);

test('one that runs', () => {
  const progress = sampleProgress({
    waitingFor: 'room on some target',
    nextWakeUp: ago(-20),
    deadline: '2026-01-31T13:00:00Z',
    obstacles: [
      {
        id: 'LocalDisk/db-1-id',
        code: 'LocalDisk',
        instanceId: 'db-1-id',
        message: 'db-1 has 20 GiB of local disk',
        accepted: false,
      },
      { id: 'Vgpu/web-3-id', code: 'Vgpu', instanceId: 'web-3-id', message: 'web-3 has a vGPU', accepted: true },
    ],
    notes: ['2 servers ask for NUMA cells'],
  });
  const earlier = [
    { run: earlierRun, ending: { outcome: 'Failed' as const, message: '2 did not move', result: null } },
  ];
  expect(render({ progress, earlier, stops: ['everything, by bob: power work'], webUi: 'http://ui/run' })).toEqual([
    'node-1: Moving for 4m 10s',
    '  reason       broken DIMM',
    '  cause        admin',
    '  started by   alice@ops',
    '  consent by   alice 2026-01-31T11:00:00Z',
    '  mode         act',
    '  progress     1 of 4 done, 1 moving, 1 pending, 1 blocked; 6 GiB still to go',
    '  waiting      for room on some target; observes again in 20s',
    '  ETA          in 6m 20s, at 2026-01-31T12:06:20Z',
    '  deadline     2026-01-31T13:00:00Z, in 1h; 53m 40s to spare',
    '  window       2 moving, at most 2 at once; the region grants 4',
    '  drover stop  everything, by bob: power work',
    '  run          eviction/node-1 r-2',
    '  web UI       http://ui/run',
    '',
    'Obstacles',
    'open      LocalDisk/db-1-id  db-1 has 20 GiB of local disk',
    '          accept it: drover accept node-1 LocalDisk/db-1-id',
    'accepted  Vgpu/web-3-id  web-3 has a vGPU',
    'note      2 servers ask for NUMA cells',
    '',
    'Instances',
    expect.stringMatching(/^INSTANCE/),
    expect.stringMatching(/^web-3 +blocked/),
    expect.stringMatching(/^web-2 +moving/),
    expect.stringMatching(/^db-1 +pending/),
    expect.stringMatching(/^web-1 +moved/),
    '',
    'Conditions of Eviction node-1',
    'TYPE      STATUS  REASON   SINCE  MESSAGE',
    'Evicting  True    Running  4m     1 of 4 moved',
    '',
    'Runs',
    'STARTED               TOOK    ENDED   OUTCOME  RUN  MESSAGE',
    '2026-01-31T10:53:20Z  6m 40s  1h ago  Failed   r-1  2 did not move',
    '',
    'What you can do',
    expect.stringMatching(/^ {2}drover stop --show/),
    expect.stringMatching(/^ {2}drover stop --lift/),
    expect.stringMatching(/^ {2}drover accept node-1 LocalDisk\/db-1-id /),
    expect.stringMatching(/^ {2}drover retry node-1 web-3 /),
    expect.stringMatching(/^ {2}drover skip node-1 web-3 /),
    expect.stringMatching(/^ {2}drover watch node-1 /),
    expect.stringMatching(/^ {2}drover cancel node-1 /),
  ]);
});

test.each<[why: string, facts: Partial<EvictionDescription>, headline: string, command: string]>([
  ['no worker', { progress: null }, 'node-1: running for 5m, but no worker answers for it', 'drover doctor'],
  ['no run', { run: null, progress: null }, 'node-1: Eviction node-1 waits for a run since 5m', 'drover retry node-1'],
  [
    'ended',
    {
      run: { ...run, status: 'Failed', endedAt: ago(60) },
      progress: null,
      eviction: { ...eviction, reconciled: true },
      ending: { outcome: 'Failed', message: 'x', result: null },
    },
    'node-1: Failed 1m ago',
    'drover retry node-1',
  ],
  [
    'nothing',
    { run: null, progress: null, eviction: null },
    'node-1: nothing is known of an eviction',
    'drover evict node-1',
  ],
  [
    'no Temporal',
    { run: null, runsKnown: false, progress: null },
    'node-1: Eviction node-1 says Running for 4m, and whether it runs is not known',
    'drover doctor',
  ],
  [
    'no Temporal, and no Eviction',
    { run: null, runsKnown: false, progress: null, eviction: null },
    'node-1: whether it is evicted is not known',
    'drover doctor',
  ],
  [
    'no Temporal, and no word of a run',
    { run: null, runsKnown: false, progress: null, eviction: { ...eviction, conditions: [] } },
    'node-1: Eviction node-1 has said nothing yet, and whether it runs is not known',
    'drover doctor',
  ],
])('%s', (_why, facts, headline, command) => {
  const lines = render(facts);
  expect(lines[0]).toBe(headline);
  expect(lines[lines.indexOf('What you can do') + 1]).toContain(command);
});

test('every instance that did not move is named in the result', () => {
  const notMoved = [{ id: 'i', name: 'web-3', state: 'blocked' as const, message: 'No valid host' }];
  const result = {
    eviction: 'node-1',
    hypervisor: 'node-1',
    object: 'Eviction node-1',
    outcome: 'blocked' as const,
    reason: 'Failed',
    message: '1 of 2 moved',
    notMoved,
  };
  expect(render({ ending: { outcome: 'Failed', message: '1 of 2 moved', result } })).toEqual(
    expect.arrayContaining(['Result', 'Failed: 1 of 2 moved', '  web-3 blocked: No valid host']),
  );
});

test('the Migration objects stand in for a worker', () => {
  const migrations = [
    { id: 'i-1', origin: 'node-1', destination: 'node-2', type: 'completed', percent: 100, error: null },
  ];
  expect(render({ progress: null, migrations })).toEqual(
    expect.arrayContaining(['Migrations', expect.stringMatching(/^i-1 +completed +node-1 +node-2 +█+ 100%$/)]),
  );
  expect(render({ migrations })).not.toContain('Migrations');
});

test('without Temporal nothing is advised that follows from a run', () => {
  const away = { run: null, runsKnown: false, progress: null };
  const advised = (facts: Partial<EvictionDescription>): string[] => {
    const lines = render(facts);
    return lines.slice(lines.indexOf('What you can do') + 1).map((line) => line.trim().split('  ')[0] ?? '');
  };
  expect(advised({ ...away, stops: ['everything, by bob: power work'] })).toEqual([
    'drover doctor',
    'drover stop --show',
    'drover stop --lift',
  ]);
  expect(advised({ ...away, eviction: null, hypervisor: ofHypervisor() })[0]).toBe('drover doctor');
});

test('what cannot be read is said', () => {
  expect(render({ problems: ['kube-apiserver: connection refused'] })).toEqual(
    expect.arrayContaining(['Could not be read', 'kube-apiserver: connection refused']),
  );
});

const aborted = sampleHypervisor({
  maintenance: 'manual',
  maintenanceReason: 'disks',
  maintainedBy: 'bob 2026-01-31T11:00:00Z',
  conditions: [
    lifecycle('Aborted', 'False', 'Onboarding was aborted: Check ovs failed 5 times'),
    {
      type: 'OvsReachable',
      status: 'False',
      reason: 'OvsUnavailable',
      message: 'Expected an answer; saw none (4.0 s, attempt 5)',
      lastTransitionTime: ago(30),
    },
  ],
});
const ofHypervisor = (facts: Partial<HypervisorDescription> = {}): HypervisorDescription => ({
  object: aborted,
  run: null,
  takenAwayAt: null,
  webUi: null,
  ...facts,
});
const alone = { run: null, progress: null, eviction: null };

test('a host that has failed: what is known, which servers stay, what to type', () => {
  const servers = {
    total: 4,
    evacuated: 1,
    evacuating: 0,
    pending: 1,
    retrying: [{ id: 'b', name: 'vm-b', why: 'no host has room for it', attempts: 1, at: '2026-01-31T12:05:00.000Z' }],
    left: [
      {
        id: 'c',
        name: 'vm-c',
        why: '5 GiB of its disks lie on the host and would be lost; it needs a consent of its own',
      },
    ],
    abandoned: [{ id: 'd', name: 'vm-d', person: 'jane', at: '2026-01-31T12:00:00.000Z' }],
  };
  const lines = render({
    ...alone,
    hypervisor: ofHypervisor(),
    failure: sampleFailure({ confirm: 'drover confirm node-1 --incident node-1/1 --boot-id boot-1', servers }),
  });
  const from = lines.indexOf('Failure of node-1');
  expect(lines.slice(from, lines.indexOf('', from))).toEqual([
    'Failure of node-1',
    '  says         Waiting for an operator to investigate: node-1 is silent',
    '  verdict      suspect: NoWitness',
    '  incident     node-1/1',
    '  boot         boot-1',
    '  mode         recommend',
    expect.stringMatching(/^ {2}waiting {6}for an operator to investigate: node-1 is silent/u),
    '  servers      1 of 4 evacuated, 0 in flight, 1 pending, 1 stay',
    '  run          node-failure/node-1 run-1',
    '  vm-b (b): attempt 1 failed, again at 2026-01-31T12:05:00.000Z: no host has room for it',
    '  vm-c (c): stays: 5 GiB of its disks lie on the host and would be lost; it needs a consent of its own',
    '  vm-d (d): jane gave up its local disks at 2026-01-31T12:00:00.000Z',
  ]);
  const commands = lines.slice(lines.indexOf('What you can do')).join('\n');
  expect(commands).toContain('drover confirm node-1 --incident node-1/1 --boot-id boot-1');
  expect(commands).toContain('drover abandon-disks node-1 c --incident node-1/1');
});

test('what each witness says of a silent host is shown, and why drover does not fence it by itself', () => {
  const since = '2026-01-31T03:00:00.000Z';
  const failure = sampleFailure({
    silence: 'NoQuorum: of the 3 witnesses only 1',
    witnesses: [
      { kind: 'bmc', says: 'powered', message: 'it says On', since },
      { kind: 'nova', says: 'silent', message: 'its nova-compute is down', since },
    ],
  });
  const lines = render({ ...alone, hypervisor: ofHypervisor(), failure });
  expect(lines).toEqual(
    expect.arrayContaining([
      '  not fenced   NoQuorum: of the 3 witnesses only 1',
      '  witness bmc: powered since 2026-01-31T03:00:00.000Z: it says On',
      '  witness nova: silent since 2026-01-31T03:00:00.000Z: its nova-compute is down',
    ]),
  );
});

test('a failure that no worker answers for is shown, with the way to find out why', () => {
  const lines = render({ ...alone, hypervisor: ofHypervisor(), failure: { ...sampleFailure(), progress: null } }).join(
    '\n',
  );
  expect(lines).toContain('node-failure/node-1 run-1, and no worker answers for it');
  expect(lines).toContain('drover doctor');
});

test('a hypervisor without an eviction', () => {
  expect(render({ ...alone, hypervisor: ofHypervisor(), stops: ['everything, by bob'], problems: ['x'] })).toEqual([
    'node-1: Aborted for 2m, and needs attention',
    '  says         Onboarding was aborted: Check ovs failed 5 times',
    '  maintenance  manual, by bob 2026-01-31T11:00:00Z: disks',
    '  lifecycle    driven',
    '  instances    12',
    '  libvirt      10.0.0',
    '  drover stop  everything, by bob',
    '',
    'Conditions of Hypervisor node-1',
    'TYPE          STATUS  REASON          SINCE  MESSAGE',
    'Lifecycle     False   Aborted         2m     Onboarding was aborted: Check ovs failed 5 times',
    'OvsReachable  False   OvsUnavailable  30s    Expected an answer; saw none (4.0 s, attempt 5)',
    '',
    'Could not be read',
    'x',
    '',
    'What you can do',
    expect.stringMatching(/^ {2}drover stop --show/),
    expect.stringMatching(/^ {2}drover stop --lift/),
    expect.stringMatching(/^ {2}drover retry node-1 /),
    expect.stringMatching(/^ {2}drover onboard node-1 --skip-tests /),
  ]);
});

const progress: HypervisorProgress = {
  object: 'Hypervisor node-1',
  phase: 'Evicting',
  reason: 'WaitingForEviction',
  message: 'x',
  sinceMs: 0,
  waiting: { reason: 'WaitingForEviction', message: 'Eviction node-1', untilMs: Date.parse(ago(-40)) },
  failures: 2,
  inFlight: [],
  tests: [],
};
const open = { workflowId: 'hypervisor/node-1', runId: 'r-9', progress };

test.each<[why: string, facts: Partial<HypervisorDescription>, lines: string[]]>([
  [
    'what it waits for',
    { run: open },
    [
      '  waiting      for Eviction node-1; observes again in 40s',
      '  failures     2 in a row',
      '  run          hypervisor/node-1 r-9',
    ],
  ],
  [
    'a run without a worker',
    { run: { ...open, progress: null } },
    ['  run          hypervisor/node-1 r-9, and no worker answers for it'],
  ],
  [
    'by when',
    { takenAwayAt: ago(-3_600) },
    ['  taken away   the machine, at 2026-01-31T13:00:00.000Z, in 1h, whatever is on it'],
  ],
  ['where it should be', { object: sampleHypervisor() }, ['node-1: Active for 2m']],
  [
    'on its way',
    { object: sampleHypervisor({ conditions: [lifecycle('Testing', 'Unknown')] }) },
    ['node-1: Testing for 2m'],
  ],
  [
    'its spec has changed',
    { object: sampleHypervisor({ generation: 4 }) },
    ['node-1: was Active, and its spec has changed since'],
  ],
  [
    'there is no status yet',
    { object: sampleHypervisor({ conditions: [], lifecycleEnabled: false }) },
    [
      'node-1: drover has said nothing of this hypervisor yet',
      '  lifecycle    not driven (spec.lifecycleEnabled)',
      'none yet',
    ],
  ],
  [
    'not tested, only looked at',
    { object: sampleHypervisor({ skipTests: true, observed: true }) },
    ['  lifecycle    driven, without tests, but only looked at (drover.dev/mode)'],
  ],
  [
    'observed',
    {
      object: sampleHypervisor({
        conditions: [
          {
            type: 'Observed',
            status: 'True',
            reason: 'Observed',
            message: 'next would be: x',
            lastTransitionTime: ago(9),
          },
        ],
      }),
    },
    ['node-1: drover only observes this hypervisor', '  says         next would be: x'],
  ],
])('a hypervisor: %s', (_why, facts, lines) => {
  expect(render({ ...alone, hypervisor: ofHypervisor(facts) })).toEqual(expect.arrayContaining(lines));
});

const ended = {
  run: { ...run, status: 'Failed' as const, endedAt: ago(60) },
  progress: null,
  eviction: { ...eviction, reconciled: true },
  ending: { outcome: 'Failed' as const, message: 'x', result: null },
};

test.each<[why: string, facts: Partial<EvictionDescription>, first: RegExp]>([
  ['what needs attention comes first', ended, /drover retry node-1 .*onboarding again/],
  ['but for an eviction that runs', {}, /drover retry node-1 web-3/],
])('beside an eviction: %s', (_why, facts, first) => {
  const lines = render({ ...facts, hypervisor: ofHypervisor() });
  expect(lines).toEqual(expect.arrayContaining(['Hypervisor', 'node-1: Aborted for 2m, and needs attention']));
  expect(lines[lines.indexOf('What you can do') + 1]).toMatch(first);
  expect(lines.filter((line) => /^ {2}drover retry node-1 {2}/.test(line))).toHaveLength(1);
});

test.each<[why: string, conditions: Partial<Condition>[], at: string | null]>([
  ['it is not taken away', [], null],
  [
    'machine-controller-manager does',
    [
      {
        status: 'False',
        message: 'Waiting for x. The machine is taken away at 2026-01-31T13:00:00.000Z, and more than half',
      },
    ],
    '2026-01-31T13:00:00.000Z',
  ],
  ['no Node terminates', [{ status: 'False', message: 'Waiting for x' }], null],
  ['it is out of Nova', [{ status: 'True', message: 'Offboarding successful' }], null],
])('by when: %s', (_why, conditions, at) => {
  expect(
    readTakenAway({
      conditions: conditions.map((facts) => ({
        type: 'Offboarded',
        status: 'False',
        reason: 'Offboarding',
        message: '',
        lastTransitionTime: ago(9),
        ...facts,
      })),
    }),
  ).toBe(at);
});

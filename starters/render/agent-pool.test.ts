import {
  poolCondition,
  samplePool,
  samplePoolRun,
  samplePoolVm,
  sampleVsphereAgent,
} from '../../test/fixtures/starters/agent-pool.ts';
import { ago, now } from '../../test/fixtures/starters/progress.ts';
import type { AgentPoolDescription } from '../agent-pool/agent-pool-description.ts';
import { renderAgentPool } from './agent-pool.ts';
import { plain } from './paint.ts';

const render = (facts: Partial<AgentPoolDescription> = {}, widthColumns = 200) =>
  renderAgentPool(
    {
      namespace: 'team',
      name: 'gpu',
      object: samplePool(),
      agents: [],
      run: null,
      held: [],
      stops: [],
      problems: [],
      ...facts,
    },
    now,
    plain,
    widthColumns,
  );

test('a pool that is short of VMs, and holds some', () => {
  const object = samplePool({
    conditions: [
      poolCondition('Ready', 'True', 'Reconciled', 'All that is wanted is there, or under way'),
      poolCondition('CapacitySatisfied', 'False', 'MaxAgents', '2 VMs more are wanted', 3_600),
    ],
    counts: { agentMachines: 6, waiting: 3, available: 0, bound: 3, wanted: 2, provisioning: 1, vms: 4 },
    approved: ['worker-0'],
  });
  const agents = [
    sampleVsphereAgent({ name: 'worker-10' }),
    sampleVsphereAgent({ name: 'worker-2', vm: samplePoolVm({ vm: 'vm-2' }) }),
    sampleVsphereAgent({
      name: 'worker-3',
      deleting: true,
      vm: samplePoolVm({ vm: 'vm-3', phase: 'Released', reason: 'MachineDeleted', machine: null, since: ago(60) }),
    }),
    sampleVsphereAgent({
      name: 'worker-4',
      createdAt: ago(30),
      conditions: [poolCondition('Ready', 'False', 'VMCreatePending', 'a slot of vCenter\u001b[2J eu-1')],
      vm: null,
    }),
  ];
  const run = samplePoolRun({ webUi: 'http://ui/run' });
  expect(
    render({
      object,
      agents,
      run,
      held: [{ name: 'worker-2', waitsFor: 'ApprovalRequired', message: 'an approval' }],
      stops: ['everything, by bob: power work'],
      problems: ['x'],
    }),
  ).toEqual([
    'team/gpu: MaxAgents for 1h, and needs attention',
    '  says         All that is wanted is there, or under way',
    '  short of     2 VMs more are wanted',
    '  demand       6 AgentMachines, 3 wait; 2 VMs wanted, 1 under way',
    '  VMs          4, 3 bound, 0 available',
    '  NodePool     workers, its Machines in clusters-one',
    '  ISO          agent-forge/aa.iso, uploaded 2d 2h ago, checked 4m ago',
    '  approved     worker-0',
    '  held         1 would go, and wait for something',
    '  drover stop  everything, by bob: power work',
    '  run          agent-pool/team/gpu r-1',
    '  web UI       http://ui/run',
    '',
    'VMs',
    'NAME       VM        PHASE               REASON          SINCE  AGENT  MACHINE       AGE  WAITS FOR',
    'worker-4   -         -                   -                   -  -      -             30s  a slot of vCenter eu-1',
    'worker-3   vm-3      Released, deleting  MachineDeleted     1m  a1b2   -           1d 1h',
    'worker-2   vm-2      Bound               AgentBound         1h  a1b2   workers-x7  1d 1h  an approval',
    'worker-10  worker-1  Bound               AgentBound         1h  a1b2   workers-x7  1d 1h',
    '',
    'Discovery ISOs',
    'UPLOADED        SIZE           PATH',
    '2d 2h ago    1.2 GiB  current  agent-forge/aa.iso',
    '10d 10h ago        ?  kept     agent-forge/bb.iso',
    '',
    'Conditions of VsphereAgentPool team/gpu',
    'TYPE               STATUS  REASON      SINCE  MESSAGE',
    'Ready              True    Reconciled  2m     All that is wanted is there, or under way',
    'CapacitySatisfied  False   MaxAgents   1h     2 VMs more are wanted',
    '',
    'Could not be read',
    'x',
    '',
    'What you can do',
    expect.stringMatching(/^ {2}drover stop --show/u),
    expect.stringMatching(/^ {2}drover stop --lift/u),
    expect.stringMatching(/^ {2}drover pools approve team\/gpu /u),
    expect.stringMatching(/^ {2}kubectl annotate .* drover.dev\/max-agents=10 /u),
    expect.stringMatching(/^ {2}drover retry pool team\/gpu /u),
    expect.stringMatching(/^ {2}kubectl describe vsphereagentpool -n team gpu /u),
  ]);
});

test.each<[why: string, facts: Partial<AgentPoolDescription>, headline: string, others: string[]]>([
  ['all is there', {}, 'Reconciled for 2m', []],
  [
    'nothing was said',
    { object: samplePool({ conditions: [], counts: null, iso: null }) },
    'drover has said nothing of this pool yet',
    ['  demand       not counted yet', '  ISO          none yet, of InfraEnv discovery'],
  ],
  ['another spec', { object: samplePool({ generation: 4 }) }, 'was Reconciled, and its spec has changed since', []],
  [
    'gone, with its run',
    { object: null, run: samplePoolRun({ progress: null }) },
    'there is no such VsphereAgentPool any more',
    ['  run          agent-pool/team/gpu r-1, and no worker answers for it'],
  ],
  ['not to be read', { object: null, problems: ['x'] }, 'the object cannot be read', []],
  [
    'retained',
    { object: samplePool({ deletes: false, observed: true, deleting: true }) },
    'Reconciled for 2m',
    [
      '  policy       Retain: nothing is deleted',
      '  mode         only observed (drover.dev/mode)',
      '  deletion     requested',
    ],
  ],
  [
    'VsphereAgents not to be listed',
    { agents: null, object: samplePool({ vms: [samplePoolVm()] }) },
    'Reconciled for 2m',
    ['worker-1  worker-1  Bound  AgentBound     1h  a1b2   workers-x7    -'],
  ],
  [
    'its run waits',
    {
      run: samplePoolRun({
        progress: {
          ...samplePoolRun().progress!,
          waiting: { reason: 'R', message: 'a change', untilMs: now + 60_000 },
        },
      }),
    },
    'Reconciled for 2m',
    ['  waiting      for a change; observes again in 1m'],
  ],
])('a pool: %s', (_why, facts, headline, others) => {
  const [first, ...rest] = render(facts);
  expect(first).toBe(`team/gpu: ${headline}`);
  expect(rest).toEqual(expect.arrayContaining(others));
});

test('VMs that are held and have no VsphereAgent', () => {
  const stray = (name: string, message: string) => ({ name, waitsFor: 'ApprovalRequired', message });
  const lines = render({
    agents: [sampleVsphereAgent({ name: 'worker-2', vm: samplePoolVm({ vm: 'vm-2' }) })],
    held: [
      stray('worker-7', 'it is on: approve of worker-7/u-7'),
      stray('worker-2', 'it is on: approve of worker-2/u-before'),
      { name: 'worker-8', waitsFor: 'StrayAge', message: 'it is young' },
      { name: 'worker-9', waitsFor: 'NodePresent', message: 'its Node is there' },
    ],
  });
  const start = lines.indexOf('VMs');
  expect(lines.slice(start + 1, lines.indexOf('', start)).map((line) => line.replaceAll(/ +/gu, ' '))).toEqual([
    'NAME VM PHASE REASON SINCE AGENT MACHINE AGE WAITS FOR',
    'worker-2 worker-2 - Stray - - - - it is on: approve of worker-2/u-before',
    'worker-7 worker-7 - Stray - - - - it is on: approve of worker-7/u-7',
    'worker-8 worker-8 - Stray - - - - it is young',
    'worker-9 - - - - - - - its Node is there',
    'worker-2 vm-2 Bound AgentBound 1h a1b2 workers-x7 1d 1h',
  ]);
});

test('a narrow window', () => {
  const [head = '', ...rows] = render({ agents: [sampleVsphereAgent()] }, 80).slice(
    render({ agents: [sampleVsphereAgent()] }, 80).indexOf('VMs') + 1,
  );
  expect(head.replaceAll(/ +/gu, ' ')).toBe('NAME PHASE REASON SINCE WAITS FOR');
  expect(rows[0]?.length).toBeLessThanOrEqual(80);
});

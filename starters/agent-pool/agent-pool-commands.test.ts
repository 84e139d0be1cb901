import { poolCondition, samplePool, samplePoolRun, samplePoolVm } from '../../test/fixtures/starters/agent-pool.ts';
import { agentPoolCommands } from './agent-pool-commands.ts';
import type { AgentPoolDescription } from './agent-pool-description.ts';
import type { AgentPoolObject } from './agent-pool-object.ts';

const describe = 'kubectl describe vsphereagentpool -n team gpu';
const retry = 'drover retry pool team/gpu';
const commandsOf = (
  object: AgentPoolObject | null,
  rest: Partial<Pick<AgentPoolDescription, 'run' | 'stops' | 'held'>> = {},
) => agentPoolCommands({ object, run: null, stops: [], held: [], ...rest }).map(({ command }) => command);

const ready = poolCondition('Ready');
const wrong = (type: string, reason = 'X') => poolCondition(type, 'False', reason);
const annotate = (change: string) => `kubectl annotate vsphereagentpool -n team gpu ${change} --overwrite`;
const held = (waitsFor: string, name = 'worker-7') => ({ name, waitsFor, message: 'x' });

test.each<[why: string, facts: Partial<AgentPoolObject>, held: AgentPoolDescription['held'], commands: string[]]>([
  ['all is there', {}, [], []],
  ['nothing was said', { conditions: [] }, [], [retry, 'drover doctor']],
  ['what was said is of another spec', { generation: 4 }, [], [retry, 'drover doctor']],
  ['an approval', {}, [held('ApprovalRequired'), held('NodePresent')], ['drover pools approve team/gpu']],
  [
    'an approval of VMs without a VsphereAgent',
    {},
    ['worker-7', 'Worker_7'].map((name) => ({ ...held('ApprovalRequired', name), message: `with ${name}/u-7` })),
    ['drover pools approve team/gpu worker-7'],
  ],
  ['an Agent is bound', {}, [held('AgentBound')], ['kubectl describe vsphereagent -n team worker-7']],
  ['Machines of a pool that stays', {}, [held('MachinePresent')], []],
  [
    'Machines of a pool that goes',
    { deleting: true },
    [held('MachinePresent')],
    ['kubectl get machines.cluster.x-k8s.io -n clusters-one'],
  ],
  [
    'too many VMs',
    {
      conditions: [ready, wrong('CapacitySatisfied', 'MaxAgents')],
      vms: Array.from({ length: 8 }, () => samplePoolVm()),
    },
    [],
    [annotate('drover.dev/max-agents=16'), retry],
  ],
  [
    'too many at once',
    { conditions: [ready, wrong('CapacitySatisfied', 'MaxConcurrent')] },
    [],
    [annotate('drover.dev/max-concurrent=10'), retry],
  ],
  [
    'a quota',
    { conditions: [ready, wrong('CapacitySatisfied', 'CreateRefused')] },
    [],
    ['kubectl describe resourcequota -n team', retry],
  ],
  [
    'Agents do not come',
    { conditions: [ready, wrong('CapacitySatisfied', 'ReplacementLimit')] },
    [],
    ['kubectl get agents.agent-install.openshift.io -n team', retry],
  ],
  [
    'no InfraEnv, vCenter or ISO',
    { conditions: [wrong('Ready'), wrong('InfraEnvAvailable'), wrong('VsphereReady'), wrong('ISOReady')] },
    [],
    ['kubectl describe infraenv -n team discovery', 'drover doctor', 'drover pools refresh-iso team/gpu', retry],
  ],
  [
    'another template',
    { conditions: [ready, poolCondition('TemplateDrifted', 'True', 'TemplateChanged')] },
    [],
    [annotate('drover.dev/replace-drifted=available'), annotate('drover.dev/replace-drifted=all')],
  ],
  [
    'another template, of which Nodes are being replaced',
    { conditions: [ready, poolCondition('TemplateDrifted', 'True', 'Replacing')] },
    [],
    [],
  ],
  [
    '… which drover may not',
    { conditions: [ready, poolCondition('TemplateDrifted', 'True', 'ReplacementForbidden')] },
    [],
    ['cat deploy/rbac/agent-replacement.yaml'],
  ],
])('%s', (_why, facts, its, commands) => {
  expect(commandsOf(samplePool(facts), { held: its })).toEqual([...commands, describe]);
});

test('a stop, a run without a worker, and a pool that is gone', () => {
  const run = samplePoolRun({ progress: null });
  expect(commandsOf(samplePool(), { run, stops: ['x'] })).toEqual([
    'drover stop --show',
    'drover stop --lift',
    'drover doctor',
    'drover worker',
    describe,
  ]);
  expect(commandsOf(samplePool({ conditions: [] }), { run: samplePoolRun() })).toEqual([describe]);
  expect(commandsOf(null)).toEqual(['drover pools']);
});

import { hypervisorCommands } from './hypervisor-commands.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import { lifecycle, sampleHypervisor, terminating } from '../../test/fixtures/starters/hypervisor.ts';

const termination = { maintenance: 'termination' as const };
const offboarding = {
  ...terminating,
  type: 'Offboarded',
  status: 'False' as const,
  reason: 'Offboarding',
  message: 'annotate it with drover.dev/consent: delete-allocations',
};

test.each<[why: string, facts: Partial<HypervisorObject>, commands: string[]]>([
  ['in service', {}, ['drover maintain node-1 --reason "…"']],
  [
    'in service, with a problem',
    { conditions: [lifecycle('Active', 'False')] },
    ['drover retry node-1', 'drover maintain node-1 --reason "…"'],
  ],
  ['there is no status yet', { conditions: [] }, ['drover doctor', 'drover evict node-1 --reason "…"']],
  [
    'there is none, and it is off',
    { conditions: [], lifecycleEnabled: false },
    ['drover onboard node-1', 'drover doctor', 'drover evict node-1 --reason "…"'],
  ],
  ['what was said is of another spec', { generation: 4 }, ['drover doctor']],
  ['off', { lifecycleEnabled: false, conditions: [lifecycle('Initial', 'False')] }, ['drover onboard node-1']],
  [
    'waits for Nova',
    { conditions: [lifecycle('Onboarding', 'Unknown')] },
    ['drover retry node-1', 'drover maintain node-1 --reason "…"'],
  ],
  [
    'aborted',
    { conditions: [lifecycle('Aborted', 'False')] },
    ['drover retry node-1', 'drover onboard node-1 --skip-tests'],
  ],
  [
    'disabled by a stranger',
    { conditions: [lifecycle('Ready', 'False')] },
    ['openstack compute service set --enable node-1 nova-compute'],
  ],
  [
    'held',
    { annotations: { 'drover.dev/hold': 'Fenced: x' }, conditions: [lifecycle('Ready', 'False')] },
    ['kubectl annotate hypervisor node-1 drover.dev/hold-'],
  ],
  [
    'emptied',
    { maintenance: 'manual', conditions: [lifecycle('Evicting', 'Unknown')] },
    ['drover watch node-1', 'drover activate node-1'],
  ],
  [
    'not emptied',
    { maintenance: 'manual', conditions: [lifecycle('Evicting', 'False')] },
    ['drover retry node-1', 'drover activate node-1'],
  ],
  ['in maintenance', { maintenance: 'manual', conditions: [lifecycle('Maintenance')] }, ['drover activate node-1']],
  ['back from maintenance', { conditions: [lifecycle('Maintenance', 'Unknown')] }, ['drover retry node-1']],
  [
    'being decommissioned',
    { ...termination, conditions: [lifecycle('Evicting', 'Unknown')] },
    ['drover watch node-1', 'drover maintain node-1 --mode ha --reason "…"'],
  ],
  ['its Node terminates', { conditions: [lifecycle('Evicting', 'Unknown'), terminating] }, ['drover watch node-1']],
  [
    'allocations are left',
    { ...termination, conditions: [lifecycle('Evicting', 'False'), offboarding] },
    [
      'drover decommission node-1 --reason "…" --consent delete-allocations',
      'drover maintain node-1 --mode ha --reason "…"',
    ],
  ],
  [
    'decommissioned',
    { ...termination, conditions: [lifecycle('Decommissioned')] },
    ['kubectl delete hypervisor node-1', 'drover maintain node-1 --mode ha --reason "…"'],
  ],
  [
    'its Node is gone',
    { conditions: [lifecycle('Decommissioned'), terminating] },
    ['kubectl delete hypervisor node-1'],
  ],
])('%s', (_why, facts, commands) => {
  expect(hypervisorCommands(sampleHypervisor(facts)).map(({ command }) => command)).toEqual(commands);
});

import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorAnnotations } from '../../contracts/ids.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import { nodeTerminates } from './hypervisor-objects.ts';
import { isCurrent, lifecycleOf } from '../command/lifecycle-condition.ts';
import type { NextCommand } from '../command/next-commands.ts';

/** What a person may want to type next for a host, the most likely first. */
export function hypervisorCommands(hypervisor: HypervisorObject): NextCommand[] {
  const { name, annotations } = hypervisor;
  const lifecycle = lifecycleOf(hypervisor);
  if (lifecycle === undefined || !isCurrent(hypervisor)) {
    const evict = { command: `drover evict ${name} --reason "…"`, why: 'empty it, whatever drives its lifecycle' };
    return [
      ...(hypervisor.lifecycleEnabled ? [] : [onboard(name)]),
      { command: 'drover doctor', why: 'see whether the bridge and the workers are there' },
      ...(lifecycle === undefined ? [evict] : []),
    ];
  }
  if (annotations[hypervisorAnnotations.hold] !== undefined) {
    return [
      {
        command: `kubectl annotate hypervisor ${name} ${hypervisorAnnotations.hold}-`,
        why: 'let it into service again, when what holds it is resolved',
      },
    ];
  }
  switch (lifecycle.reason) {
    case 'Initial':
      return hypervisor.lifecycleEnabled ? [again(name)] : [onboard(name)];
    case 'Onboarding':
    case 'Testing':
      return [again(name), maintain(name)];
    case 'Aborted':
      return [
        { command: `drover retry ${name}`, why: 'begin its onboarding again, when the cause is mended' },
        { command: `drover onboard ${name} --skip-tests`, why: 'leave the tests out, before that' },
      ];
    case 'Ready':
      return lifecycle.status === 'False'
        ? [
            {
              command: `openstack compute service set --enable ${name} nova-compute`,
              why: 'lift the disable that another user made',
            },
          ]
        : [again(name)];
    case 'Active':
      return [...(lifecycle.status === 'True' ? [] : [again(name)]), maintain(name)];
    case 'Evicting':
      return evicting(hypervisor);
    case 'Maintenance':
      return lifecycle.status === 'Unknown' && hypervisor.maintenance === ''
        ? [again(name)]
        : [{ command: `drover activate ${name}`, why: 'end it, and bring the host back into service' }];
    case 'Decommissioned':
      return decommissioned(hypervisor);
    default:
      return [again(name)];
  }
}

const again = (name: string): NextCommand => ({
  command: `drover retry ${name}`,
  why: 'observe it now, without waiting',
});
const onboard = (name: string): NextCommand => ({
  command: `drover onboard ${name}`,
  why: 'let drover bring it into service',
});
const maintain = (name: string): NextCommand => ({
  command: `drover maintain ${name} --reason "…"`,
  why: 'take it out of service',
});
const takeBack = (name: string): NextCommand => ({
  command: `drover maintain ${name} --mode ha --reason "…"`,
  why: 'take the decommissioning back; then drover activate',
});

function evicting(hypervisor: HypervisorObject): NextCommand[] {
  const { name, maintenance, conditions } = hypervisor;
  const isAtRest = lifecycleOf(hypervisor)?.status === 'False';
  const isAboutAllocations =
    isAtRest &&
    findCondition(conditions, hypervisorConditions.offboarded)?.message.includes('delete-allocations') === true;
  return [
    ...(isAboutAllocations
      ? [
          {
            command: `drover decommission ${name} --reason "…" --consent delete-allocations`,
            why: 'let drover delete them, with your name',
          },
        ]
      : []),
    ...(isAtRest && !isAboutAllocations
      ? [{ command: `drover retry ${name}`, why: 'empty it again, when what stood in the way is mended' }]
      : []),
    ...(isAtRest ? [] : [{ command: `drover watch ${name}`, why: 'follow its Eviction, once that runs' }]),
    ...(nodeTerminates(hypervisor)
      ? []
      : maintenance === 'termination'
        ? [takeBack(name)]
        : maintenance === ''
          ? []
          : [{ command: `drover activate ${name}`, why: 'give the host back instead' }]),
  ];
}

function decommissioned(hypervisor: HypervisorObject): NextCommand[] {
  const { name } = hypervisor;
  return [
    { command: `kubectl delete hypervisor ${name}`, why: 'take away the record' },
    ...(hypervisor.maintenance === 'termination' && !nodeTerminates(hypervisor) ? [takeBack(name)] : []),
  ];
}

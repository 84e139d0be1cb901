import { until } from '../flows/until.ts';
import type { Scenario } from './scenario.ts';
import { gone } from './scenario.ts';
import type { ScenarioContext } from './context.ts';

/** What VirtualMachineSetResourcePolicies name, in the every-step matrix. */

const settings = {
  modes: { Eviction: 'off', Hypervisor: 'off', VirtualMachine: 'act', VirtualMachineSetResourcePolicy: 'act' },
  virtualMachine: { recheckMs: 3_000, lingerMs: 100 },
  bridge: { resyncMs: 3_000 },
};

const common = { subject: 'VirtualMachineSetResourcePolicy', hosts: 1, ownRegion: true, settings } as const;

const spec = {
  folder: 'apart',
  resourcePool: { name: 'gold', reservations: { memory: '64Mi' } },
  clusterModuleGroups: ['web'],
};

interface Status {
  clustermodules?: { moduleUUID: string }[];
}
const modulesOf = async (context: ScenarioContext): Promise<string[]> =>
  (((await context.read('A'))?.status ?? {}) as Status).clustermodules?.map(({ moduleUUID }) => moduleUUID) ?? [];

async function havePolicy(context: ScenarioContext): Promise<void> {
  await context.createPolicy('A', spec);
  await until('the policy to be made', 60_000, async () => {
    const object = await context.read('A');
    return (object !== null && context.subject.isSettled(object)) || 'not yet';
  });
}

export const resourcePolicyScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'provided',
    title: 'folder, resource pool and cluster module of a policy are made',
    targets: () => true,
    prepare: async () => undefined,
    start: (context) => context.createPolicy('A', spec),
    ends: { A: 'Made' },
    async judge(context) {
      const object = await context.read('A');
      if (object !== null && context.subject.isStopped(object)) return [];
      const { branches, modules } = await context.listMade('A');
      const made = branches
        .map((path) => path.split('/').at(-1) ?? '')
        .toSorted((a, b) => a.localeCompare(b))
        .join();
      const missing = (await modulesOf(context)).filter((module) => !modules.includes(module));
      return [
        ...(made === 'apart,gold' ? [] : [`there are ${made === '' ? 'no branches' : made}`]),
        ...missing.map((module) => `vCenter has no module ${module}`),
      ];
    },
  },
  {
    ...common,
    name: 'withdrawn',
    title: 'a policy is deleted, and what it named goes',
    targets: () => true,
    prepare: havePolicy,
    start: (context) => context.remove('A'),
    ends: { A: gone },
    async judge(context) {
      if ((await context.read('A')) !== null) return [];
      const { branches } = await context.listMade('A');
      return branches.map((path) => `${path} is still there`);
    },
  },
];

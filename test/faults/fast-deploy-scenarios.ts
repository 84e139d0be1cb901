import { until } from '../flows/until.ts';
import type { Scenario } from './scenario.ts';
import { gone } from './scenario.ts';
import type { Stage } from './stage.ts';
import { common, patienceMs, settings } from './virtual-machine-scenarios.ts';

/** Virtual machines that are made of cached files, in the every-step matrix: whatever happens, of each there is one VM with whole disks, and nothing else. */

const fast = (fastDeploy: 'direct' | 'linked'): object => ({ ...settings, virtualMachine: { ...settings.virtualMachine, fastDeploy } });

const make = (stage: Stage): Promise<void> => stage.createVm('A', stage.cachedImage);

export const fastDeployScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'copied',
    title: 'a VM is made of copies of cached files, and powered on',
    settings: fast('direct'),
    // The rest is as in `made`.
    aims: (step) => step.includes('/submitFileDeed.') || step.includes('/submitNewVm.') || step === 'A/patchVirtualMachine.1',
    prepare: (stage) => stage.cacheImage(),
    start: make,
    ends: { A: 'Settled' },
    judge: (stage) => stage.findLeftovers('A'),
  },
  {
    ...common,
    name: 'linked',
    title: 'a VM is made of disks that are linked to cached ones, and powered on',
    settings: fast('linked'),
    aims: (step) => step.includes('/submitNewVm.'),
    prepare: (stage) => stage.cacheImage(),
    start: make,
    ends: { A: 'Settled' },
    judge: (stage) => stage.findLeftovers('A'),
  },
  {
    ...common,
    name: 'abandoned',
    title: 'a VM is deleted while its disks are copied',
    // It changes the vCenter: a group of its own.
    settings: { ...fast('direct') },
    aims: (step) => step.includes('/awaitTask.') || step.includes('/stopCreate.') || step.includes('/submitFileDeed.') || step.includes('/patchVirtualMachine.'),
    async prepare(stage) {
      await stage.cacheImage();
      // Longer than a submission stays with its task.
      await stage.slowTasks({ CopyVirtualDisk: 4_000 });
    },
    start: make,
    async meanwhile(stage) {
      await until('a copy to be waited for, or the end', patienceMs, async () => {
        const object = await stage.read('A');
        return (object !== null && stage.subject.isSettled(object)) || stage.steps().some((step) => step.includes('/awaitTask.')) || 'not yet';
      });
      await stage.remove('A');
    },
    ends: { A: gone },
    judge: (stage) => stage.findLeftovers('A'),
  },
];

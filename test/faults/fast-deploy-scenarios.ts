import type { Scenario } from './scenario.ts';
import { gone } from './scenario.ts';
import { common, removeWhileAwaited, settings } from './virtual-machine-scenarios.ts';

/**
 * Virtual machines that are made of cached files, in the every-step matrix: whatever happens, of each there is one VM
 * with whole disks, and nothing else.
 */

/** Each time another object, so that a scenario that changes the vCenter has it for itself. */
const fast = (fastDeploy: 'direct' | 'linked'): object => ({
  ...settings,
  virtualMachine: { ...settings.virtualMachine, fastDeploy },
});

const ofCachedFiles: Pick<Scenario, 'subject' | 'hosts' | 'ownRegion' | 'prepare' | 'start' | 'judge'> = {
  ...common,
  prepare: (context) => context.cacheImage(),
  start: (context) => context.createVm('A', context.cachedImage),
  judge: (context) => context.findLeftovers('A'),
};

export const fastDeployScenarios: readonly Scenario[] = [
  {
    ...ofCachedFiles,
    name: 'copied',
    title: 'a VM is made of copies of cached files, and powered on',
    settings: fast('direct'),
    // The rest is as in `made`.
    targets: (step) =>
      step.includes('/submitFileOperation.') || step.includes('/submitNewVm.') || step === 'A/patchVirtualMachine.1',
    ends: { A: 'Reconciled' },
  },
  {
    ...ofCachedFiles,
    name: 'linked',
    title: 'a VM is made of disks that are linked to cached ones, and powered on',
    settings: fast('linked'),
    targets: (step) => step.includes('/submitNewVm.'),
    ends: { A: 'Reconciled' },
  },
  {
    ...ofCachedFiles,
    name: 'promoted',
    title: 'a VM of linked disks is on, and they become whole ones',
    settings: fast('linked'),
    async prepare(context) {
      await context.cacheImage();
      await context.slowTasks({ PromoteDisks: 4_000 });
    },
    targets: (step) => step.includes('/submitPromotion.') || step.includes('/awaitTask.'),
    ends: { A: 'Reconciled' },
    judge: async (context) => [...(await context.findLeftovers('A')), ...(await context.findLinkedDisks('A'))],
  },
  {
    ...ofCachedFiles,
    name: 'unpromoted',
    title: 'a VM is deleted while its linked disks are promoted',
    settings: fast('linked'),
    async prepare(context) {
      await context.cacheImage();
      await context.slowTasks({ PromoteDisks: 4_000 });
    },
    targets: (step) =>
      step.includes('/submitPromotion.') || step.includes('/awaitTask.') || step.includes('/cancelVsphereTask.'),
    meanwhile: removeWhileAwaited,
    ends: { A: gone },
  },
  {
    ...ofCachedFiles,
    name: 'abandoned',
    title: 'a VM is deleted while its disks are copied',
    settings: fast('direct'),
    targets: (step) =>
      step.includes('/awaitTask.') ||
      step.includes('/stopCreate.') ||
      step.includes('/submitFileOperation.') ||
      step.includes('/patchVirtualMachine.'),
    async prepare(context) {
      await context.cacheImage();
      // Longer than a submission stays with its task.
      await context.slowTasks({ CopyVirtualDisk: 4_000 });
    },
    meanwhile: removeWhileAwaited,
    ends: { A: gone },
  },
];

import { withKubernetes } from '../kubernetes-objects.ts';
import { kubectl } from '../kubectl.ts';
import type { Lab } from '../lab.ts';
import { connectVcenterControl } from '../vsphere/control.ts';
import { setUpVmNamespace, vcenterSettings } from '../vsphere/vm-fixture.ts';
import { installAttachmentKinds, playedVolumes } from '../vsphere/volume-player.ts';
import { openGovcWitness } from '../vsphere/witness.ts';
import { endRuns } from './end-runs.ts';

/** As in vm.yaml. */
export const vm = { namespace: 'demo', name: 'web', volume: 'data', claim: 'web-data' } as const;

export type VmLab = Lab<'temporal' | 'kubernetes' | 'vsphere'>;

/**
 * What takes minutes in a data centre takes seconds here, so that it can be watched; the simulator's own tasks take no
 * time at all.
 */
const taskDelaysMs = { CloneVm: 3_000, ReconfigVm: 1_000, PowerOn: 1_500, PowerOff: 1_000, Destroy: 1_000 };

export const vmSettings = ({ handles: { vsphere } }: VmLab): object => ({
  modes: { Eviction: 'off', Hypervisor: 'off', VirtualMachine: 'act' },
  virtualMachine: { recheckMs: 2_000, addressMs: 1_000, lingerMs: 500 },
  vsphere: vcenterSettings(vsphere),
});

/**
 * Clears what an earlier demo left, and sets up a namespace in Kubernetes and in vCenter, whose tasks are slow from now
 * on, and the kinds of the vSphere CSI driver.
 */
export async function setUpVm({ exports, handles: { kubernetes, vsphere } }: VmLab): Promise<void> {
  await endRuns(exports);
  await clearVms(kubernetes);
  await withKubernetes(kubernetes, async (api) => {
    await installAttachmentKinds(api);
    await setUpVmNamespace(api, openGovcWitness(vsphere), vm.namespace);
  });
  await connectVcenterControl(vsphere).delayTasks(taskDelaysMs);
}

/**
 * No worker serves what an earlier demo left, so its finalizers are removed by hand. Their VMs went with the vCenter.
 */
async function clearVms(kubernetes: VmLab['handles']['kubernetes']): Promise<void> {
  const { items } = JSON.parse(
    await kubectl(kubernetes, ['get', 'virtualmachines', '--all-namespaces', '-o', 'json']),
  ) as { items: { metadata: { namespace: string; name: string } }[] };
  for (const {
    metadata: { namespace, name },
  } of items) {
    await kubectl(kubernetes, [
      'patch',
      'virtualmachine',
      name,
      '-n',
      namespace,
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    ]);
    await kubectl(kubernetes, ['delete', 'virtualmachine', name, '-n', namespace, '--ignore-not-found']);
  }
  await kubectl(kubernetes, ['delete', 'pvc', vm.claim, '-n', vm.namespace, '--ignore-not-found']);
  await kubectl(kubernetes, ['delete', 'pv', '-l', playedVolumes]);
}

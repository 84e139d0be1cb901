import { withClock } from '../../lab/clock.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { drive } from '../fakes/drive.ts';
import { createFakeKubernetes } from '../fakes/kubernetes/fake-kubernetes.ts';
import { createVirtualClock } from '../simulator/clock.ts';
import { createNetwork } from '../simulator/network.ts';
import { randomOf } from '../faults/random.ts';
import { describeEvictionObjects } from './eviction-objects.ts';
import { describeHypervisorObjects } from './hypervisor-objects.ts';
import { describeMigrationObjects } from './migration-objects.ts';
import { describeNodeObjects } from './node-objects.ts';
import type { ObjectsTest } from './object-activities.ts';
import { describeVirtualMachineObjects } from './virtual-machine-objects.ts';

/** A simulated kube-apiserver of its own for each test. */
const onFake: ObjectsTest = (name, body) => {
  test(name, () => {
    const random = randomOf(1);
    const clock = createVirtualClock(Date.UTC(2026, 0, 31, 12), random);
    const fake = createFakeKubernetes({ clock, network: createNetwork({ clock, random }), random });
    const run = async (): Promise<void> => {
      for (const namespace of ['monsoon3', 'kube-public', 'vm-objects'])
        await applyObject(fake.admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      await body({ worker: fake.client, admin: fake.admin, number: 1 });
    };
    return drive(clock, withClock(clock, run));
  });
};

describe('activities on Evictions, on the simulated kube-apiserver', () => {
  describeEvictionObjects(onFake);
});
describe('activities on Hypervisors, on the simulated kube-apiserver', () => {
  describeHypervisorObjects(onFake);
});
describe('activities on Nodes, on the simulated kube-apiserver', () => {
  describeNodeObjects(onFake);
});
describe('activities on Migrations, on the simulated kube-apiserver', () => {
  describeMigrationObjects(onFake);
});
describe('activities on VirtualMachines, on the simulated kube-apiserver', () => {
  describeVirtualMachineObjects(onFake);
});

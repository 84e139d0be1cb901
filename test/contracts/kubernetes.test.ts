import { withClock } from '../../lab/clock.ts';
import { drive } from '../fakes/drive.ts';
import { createFakeKubernetes } from '../fakes/kubernetes/fake-kubernetes.ts';
import { createVirtualClock } from '../simulator/clock.ts';
import { createNetwork } from '../simulator/network.ts';
import { randomOf } from '../faults/random.ts';
import { describeFieldManagers } from './kubernetes-apply.ts';
import { describeBuiltIn } from './kubernetes-built-in.ts';
import { describeLists } from './kubernetes-lists.ts';
import { describeObjects } from './kubernetes-objects.ts';
import { describeSchemas } from './kubernetes-schemas.ts';
import { describeWatches } from './kubernetes-watches.ts';
import type { ContractTest } from './kubernetes.ts';

/** A simulated kube-apiserver of its own for each test. */
const onFake: ContractTest = (name, body) => {
  test(name, () => {
    const random = randomOf(1);
    const clock = createVirtualClock(Date.UTC(2026, 0, 31, 12), random);
    const fake = createFakeKubernetes({ clock, network: createNetwork({ clock, random }), random });
    const loseHistory = async (): Promise<void> => {
      fake.compact();
      fake.service.kill();
      fake.service.start();
    };
    const run = async (): Promise<void> => {
      await fake.admin.request(
        {
          method: 'POST',
          path: '/api/v1/namespaces',
          body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'contract' } },
        },
        new AbortController().signal,
      );
      await body({ kubernetes: fake.client, name: 'contract', loseHistory });
    };
    return drive(clock, withClock(clock, run));
  });
};

describe('objects of the simulated kube-apiserver', () => {
  describeObjects(onFake);
});
describe('field managers of the simulated kube-apiserver', () => {
  describeFieldManagers(onFake);
});
describe('schemas of the simulated kube-apiserver', () => {
  describeSchemas(onFake);
});
describe('lists of the simulated kube-apiserver', () => {
  describeLists(onFake);
});
describe('watches of the simulated kube-apiserver', () => {
  describeWatches(onFake);
});
describe('built-in kinds of the simulated kube-apiserver', () => {
  describeBuiltIn(onFake);
});

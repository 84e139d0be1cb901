import { withClock } from '../../lab/clock.ts';
import { drive } from '../fakes/drive.ts';
import { createFakeKubernetes } from '../fakes/kubernetes/fake-kubernetes.ts';
import { randomOf } from '../faults/random.ts';
import { createVirtualClock } from '../simulator/clock.ts';
import { createNetwork } from '../simulator/network.ts';
import type { CsiCode, CsiMethod } from '../simulator/volumes/csi-driver.ts';
import { startStorage } from '../simulator/volumes/storage.ts';
import { installClasses, storageNames } from '../simulator/volumes/storage-classes.ts';
import { describeStorage, type StorageTest } from './storage.ts';

const { driver: name, classes, snapshotClass } = storageNames;

/** A simulated cluster of its own for each test. */
const onFake: StorageTest = (title, body) => {
  test(title, () => {
    const random = randomOf(1);
    const clock = createVirtualClock(Date.UTC(2026, 0, 31, 12), random);
    const kubernetes = createFakeKubernetes({ clock, network: createNetwork({ clock, random }), random });
    const storage = startStorage({ clock, random, kubernetes, drivers: [{ name }] });
    const driver = storage.driver(name);
    const handleOf = (volume: string): string =>
      (
        kubernetes.object('persistentvolumes', { name: volume }) as unknown as {
          spec: { csi: { volumeHandle: string } };
        }
      ).spec.csi.volumeHandle;
    const run = async (): Promise<void> => {
      installClasses(kubernetes);
      for (const namespace of ['one', 'two'])
        kubernetes.answer({
          method: 'POST',
          path: '/api/v1/namespaces',
          body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
        });
      await body({
        kubernetes: kubernetes.client,
        namespaces: ['one', 'two'],
        driver: name,
        classes,
        snapshotClass,
        read: async (volume) => driver.read(handleOf(volume)),
        write: async (volume, content) => driver.write(handleOf(volume), content),
        has: async (handle) => [...driver.volumes, ...driver.snapshots].some(({ id }) => id === handle),
        fail: async (method, code, times = 1) => driver.fail(method as CsiMethod, { code: code as CsiCode, times }),
        delay: async (method, ms) => driver.delay(method as CsiMethod, ms),
      });
    };
    return drive(clock, withClock(clock, run));
  });
};

describe('storage of the simulated cluster', () => {
  describeStorage(onFake);
});

import type { Kubernetes, KubernetesRequest } from '../runtime/kubernetes/kubernetes.ts';
import { refusalFailure } from '../runtime/kubernetes/kubernetes-faults.ts';
import { createLogger } from '../runtime/telemetry/logging.ts';
import { drive } from '../test/fakes/drive.ts';
import { randomOf } from '../test/faults/random.ts';
import { createVirtualClock } from '../test/simulator/clock.ts';
import { startReflector } from './reflector.ts';

const log = createLogger({ level: 'error', component: 'test' });
const settings = {
  pageSize: 500,
  watchSeconds: { min: 300, max: 600 },
  idleMs: 150_000,
  backOff: { initialMs: 800, factor: 2, maxMs: 30_000, jitter: 0 },
  backOffResetMs: 120_000,
};
const group = {
  apiVersion: 'vmoperator.vmware.com/v1alpha6',
  kind: 'VirtualMachineGroup',
  metadata: { namespace: 'team', name: 'g', uid: 'u', resourceVersion: '5', generation: 1 },
};

/** A kube-apiserver that serves the collection from a moment on. */
function serve(installedAtMs: number) {
  const clock = createVirtualClock(0, randomOf(1));
  const abort = new AbortController();
  const seen: string[] = [];
  const kubernetes = {
    async request({ path }: KubernetesRequest) {
      await clock.sleep(1);
      if (clock.nowMs < installedAtMs) throw refusalFailure(404, '404 page not found', `GET ${path}`);
      return { metadata: { resourceVersion: '5' }, items: [group] };
    },
    async stream(_: KubernetesRequest, signal: AbortSignal) {
      await clock.sleep(3_600_000, signal);
      throw new Error('the watch has ended');
    },
  } as unknown as Kubernetes;
  const start = (optional: boolean) =>
    startReflector({
      kubernetes,
      path: '/apis/vmoperator.vmware.com/v1alpha6/virtualmachinegroups',
      optional,
      settings,
      keep: ({ metadata: { uid, resourceVersion, name } }) => ({ uid, resourceVersion, name }),
      onDelta: ({ type, after }, relisted) => void seen.push(`${type} ${after.name} ${relisted ? 'relisted' : ''}`),
      onSynced: () => void seen.push('synced'),
      clock,
      random: () => 0,
      log,
      abort: abort.signal,
    });
  const stop = async (done: Promise<void>): Promise<void> => {
    abort.abort();
    await done;
  };
  return { clock, seen, start, stop };
}

test('a kind that others bring along is empty until it is served, and followed from then on', async () => {
  const { clock, seen, start, stop } = serve(40_000);
  await drive(
    clock,
    (async () => {
      const reflector = start(true);
      await clock.sleep(10_000);
      expect([seen, reflector.state()]).toMatchObject([['synced'], { synced: true, objects: 0, error: null }]);
      await clock.sleep(60_000);
      expect([seen, reflector.state()]).toMatchObject([
        ['synced', 'added g relisted'],
        { objects: 1, error: null, watches: 0 },
      ]);
      await stop(reflector.done);
    })(),
  );
});

test('any other kind has to be served', async () => {
  const { clock, seen, start, stop } = serve(40_000);
  await drive(
    clock,
    (async () => {
      const reflector = start(false);
      await clock.sleep(10_000);
      expect([seen, reflector.state()]).toMatchObject([
        [],
        { synced: false, error: expect.stringContaining('does not know') },
      ]);
      await clock.sleep(60_000);
      expect(seen).toEqual(['synced']);
      await stop(reflector.done);
    })(),
  );
});

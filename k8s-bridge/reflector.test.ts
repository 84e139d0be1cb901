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

const at = (resourceVersion: number) => ({
  metadata: { ...group.metadata, name: `g${resourceVersion}`, resourceVersion: String(resourceVersion) },
});

/** A kube-apiserver at a version, which takes a watch of any, and says in it only what a test has it say. */
function serveAt(version: number) {
  const clock = createVirtualClock(0, randomOf(1));
  const abort = new AbortController();
  const server = { version };
  const calls: string[] = [];
  let said: Uint8Array[] = [];
  let isCut = false;
  const kubernetes = {
    async request({ query }: KubernetesRequest) {
      await clock.sleep(1);
      calls.push(query?.['limit'] === 1 ? 'ask' : 'list');
      return { metadata: { resourceVersion: String(server.version) }, items: [at(server.version)] };
    },
    async stream({ query }: KubernetesRequest, signal: AbortSignal) {
      await clock.sleep(1);
      calls.push(`watch ${query?.['resourceVersion']}`);
      isCut = false;
      return (async function* () {
        for (;;) {
          await clock.sleep(1_000, signal);
          yield* said.splice(0);
          if (isCut) throw new Error('cut');
        }
      })();
    },
  } as unknown as Kubernetes;
  const follow = async (during: (reflector: ReturnType<typeof startReflector>) => Promise<void>): Promise<void> => {
    const reflector = startReflector({
      kubernetes,
      path: '/apis/vmoperator.vmware.com/v1alpha6/virtualmachinegroups',
      settings,
      keep: ({ metadata: { uid, resourceVersion, name } }) => ({ uid, resourceVersion, name }),
      onDelta: () => undefined,
      onSynced: () => undefined,
      clock,
      random: () => 0,
      log,
      abort: abort.signal,
    });
    await clock.sleep(5_000);
    await during(reflector);
    abort.abort();
    await reflector.done;
  };
  const say = (type: string, object: object): void =>
    void said.push(Buffer.from(`${JSON.stringify({ type, object })}\n`));
  return {
    server,
    calls,
    say,
    cut: () => void (isCut = true),
    sleep: (ms: number) => clock.sleep(ms),
    run: (during: Parameters<typeof follow>[0]) => drive(clock, follow(during)),
  };
}

const named = ({ objects }: ReturnType<typeof startReflector>) => [...objects()].map(({ name }) => name);

test('a server that was restored while a watch went on: once it was silent for long, all is listed anew', async () => {
  const { server, calls, sleep, run } = serveAt(50);
  await run(async (reflector) => {
    server.version = 20;
    await sleep(settings.idleMs - 10_000);
    expect(calls).toEqual(['list', 'watch 50']);
    await sleep(20_000);
    expect(calls).toEqual(['list', 'watch 50', 'ask', 'list', 'watch 20']);
    expect(named(reflector)).toEqual(['g20']);
    expect(reflector.state()).toMatchObject({ lists: 2, error: null });
  });
});

test('a server that was restored and cut its connections: all is listed anew at once', async () => {
  const { server, calls, cut, sleep, run } = serveAt(50);
  await run(async () => {
    server.version = 20;
    cut();
    await sleep(20_000);
    expect(calls).toEqual(['list', 'watch 50', 'ask', 'list', 'watch 20']);
  });
});

test('a connection that broke: the watch goes on where the server has what was seen', async () => {
  const { server, calls, say, cut, sleep, run } = serveAt(50);
  await run(async (reflector) => {
    say('MODIFIED', at(60));
    cut();
    server.version = 9_000;
    await sleep(20_000);
    expect(calls).toEqual(['list', 'watch 50', 'ask', 'watch 60']);
    expect(reflector.state()).toMatchObject({ lists: 1, error: null });
  });
});

test.each(['MODIFIED', 'BOOKMARK'])('%s of a version before what was seen: all is listed anew', async (type) => {
  const { server, calls, say, sleep, run } = serveAt(100);
  await run(async (reflector) => {
    say('BOOKMARK', at(100));
    await sleep(5_000);
    server.version = 99;
    say(type, at(99));
    await sleep(5_000);
    expect(calls).toEqual(['list', 'watch 100', 'list', 'watch 99']);
    expect(named(reflector)).toEqual(['g99']);
  });
});

test.each([429, 503])(
  'a watch that ended with %i: the server is asked for its version before it goes on',
  async (code) => {
    const { server, calls, say, sleep, run } = serveAt(50);
    await run(async (reflector) => {
      say('ERROR', { code, message: 'busy' });
      server.version = 20;
      await sleep(20_000);
      expect(calls).toEqual(['list', 'watch 50', 'ask', 'list', 'watch 20']);
      expect(reflector.state()).toMatchObject({ lists: 2, error: null });
    });
  },
);

test('a watch that was opened is no contact yet', async () => {
  const { calls, say, sleep, run } = serveAt(50);
  await run(async (reflector) => {
    const listed = reflector.state().lastContact;
    say('ERROR', { code: 429, message: 'busy' });
    await sleep(10_000);
    expect(calls).toEqual(['list', 'watch 50', 'ask', 'watch 50']);
    const asked = reflector.state().lastContact;
    expect(asked).not.toBe(listed);
    expect(reflector.state().error).toBeNull();
    await sleep(20_000);
    expect(reflector.state().lastContact).toBe(asked);
    say('BOOKMARK', at(50));
    await sleep(5_000);
    expect(reflector.state().lastContact).not.toBe(asked);
  });
});

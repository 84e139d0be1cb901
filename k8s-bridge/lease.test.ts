import { droverFailure } from '../runtime/failure.ts';
import type { Kubernetes, KubernetesRequest } from '../runtime/kubernetes/kubernetes.ts';
import { createLogger } from '../runtime/telemetry/logging.ts';
import { unlessAborted } from '../runtime/unless-aborted.ts';
import { drive } from '../test/fakes/drive.ts';
import { randomOf } from '../test/faults/random.ts';
import { createVirtualClock } from '../test/simulator/clock.ts';
import { decideLease, type Lease, type LeaseSettings, seeLease, type SeenLease, startLease } from './lease.ts';
import { defaultBridgeTimings } from './run-bridge.ts';

const lease = (holder: string | null, sinceMs: number): SeenLease => ({
  holder,
  sinceMs,
  durationMs: 15_000,
  transitions: 0,
  resourceVersion: '1',
});

test.each([
  ['there is none', null, 'create'],
  ['it is mine', lease('me', 0), 'renew'],
  ['it is mine, and old', lease('me', -99_000), 'renew'],
  ['another’s, renewed just now', lease('other', 100_000), 'wait'],
  ['another’s, and it has not moved for nearly its duration', lease('other', 85_001), 'wait'],
  ['another’s, and it has not moved for its duration', lease('other', 85_000), 'take'],
  ['without a holder', lease(null, 100_000), 'take'],
])('%s', (_why, seen, move) => {
  expect(decideLease(seen, 'me', 100_000)).toBe(move);
});

const body = (resourceVersion: string, spec?: object) => ({ metadata: { resourceVersion }, ...(spec && { spec }) });

test.each([
  [
    'the first time',
    null,
    body('1', { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 3 }),
    { holder: 'a', durationMs: 15_000, transitions: 3, sinceMs: 50 },
  ],
  [
    'it did not move: whatever its renewTime says, it is as old as it looks from here',
    lease('a', 10),
    body('1', { holderIdentity: 'a', leaseDurationSeconds: 15 }),
    { sinceMs: 10 },
  ],
  ['it moved', lease('a', 10), body('2', { holderIdentity: 'a', leaseDurationSeconds: 15 }), { sinceMs: 50 }],
  ['released', null, body('1', { holderIdentity: '', leaseDurationSeconds: 1 }), { holder: null, durationMs: 1_000 }],
  ['empty', null, body('1'), { holder: null }],
])('seen: %s', (_why, before, answer, expected) => {
  expect(seeLease(before, answer, 50)).toMatchObject(expected);
});

test.each([null, '', {}, { metadata: {} }, body('1', { leaseDurationSeconds: 'long' })])(
  'what is no Lease is a failure: %j',
  (answer) => {
    expect(() => seeLease(null, answer, 0)).toThrow(
      expect.objectContaining({ type: 'AnswerMalformed', message: expect.stringContaining('the Lease') }),
    );
  },
);

/** One Lease with the API server's precondition, that can be cut off per client. */
function serverOfOneLease() {
  let stored: { resourceVersion: number; spec: object } | null = null;
  const specs: { holderIdentity: string }[] = [];
  const client = (): { kubernetes: Kubernetes; cut: { off: boolean } } => {
    const cut = { off: false };
    const request = async ({ method, body }: KubernetesRequest, signal: AbortSignal): Promise<unknown> => {
      await Promise.resolve();
      signal.throwIfAborted();
      if (cut.off) throw droverFailure('KubernetesUnavailable', 'cut off');
      const given = body as { metadata: { resourceVersion?: string }; spec: { holderIdentity: string } } | undefined;
      if (method === 'GET' && stored === null) throw droverFailure('ObjectNotFound', 'no lease');
      if (given !== undefined) {
        if (
          (stored === null) !== (method === 'POST') ||
          (stored !== null && given.metadata.resourceVersion !== String(stored.resourceVersion))
        )
          throw droverFailure('ObjectConflict', 'conflict');
        stored = { resourceVersion: (stored?.resourceVersion ?? 0) + 1, spec: given.spec };
        specs.push(given.spec);
      }
      return { metadata: { resourceVersion: String(stored?.resourceVersion) }, spec: stored?.spec };
    };
    return { kubernetes: { request } as unknown as Kubernetes, cut };
  };
  return {
    client,
    specs,
    take: (holderIdentity: string) =>
      void (stored = {
        resourceVersion: (stored?.resourceVersion ?? 0) + 1,
        spec: { holderIdentity, leaseDurationSeconds: 15 },
      }),
  };
}

const log = createLogger({ level: 'error', component: 'test' });
const random = randomOf(1);
const clock = createVirtualClock(0, random);
const until = async (fact: () => boolean): Promise<void> => {
  for (const endMs = clock.nowMs + 10_000; !fact();) {
    if (clock.nowMs > endMs) throw new Error(`never: ${String(fact)}`);
    await clock.sleep(5);
  }
};
/** Participants live in virtual time. */
const inTime = (body: () => Promise<void>) => (): Promise<void> => drive(clock, body());

interface Participant extends Lease {
  events: string[];
  stop(): Promise<void>;
}

function participant(
  kubernetes: Kubernetes,
  identity: string,
  events: string[] = [],
  settings: Partial<LeaseSettings> = {},
): Participant {
  const stopping = new AbortController();
  const started = startLease({
    kubernetes,
    namespace: 'ns',
    name: 'lease',
    identity,
    settings: { durationMs: 1_000, renewDeadlineMs: 200, retryMs: 30, ...settings },
    onAcquired: () => events.push(`${identity} acquired`),
    onLost: () => events.push(`${identity} lost`),
    clock,
    random,
    log,
    abort: stopping.signal,
  });
  const stop = (): Promise<void> => {
    stopping.abort();
    return started.done;
  };
  return { ...started, events, stop };
}

test(
  'one holds, the other waits and takes over at once when it is released',
  inTime(async () => {
    const server = serverOfOneLease();
    const events: string[] = [];
    // Good for longer than any test waits here: only its release makes way.
    const forLong = { durationMs: 600_000 };
    const a = participant(server.client().kubernetes, 'a', events, forLong);
    await until(() => a.held());
    const b = participant(server.client().kubernetes, 'b', events, forLong);
    await until(() => b.holder() === 'a');
    await a.stop();
    await until(() => b.held());
    expect(events).toEqual(['a acquired', 'b acquired']);
    await b.stop();
    expect(server.specs.at(-1)).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  }),
);

test(
  'it is released also when a renewal was under way and its answer never came',
  inTime(async () => {
    const server = serverOfOneLease();
    const { kubernetes } = server.client();
    let answers = true;
    const request: Kubernetes['request'] = async (given, signal) => {
      const answer = await kubernetes.request(given, signal);
      if (
        answers ||
        given.method !== 'PUT' ||
        (given.body as { spec: { holderIdentity: string } }).spec.holderIdentity === ''
      )
        return answer;
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    };
    const a = participant({ request } as unknown as Kubernetes, 'a');
    await until(() => a.held());
    answers = false;
    const renewals = server.specs.length;
    await until(() => server.specs.length > renewals);
    await a.stop();
    expect(server.specs.at(-1)).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  }),
);

test(
  'a holder that is cut off stops before the other starts, and comes back as the one who waits',
  inTime(async () => {
    const server = serverOfOneLease();
    const events: string[] = [];
    const { kubernetes, cut } = server.client();
    const a = participant(kubernetes, 'a', events);
    await until(() => a.held());
    const b = participant(server.client().kubernetes, 'b', events);
    await until(() => b.holder() === 'a');
    cut.off = true;
    await until(() => b.held());
    cut.off = false;
    await until(() => a.holder() === 'b' && a.error() === null);
    expect(events).toEqual(['a acquired', 'a lost', 'b acquired']);
    await Promise.all([a.stop(), b.stop()]);
  }),
);

test(
  'a holder whose Lease another bridge took stops at its next renewal',
  inTime(async () => {
    const server = serverOfOneLease();
    const a = participant(server.client().kubernetes, 'a');
    await until(() => a.held());
    server.take('thief');
    await until(() => !a.held());
    expect(a.holder()).toBe('thief');
    expect(a.events).toEqual(['a acquired', 'a lost']);
    await a.stop();
  }),
);

test(
  'without an answer no bridge holds it, and the reason is told',
  inTime(async () => {
    const { kubernetes, cut } = serverOfOneLease().client();
    cut.off = true;
    const a = participant(kubernetes, 'a');
    await until(() => a.error() !== null);
    expect(a.held()).toBe(false);
    expect(a.error()).toContain('cut off');
    await a.stop();
  }),
);

const minuteMs = 60_000;
const never = new AbortController().signal;

/** Each answer takes so long, and a request that is given up is carried out all the same. */
const slowed = (kubernetes: Kubernetes, takesMs: (request: KubernetesRequest) => number): Kubernetes => {
  const request: Kubernetes['request'] = (given, signal) => {
    const answer = async (): Promise<unknown> => {
      const halfMs = takesMs(given) / 2;
      await clock.sleep(halfMs);
      const answered = await kubernetes.request(given, never);
      await clock.sleep(halfMs);
      return answered;
    };
    return unlessAborted(answer(), signal);
  };
  return { request } as unknown as Kubernetes;
};

test.each<[why: string, takesMs: (request: KubernetesRequest) => number]>([
  ['1.8 s', () => 1_800],
  ['3 s', () => 3_000],
  ['9 s', () => 9_000],
  ['9 s to write, and none to read', ({ method }) => (method === 'GET' ? 10 : 9_000)],
  ['4 s now and then', () => (clock.nowMs % 30_000 < 10_000 ? 4_000 : 100)],
])('one bridge holds it, and goes on to, while each request takes %s', (_takes, takesMs) =>
  inTime(async () => {
    const server = serverOfOneLease();
    const events: string[] = [];
    const started = ['a', 'b'].map((identity) =>
      participant(slowed(server.client().kubernetes, takesMs), identity, events, defaultBridgeTimings.lease),
    );
    await clock.sleep(2 * minuteMs);
    const holder = started.find((one) => one.held());
    expect(holder).toBeDefined();
    events.length = 0;
    await clock.sleep(10 * minuteMs);
    expect([events, holder?.held()]).toEqual([[], true]);
    await Promise.all(started.map((one) => one.stop()));
  })(),
);

/** A bridge that has held it for a minute, and how long each of its requests takes. */
async function holding() {
  const server = serverOfOneLease();
  const each = { takesMs: 10 };
  const kubernetes = slowed(server.client().kubernetes, () => each.takesMs);
  const a = participant(kubernetes, 'a', [], defaultBridgeTimings.lease);
  await clock.sleep(minuteMs);
  return { server, each, a };
}

test(
  'a server that becomes slow costs the Lease once at most, and one that is fast again is waited for no longer',
  inTime(async () => {
    const { server, each, a } = await holding();
    each.takesMs = 9_000;
    await clock.sleep(10 * minuteMs);
    expect([a.events, a.held()]).toEqual([['a acquired', 'a lost', 'a acquired'], true]);
    each.takesMs = 10;
    await clock.sleep(2 * minuteMs);
    expect(server.specs.at(-1)).toMatchObject({ leaseDurationSeconds: 8 });
    await a.stop();
  }),
);

test(
  'a holder keeps it though a connection dies without a word',
  inTime(async () => {
    const { each, a } = await holding();
    // One renewal, as the next is on another connection.
    each.takesMs = 10 * minuteMs;
    await clock.sleep(1_800);
    each.takesMs = 10;
    await clock.sleep(minuteMs);
    expect([a.events, a.held()]).toEqual([['a acquired'], true]);
    await a.stop();
  }),
);

test(
  'a holder keeps it though a renewal that it gave up is carried out',
  inTime(async () => {
    const server = serverOfOneLease();
    const { kubernetes } = server.client();
    let takesMs = 0;
    const late = (async (request: KubernetesRequest, signal: AbortSignal): Promise<unknown> => {
      // It is carried out, whether or not its answer is waited for.
      const answer = kubernetes.request(request, never);
      answer.catch(() => undefined);
      await clock.sleep(request.method === 'PUT' ? takesMs : 10, signal);
      return await answer;
    }) as Kubernetes['request'];
    const a = participant({ request: late } as Kubernetes, 'a', [], defaultBridgeTimings.lease);
    await clock.sleep(minuteMs);
    takesMs = 10 * minuteMs;
    const before = server.specs.length;
    await until(() => server.specs.length > before);
    await clock.sleep(10);
    takesMs = 10;
    await clock.sleep(minuteMs);
    expect([a.events, a.held()]).toEqual([['a acquired'], true]);
    await a.stop();
  }),
);

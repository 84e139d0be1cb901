import { createEvictionObjectActivities } from '../../activities/kubernetes/eviction/activities.ts';
import type { EvictionObjectDependencies } from '../../activities/kubernetes/eviction/dependencies.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { EvictionReport } from '../../contracts/eviction/activities.ts';
import type { EvictionInput } from '../../contracts/eviction/eviction.ts';
import { kindTable } from '../../contracts/kinds/table.ts';
import { labClock } from '../../lab/clock.ts';
import { configSchema, evictionSettings } from '../../runtime/config/config-schema.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import type { Stop } from '../../runtime/stop.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';
import { untilOver } from '../fixtures/activities/attempts.ts';
import { until } from '../flows/until.ts';
import { type ObjectAccess, type ObjectsTest, type Reference, interrupted, objectAccess } from './object-activities.ts';

/** Where the node agents' Migration objects are, by default. */
const migrationNamespace = 'monsoon3';

const ref = (name: string): Reference => ({ apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', metadata: { name } });

interface Worker extends Partial<EvictionObjectDependencies> {
  runId?: string;
  workflowId?: string;
}

/** The activities on Evictions. */
export function describeEvictionObjects(declare: ObjectsTest): void {
  let worker: Kubernetes;
  let objects: ObjectAccess;
  let host = '';
  let warnings: string[] = [];
  let audited: AuditEntry[] = [];
  let signalled: [hypervisor: string, startedBy: string | null][] = [];

  const test = (name: string, body: () => Promise<void>): void =>
    declare(name, async (counterpart) => {
      ({ worker } = counterpart);
      objects = objectAccess(counterpart.admin);
      host = `object-${counterpart.number}`;
      [warnings, audited, signalled] = [[], [], []];
      await body();
    });

  const activities = ({ runId = 'run-1', workflowId = `eviction/${host}`, ...rest }: Worker = {}) =>
    createEvictionObjectActivities({
      client: openObjects(worker),
      settings: evictionSettings(configSchema.parse({}), 'RegionOne'),
      mode: 'act',
      migrationNamespace,
      signalWithStartEviction: async (...args) => void signalled.push(args),
      findStop: async () => undefined,
      audit: { record: async (entry) => void audited.push(entry) },
      clock: labClock(),
      scope: () => ({
        signal: new AbortController().signal,
        deadlineMs: labClock().now() + 60_000,
        heartbeatDetails: undefined,
        run: { workflowId, runId },
        heartbeat: () => undefined,
        scheduledMs: labClock().now(),
        waitedMs: 0,
        warn: (message) => void warnings.push(message),
      }),
      ...rest,
    });

  const open = (input: Partial<EvictionInput> = {}, serving: string | null = null, worker: Worker = {}) =>
    activities(worker).openEviction({ hypervisor: host, ...input }, serving);

  /** @throws when there is nothing to serve */
  async function serve(...args: Parameters<typeof open>) {
    const opened = await open(...args);
    if (opened.kind !== 'run') throw new Error(`the run was told ${opened.kind}`);
    return opened;
  }

  const create = (annotations: Record<string, string> = {}, name = host) =>
    objects.create({ ...ref(name), metadata: { name, annotations }, spec: { hypervisor: host, reason: 'test' } });

  const read = (name = host): Promise<Eviction> => objects.read<Eviction>(ref(name));

  const evictions = async (): Promise<Eviction[]> =>
    (await objects.list<Eviction>(ref(''))).filter(({ spec }) => spec.hypervisor === host);

  const evicting = async (name = host) => findCondition((await read(name)).status?.conditions, 'Evicting');

  const setStatus = (conditions: object[], name = host) => objects.mergeStatus(ref(name), { conditions });
  const annotate = (annotations: Record<string, string | null>) =>
    objects.merge(ref(host), { metadata: { annotations } });

  const condition = (type: string, status: string, reason: string, observedGeneration = 1) => ({
    type,
    status,
    reason,
    message: 'words',
    observedGeneration,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });

  async function reportOf(name = host, change: Partial<EvictionReport> = {}): Promise<EvictionReport> {
    const { metadata } = await read(name);
    return {
      name,
      uid: metadata.uid,
      conditions: [
        {
          type: 'Evicting',
          status: 'True',
          reason: 'Running',
          message: '1 of 2',
          observedGeneration: metadata.generation,
        },
      ],
      hypervisorId: 'hypervisor-1',
      outstandingInstances: ['i-1'],
      outstandingRamMb: 512,
      events: [{ type: 'Normal', reason: 'Disabled', message: `Disabled ${host}` }],
      releaseFinalizer: false,
      ...change,
    };
  }

  const eventsOf = async (uid: string): Promise<{ reason: string; note: string }[]> => {
    const all = await objects.list<{ reason: string; note: string; regarding: { uid: string } }>(
      { apiVersion: 'events.k8s.io/v1', kind: 'Event' },
      'default',
    );
    return all.filter(({ regarding }) => regarding.uid === uid).map(({ reason, note }) => ({ reason, note }));
  };

  const setNode = async (bootID: string, ready: 'True' | 'False'): Promise<void> => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: host } };
    await objects.apply(node);
    await objects.mergeStatus(node, { nodeInfo: { bootID }, conditions: [{ type: 'Ready', status: ready }] });
  };

  describe('a run started by hand', () => {
    const asked: Partial<EvictionInput> = {
      reason: 'new firmware',
      cause: 'rolling-update',
      parallelism: 4,
      consent: ['cold-migrate'],
      startedBy: 'jane',
    };

    test('makes the Eviction, says who asked, and serves it', async () => {
      const labels = { 'topology.kubernetes.io/zone': 'zone-a', 'example.com/other': 'x' };
      await objects.create({
        apiVersion: 'kvm.cloud.sap/v1',
        kind: 'Hypervisor',
        metadata: { name: host, labels },
        spec: {},
      });
      await setNode('boot-1', 'True');

      expect(await serve(asked)).toMatchObject({
        desired: {
          name: host,
          hypervisor: host,
          reason: 'new firmware',
          cause: 'rolling-update',
          parallelism: 4,
          consent: ['cold-migrate'],
          startedBy: 'jane',
          mode: 'act',
          deleting: false,
        },
        settings: { region: 'RegionOne', perSource: 1 },
        bootId: 'boot-1',
      });
      const { metadata } = await read();
      expect(metadata.labels).toEqual({ 'topology.kubernetes.io/zone': 'zone-a' });
      expect(metadata.annotations).toMatchObject({
        'drover.dev/consent-by': expect.stringMatching(/^jane 20/u),
        'drover.dev/run-id': 'run-1',
        'drover.dev/boot-id': 'boot-1',
      });
      expect(metadata.finalizers).toEqual(['drover.dev/eviction']);
      expect(await evicting()).toMatchObject({ status: 'True', reason: 'Running', observedGeneration: 1 });
      expect(audited).toMatchObject([
        { action: 'createEviction', object: `eviction/${host}`, actor: 'jane', run: { runId: 'run-1' } },
      ]);
    });

    test('finds its own Eviction when its answer was lost, and changes nothing', async () => {
      await serve(asked);
      const [before] = await evictions();
      await serve(asked);
      expect(await evictions()).toEqual([before]);
    });

    test('does not make a second one when the first has ended', async () => {
      await serve(asked);
      await setStatus([condition('Evicting', 'False', 'Succeeded')]);
      expect(await open(asked)).toEqual({ kind: 'nothing' });
      expect(await evictions()).toHaveLength(1);
    });

    test('takes another name where an old Eviction has the first', async () => {
      await create();
      await setStatus([condition('Evicting', 'False', 'Succeeded')]);
      expect(await serve(asked)).toMatchObject({
        desired: { name: expect.stringMatching(new RegExp(`^${host}-[0-9a-f]{8}$`, 'u')) },
      });
      expect(await evictions()).toHaveLength(2);
    });

    test('hands over when it has another id', async () => {
      const worker = { workflowId: 'my-eviction', runId: 'run-by-hand' };
      expect(await open(asked, null, worker)).toEqual({
        kind: 'handedOver',
        workflowId: `eviction/${host}`,
        eviction: host,
      });
      expect(signalled).toEqual([[host, 'jane']]);
      expect((await read()).metadata.finalizers).toBeUndefined();
      expect(await serve({}, null, { runId: 'run-of-the-host' })).toMatchObject({
        desired: { reason: 'new firmware' },
      });
    });

    const mistakes: [why: string, input: object, words: string][] = [
      ['without a reason', { parallelism: 2 }, 'reason: must not be empty'],
      ['with an empty reason', { reason: '' }, 'reason: must not be empty'],
      ['with an unknown field', { reason: 'r', hosts: ['a'] }, 'hosts: unknown field'],
      ['with absurd limits', { reason: 'r', parallelism: 10_000 }, 'parallelism: must be from 1 to 64'],
    ];
    for (const [why, input, words] of mistakes) {
      test(`${why} starts nothing`, async () => {
        await expect(open(input as Partial<EvictionInput>)).rejects.toMatchObject({
          type: 'InvalidInput',
          message: expect.stringContaining(words),
        });
        expect(await evictions()).toEqual([]);
      });
    }
  });

  describe('a run that the bridge started', () => {
    test('finds nothing where nothing is open', async () => {
      expect(await open()).toEqual({ kind: 'nothing' });
    });

    test('lets the second Eviction of a host wait, and serves it afterwards', async () => {
      await create();
      await create({}, `${host}-b`);
      const { desired } = await serve();
      expect(desired.name).toBe(host);
      expect(await evicting(`${host}-b`)).toMatchObject({
        status: 'Unknown',
        reason: 'AlreadyRunning',
        message: expect.stringContaining(`Eviction ${host} empties ${host}`),
      });
      await activities().publishEviction(
        await reportOf(host, {
          conditions: [
            { type: 'Evicting', status: 'False', reason: 'Succeeded', message: 'done', observedGeneration: 1 },
          ],
          releaseFinalizer: true,
        }),
      );
      expect((await serve()).desired.name).toBe(`${host}-b`);
    });

    test('says in the Eviction what is wrong with it, and looks again when that is corrected', async () => {
      await create({ 'drover.dev/deadline': 'soon' });
      await expect(open()).rejects.toMatchObject({ type: 'InvalidObject', nonRetryable: true });
      expect(await evicting()).toMatchObject({
        status: 'False',
        reason: 'InvalidObject',
        message: expect.stringContaining('drover.dev/deadline: `soon` is no RFC 3339 time'),
        observedGeneration: 1,
      });
      expect((await read()).metadata.finalizers).toBeUndefined();
      expect(kindTable.Eviction.isReconciled(await read(), 'act')).toBe(true);
      await annotate({ 'drover.dev/deadline': null });
      expect((await serve()).desired.name).toBe(host);
    });

    test('refuses a dead host, and says so', async () => {
      await create({ 'drover.dev/eviction-cause': 'node-failure' });
      await expect(open()).rejects.toMatchObject({ type: 'CauseNotSupported' });
      expect(await evicting()).toMatchObject({
        status: 'False',
        reason: 'CauseNotSupported',
        message: expect.stringContaining('cannot be emptied by live migration'),
      });
    });

    test('does nothing while drover is switched off, and takes up the Eviction later', async () => {
      await create();
      await expect(open({}, null, { mode: 'off' })).rejects.toMatchObject({ type: 'ModeOff' });
      expect(await evicting()).toMatchObject({ status: 'Unknown', reason: 'ModeOff' });
      expect((await serve()).desired.name).toBe(host);
    });

    test('leaves the words of the replaced operator alone where it observes', async () => {
      await create();
      // The replaced operator sets no generation.
      const { observedGeneration: _, ...theirs } = condition('Evicting', 'True', 'Running');
      await setStatus([theirs]);
      const observer = { mode: 'observe' } as const;
      expect((await serve({}, null, observer)).desired.mode).toBe('observe');
      const report = await reportOf(host, {
        conditions: [
          { type: 'Evicting', status: 'False', reason: 'Observed', message: 'would move 2', observedGeneration: 1 },
        ],
        releaseFinalizer: true,
      });
      await activities(observer).publishEviction(report);
      const eviction = await read();
      expect(eviction.status).toEqual({
        outstandingRamMb: 0,
        conditions: [theirs, expect.objectContaining({ type: 'Observed', status: 'True', message: 'would move 2' })],
      });
      expect(eviction.metadata.finalizers).toBeUndefined();
      expect(kindTable.Eviction.isReconciled(eviction, 'observe')).toBe(true);
    });

    test('takes back that it runs where it is told to observe before it holds the Eviction', async () => {
      await create();
      // The first write of a run whose second one comes too late.
      await setStatus([condition('Evicting', 'True', 'Running')]);
      await annotate({ 'drover.dev/mode': 'observe' });
      expect((await serve()).desired.mode).toBe('observe');
      const { metadata, status } = await read();
      expect(status?.conditions?.map(({ type, status: is }) => `${type} ${is}`)).toEqual(['Observed Unknown']);
      expect(metadata.finalizers).toBeUndefined();
    });

    test('ends in its own words what it began before it was told to observe', async () => {
      await create();
      await serve();
      await annotate({ 'drover.dev/mode': 'observe' });
      const ended = {
        type: 'Evicting',
        status: 'False',
        reason: 'Observed',
        message: 'would move 2',
        observedGeneration: 1,
      } as const;
      await activities().publishEviction(await reportOf(host, { conditions: [ended], releaseFinalizer: true }));
      expect(await evicting()).toMatchObject({ status: 'False', reason: 'Observed' });
      expect((await read()).metadata.finalizers).toBeUndefined();
    });

    test('begins a failed Eviction again when a user asks for a retry, once', async () => {
      await create();
      await serve();
      await activities().publishEviction(
        await reportOf(host, {
          conditions: [
            { type: 'Evicting', status: 'False', reason: 'Failed', message: 'no room', observedGeneration: 1 },
          ],
          releaseFinalizer: true,
        }),
      );
      expect(await open()).toEqual({ kind: 'nothing' });
      await annotate({ 'drover.dev/retry': '1' });
      await serve({}, null, { runId: 'run-2' });
      expect(await evicting()).toMatchObject({ status: 'True', reason: 'Running' });
      expect((await read()).metadata).toMatchObject({
        annotations: { 'drover.dev/retry-handled': '1', 'drover.dev/run-id': 'run-2' },
        finalizers: ['drover.dev/eviction'],
      });
      await activities().publishEviction(
        await reportOf(host, {
          conditions: [
            { type: 'Evicting', status: 'False', reason: 'Failed', message: 'no room', observedGeneration: 1 },
          ],
          releaseFinalizer: true,
        }),
      );
      expect(await open()).toEqual({ kind: 'nothing' });
    });

    test('takes up a retry that a user asks for while it is served', async () => {
      await create();
      const { desired } = await serve();
      await annotate({ 'drover.dev/retry': '1' });
      expect(await open({}, desired.uid)).toMatchObject({ kind: 'run', retry: '1' });
      expect((await read()).metadata.annotations).toMatchObject({ 'drover.dev/retry-handled': '1' });
    });

    test('remembers the boot id from when the eviction began', async () => {
      await create();
      await setNode('boot-1', 'True');
      await serve();
      await setNode('boot-2', 'True');
      expect((await serve({}, null, { runId: 'run-2' })).bootId).toBe('boot-1');
    });

    test('stays with its Eviction when that is deleted, until it lets it go', async () => {
      await create();
      const { desired } = await serve();
      await objects.remove(ref(host));
      expect((await serve({}, desired.uid)).desired.deleting).toBe(true);
      expect((await serve({}, null, { runId: 'after-a-crash' })).desired.deleting).toBe(true);
      const report = await reportOf(host, {
        conditions: [
          {
            type: 'Evicting',
            status: 'False',
            reason: 'Stopped',
            message: 'stopped',
            observedGeneration: desired.generation,
          },
        ],
        releaseFinalizer: true,
      });
      expect(await activities().publishEviction(report)).toMatchObject({ gone: false });
      expect(await objects.find(ref(host))).toBeNull();
      expect(await open({}, desired.uid)).toEqual({ kind: 'nothing' });
      expect(await activities().publishEviction(report)).toEqual({ migrations: {}, gone: true });
    });
  });

  describe('publishing', () => {
    test('writes what differs, and an event once', async () => {
      await create();
      await serve();
      const report = await reportOf();
      await activities().publishEviction(report);
      const written = await read();
      expect(written.status).toMatchObject({
        hypervisorServiceId: 'hypervisor-1',
        outstandingInstances: ['i-1'],
        outstandingRamMb: 512,
      });
      expect(await evicting()).toMatchObject({ message: '1 of 2' });

      await activities().publishEviction(report);
      expect((await read()).metadata.resourceVersion).toBe(written.metadata.resourceVersion);
      expect(await eventsOf(report.uid)).toEqual([{ reason: 'Disabled', note: `Disabled ${host}` }]);
      expect(warnings).toEqual([]);
    });

    test('keeps what another client wrote at the same moment', async () => {
      await create();
      await serve();
      const racing = interrupted(openObjects(worker), 'patchStatus', async () =>
        setStatus([...((await read()).status?.conditions ?? []), condition('Custom', 'True', 'Theirs')]),
      );
      await activities({ client: racing }).publishEviction(await reportOf());
      const { status } = await read();
      expect(status?.conditions?.map(({ type }) => type).sort()).toEqual(['Custom', 'Evicting']);
      expect(await evicting()).toMatchObject({ message: '1 of 2' });
    });

    test('writes nothing into another object of the same name', async () => {
      await create();
      const report = await reportOf(host, { uid: 'another' });
      expect(await activities().publishEviction(report)).toEqual({ migrations: {}, gone: true });
      expect((await read()).status).toBeUndefined();
    });

    test('reads back how far the migrations have come', async () => {
      await create();
      const { uid } = (await read()).metadata;
      const client = openObjects(worker);
      const key = { namespace: migrationNamespace, name: `of-${host}` };
      const { signal } = new AbortController();
      await client.apply(
        resources.Migration,
        { metadata: { ...key, labels: { 'drover.dev/eviction-uid': uid } }, spec: {} },
        signal,
      );
      await client.applyStatus(
        resources.Migration,
        key,
        {
          started: '2026-01-01T00:00:00Z',
          origin: host,
          destination: 'other',
          dataTotal: '4.0 GiB',
          dataRemaining: '1.0 GiB',
        },
        signal,
      );
      expect(await activities().publishEviction(await reportOf())).toEqual({
        gone: false,
        migrations: { [key.name]: { target: 'other', percent: 75 } },
      });
    });
  });

  describe('waiting', () => {
    test('ends when the stop is lifted', async () => {
      const stop: Stop = { of: 'all', name: '', by: 'jane', reason: '', at: '' };
      let looks = 0;
      const waiting = activities({ findStop: async () => ((looks += 1) < 3 ? stop : undefined) });
      const { delaysMs } = await untilOver(() => waiting.awaitStopLifted());
      expect(delaysMs).toEqual([10_000, 10_000]);
    });

    test('sees a node that comes back with another boot id and is Ready', async () => {
      let looks = 0;
      const { result, delaysMs } = await untilOver(async () => {
        looks += 1;
        await setNode(looks === 1 ? 'boot-1' : 'boot-2', looks === 2 ? 'False' : 'True');
        return await activities().awaitNodeReturned(host, 'boot-1', 60_000);
      });
      expect({ result, delaysMs }).toEqual({ result: true, delaysMs: [5_000, 5_000] });
    });

    test('gives up at its deadline', async () => {
      await setNode('boot-1', 'True');
      expect(await activities().awaitNodeReturned(host, 'boot-1', 0)).toBe(false);
      expect(await activities().awaitNodeReturned('no-such-node', null, 0)).toBe(false);
      await until('the same node to count where no boot id was known', 10_000, async () =>
        (await activities().awaitNodeReturned(host, null, 0)) ? true : 'not ready',
      );
    });
  });
}

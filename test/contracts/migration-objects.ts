import { createMigrationReporter, readMigration } from '../../activities/kubernetes/eviction/report-migration.ts';
import type { Migration } from '../../contracts/crds/migration.ts';
import type { Migration as NovaMigration } from '../../contracts/eviction/instance.ts';
import type { MigrationReport } from '../../contracts/eviction/migrate-instance.ts';
import { labClock } from '../../lab/clock.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { type ObjectAccess, type ObjectsTest, type Reference, objectAccess } from './object-activities.ts';

/** Where the node agents' Migration objects are, by default. */
const migrationNamespace = 'monsoon3';
const startedAt = '2026-01-01T00:00:00Z';
const GiB = 1024 ** 3;

const ref = (name: string): Reference => ({
  apiVersion: 'kvm.cloud.sap/v1alpha1',
  kind: 'Migration',
  metadata: { namespace: migrationNamespace, name },
});

/** The Migration objects that drover keeps beside the node agent. */
export function describeMigrationObjects(declare: ObjectsTest): void {
  let worker: Kubernetes;
  let objects: ObjectAccess;
  let warnings: string[] = [];
  const { signal } = new AbortController();

  const test = (name: string, body: () => Promise<void>): void =>
    declare(name, async (counterpart) => {
      ({ worker } = counterpart);
      objects = objectAccess(counterpart.admin);
      warnings = [];
      await body();
    });

  /** As another worker would begin: without memory of what was shown. */
  const reporter = (namespace = migrationNamespace) =>
    createMigrationReporter(openObjects(worker), namespace, (message) => warnings.push(message), labClock());

  const report = (instanceId: string, change: Partial<NovaMigration> = {}, uid = 'uid-1'): MigrationReport => ({
    subject: { instanceId, sourceHost: 'node-1', eviction: { name: 'node-1', uid }, attempt: 1 },
    migration: {
      id: 1,
      instanceId,
      type: 'live-migration',
      status: 'running',
      sourceHost: 'node-1',
      targetHost: 'node-2',
      memoryTotalBytes: 4 * GiB,
      memoryRemainingBytes: 3 * GiB,
      diskTotalBytes: null,
      diskRemainingBytes: null,
      createdAt: startedAt,
      ...change,
    },
    startedAt,
    message: null,
  });

  const read = (name: string): Promise<Migration> => objects.read<Migration>(ref(name));

  /** As the node agent writes: a merge patch of the status under its own name. */
  const writeAsAgent = (name: string, status: object): Promise<void> =>
    objects.mergeStatus(ref(name), status, 'kvm-node-agent');

  test('a report makes the object, the next ones keep it current', async () => {
    const show = reporter();
    await show(report('m-1'), signal);
    expect(await read('m-1')).toMatchObject({
      metadata: { labels: { 'drover.dev/eviction-uid': 'uid-1', 'drover.dev/host': 'node-1' } },
      status: {
        origin: 'node-1',
        destination: 'node-2',
        type: 'unbounded',
        operation: 'migration_out',
        started: startedAt,
        memRemaining: '3.0 GiB',
        dataProcessed: '1.0 GiB',
      },
    });
    await show(report('m-1', { status: 'completed' }), signal);
    const { status } = await read('m-1');
    expect(status).toMatchObject({ type: 'completed', memRemaining: '0 B' });
    expect(readMigration(status)).toEqual({ target: 'node-2', percent: 100 });
    expect(warnings).toEqual([]);
  });

  test('the next attempt leaves nothing of the last one behind', async () => {
    await reporter()({ ...report('m-2', { status: 'failed' }), message: 'no valid host' }, signal);
    expect((await read('m-2')).status?.errMsg).toBe('no valid host');
    await reporter()(
      { ...report('m-2', { targetHost: null, memoryTotalBytes: null }), startedAt: '2026-01-01T00:01:00Z' },
      signal,
    );
    expect((await read('m-2')).status).toEqual({
      origin: 'node-1',
      type: 'unbounded',
      operation: 'migration_out',
      started: '2026-01-01T00:01:00Z',
      timeElapsed: expect.any(String),
    });
  });

  test('an object of another eviction becomes this one’s', async () => {
    await reporter()(report('m-3'), signal);
    await reporter()(report('m-3', {}, 'uid-2'), signal);
    expect((await read('m-3')).metadata.labels).toMatchObject({ 'drover.dev/eviction-uid': 'uid-2' });
  });

  test('what the node agent wrote first stays its own', async () => {
    await objects.create({ ...ref('m-4'), spec: {} });
    await writeAsAgent('m-4', {
      origin: 'agent-1',
      started: '2025-12-31T23:59:59Z',
      memRemaining: '2.5 GiB',
      memBps: '1.0 GiB/s',
    });
    await reporter()(report('m-4'), signal);
    expect((await read('m-4')).status).toMatchObject({
      origin: 'agent-1',
      started: '2025-12-31T23:59:59Z',
      memRemaining: '2.5 GiB',
      memBps: '1.0 GiB/s',
      destination: 'node-2',
      dataTotal: '4.0 GiB',
    });
    expect(warnings).toEqual([]);
  });

  test('what the node agent takes over in the middle becomes its own, and is not fought for', async () => {
    const show = reporter();
    await show(report('m-5'), signal);
    await writeAsAgent('m-5', { memRemaining: '2.5 GiB', memIteration: 2 });
    await show(report('m-5', { status: 'post-migrating', memoryRemainingBytes: GiB, targetHost: 'node-3' }), signal);
    expect((await read('m-5')).status).toMatchObject({
      memRemaining: '2.5 GiB',
      memIteration: 2,
      destination: 'node-3',
      dataRemaining: '1.0 GiB',
    });
    await show(report('m-5', { status: 'completed', targetHost: 'node-3' }), signal);
    const migration = await read('m-5');
    expect(migration.status).toMatchObject({ type: 'completed', memRemaining: '2.5 GiB', dataRemaining: '0 B' });
    const owners = migration.metadata.managedFields
      ?.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('f:memRemaining'))
      .map(({ manager }) => manager);
    expect(owners).toEqual(['kvm-node-agent']);
  });

  test('a conflict that is not resolved is refused by kube-apiserver', async () => {
    await reporter()(report('m-6'), signal);
    await writeAsAgent('m-6', { memRemaining: '2.5 GiB' });
    const client = openObjects(worker);
    const applied = client.applyStatus(
      resources.Migration,
      { namespace: migrationNamespace, name: 'm-6' },
      { started: startedAt, memRemaining: '1.0 GiB' },
      signal,
    );
    await expect(applied).rejects.toMatchObject({ type: 'ObjectConflict' });
  });

  test('a namespace that is not there is a warning, not the end of a move', async () => {
    await reporter('nowhere')(report('m-7'), signal);
    expect(warnings).toEqual([expect.stringContaining('namespaces "nowhere" not found')]);
  });

  test('objects are found by their eviction', async () => {
    await reporter()(report('m-8', {}, 'uid-8'), signal);
    await reporter()(report('m-9', {}, 'uid-9'), signal);
    const found = await openObjects(worker).listValid(
      resources.Migration,
      { namespace: migrationNamespace, labelSelector: 'drover.dev/eviction-uid=uid-8' },
      signal,
    );
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['m-8']);
  });
}

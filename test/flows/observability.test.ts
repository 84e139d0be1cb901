import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { metrics } from '../../contracts/metrics.ts';
import { cacheDirectory } from '../../runtime/cache.ts';
import { releasePorts, reservePorts } from '../../lab/ports.ts';
import { checkInvariants } from '../invariants.ts';
import { readPanels, readRules, seriesIn, seriesOfTable } from '../metric-names.ts';
import type { Prometheus } from './prometheus.ts';
import { hasPrometheus, startPrometheus } from './prometheus.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs, quickSettings } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * What a Prometheus scrapes of drover at work, and which alerts that raises. Needs Debian's package `prometheus`;
 * skipped where it is missing.
 */
const describeWithPrometheus = hasPrometheus ? describe : describe.skip;

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/u;

/** Far above what the hurried rules wait for: what hangs here hangs until it is cancelled. */
const patient = { msPerGiB: 600_000, floorMs: 600_000, noProgressMs: 600_000, startMs: 600_000 };

describeWithPrometheus('Prometheus', () => {
  const dir = mkdtempSync(join(tmpdir(), 'drover-prometheus-'));
  const owner = { dir, cacheDir: cacheDirectory() };
  let world: World;
  let prometheus: Prometheus;
  let pages: Record<'worker' | 'bridge', string>;
  /** The pages after an eviction has ended; a restarted worker does not show it any more. */
  let shown: Record<'worker' | 'bridge', string>;
  const moves = 'node-1';
  const hangs = 'node-2';

  const read = async (process: 'worker' | 'bridge'): Promise<string> =>
    (await fetch(`http://${pages[process]}/metrics`, { signal: AbortSignal.timeout(5_000) })).text();
  const firing = async (): Promise<string[]> =>
    (await prometheus.alerts())
      .filter(({ state }) => state === 'firing')
      .map(({ labels }) => `${labels['alertname']} ${labels['host'] ?? ''}`.trim());

  beforeAll(async () => {
    const ports = await reservePorts({ ...owner, signal: AbortSignal.timeout(30_000) }, ['worker', 'prometheus']);
    const worker = `127.0.0.1:${ports.worker}`;
    world = await openWorld({
      settings: {
        ...quickSettings,
        eviction: { ...quickSettings.eviction, stuck: patient },
        worker: { healthAddress: worker },
        logLevel: 'debug',
      },
    });
    const { bridge } = parse(readFileSync(join(world.dir, 'drover.yaml'), 'utf8')) as {
      bridge: { healthAddress: string };
    };
    pages = { worker, bridge: bridge.healthAddress };
    prometheus = await startPrometheus(join(dir, 'prometheus'), ports.prometheus, pages);
  }, limitMs);

  afterAll(async () => {
    await prometheus?.stop();
    await world?.close();
    releasePorts(owner);
    rmSync(dir, { recursive: true, force: true });
  }, limitMs);

  test(
    'scrapes both processes, and every rule can be evaluated',
    async () => {
      await until('both to be up', 30_000, async () => {
        const up = (await prometheus.query('up')).filter(({ value }) => value === 1).map(({ labels }) => labels['job']);
        return up.length === 2 || `up: ${up.join(', ')}`;
      });
      await until('every rule to be evaluated', 30_000, async () => {
        const health = await prometheus.ruleHealth();
        return Object.values(health).every((one) => one === 'ok') || JSON.stringify(health);
      });
    },
    limitMs,
  );

  test(
    'an eviction that ends shows in every metric',
    async () => {
      await world.freshHost(moves, { seconds: 1 });
      const servers = await world.seedMany(moves, 3);
      // A Prometheus that gets no answer within a second for a while would not see them.
      for (const { id } of servers) await world.fleet.script(id, ['hang']);
      await world.createEviction(moves, { annotations: { 'drover.dev/parallelism': '2' } });
      await until('Prometheus to see how many servers are left', 60_000, async () => {
        const [left] = await prometheus.query(`drover_eviction_outstanding_instances{host="${moves}"}`);
        return (left?.value ?? 0) > 0 || `${left?.value ?? 'no series'}`;
      });
      for (const { id } of servers) await world.fleet.script(id, [{ migrate: 'ok', seconds: 1 }]);
      await world.untilReason(moves, 'Succeeded');
      await world.untilClosed(moves);

      shown = await until('the worker to show the run', 30_000, async () => {
        const metrics = { worker: await read('worker'), bridge: await read('bridge') };
        return metrics.worker.includes('result="reconciled"') ? metrics : 'no run yet';
      });
      const { worker, bridge } = shown;
      const described = (page: string): string[] =>
        [...page.matchAll(/^# TYPE (?<name>\S+)/gmu)].map(([, name = '']) => name);
      // No host fails here, none is taken away, no orphan is swept, and no volume is cloned.
      const { hostFailures, drainsHalfOver, sweepOrphans, sweepDeletions, sweepFailures, clones } = metrics;
      const elsewhere: readonly unknown[] = [
        hostFailures,
        drainsHalfOver,
        sweepOrphans,
        sweepDeletions,
        sweepFailures,
        clones,
      ];
      for (const { name, from } of Object.values(metrics).filter((one) => !elsewhere.includes(one))) {
        const found = from.map((process) => [
          process,
          described(process === 'bridge' ? bridge : worker).includes(name),
        ]);
        expect([name, found]).toEqual([name, from.map((process) => [process, true])]);
      }
      expect(worker).toMatch(/^drover_runs_total\{[^}]*kind="Eviction"[^}]*result="reconciled"[^}]*\} 1$/mu);
      expect(worker).toMatch(/^drover_runs_total\{[^}]*kind="Migration"[^}]*result="moved"[^}]*\} 3$/mu);
      expect(worker).toMatch(/^drover_migrations_total\{[^}]*outcome="completed"[^}]*\} 3$/mu);
      expect(worker).toMatch(
        /^drover_outside_calls_total\{system="nova",verb="POST \/servers\/\{id\}\/action os-migrateLive",outcome="ok"\} 3$/mu,
      );
      expect(worker).toMatch(/^drover_steps_total\{step="awaitMigration",outcome="completed"\} 3$/mu);
      expect(bridge).toMatch(/^drover_bridge_signal_seconds_count\{kind="Eviction"\} [1-9]/mu);
      // Reconciled, it disappears.
      await until(
        'the Eviction to be reconciled',
        30_000,
        async () => !(await read('bridge')).includes(`object="${moves}"`) || 'not yet',
      );
    },
    limitMs,
  );

  test('what dashboards and alerts ask of Temporal’s SDK and of Node is there', () => {
    const page = `${shown.worker}\n${shown.bridge}`;
    const queries = [
      ...readRules().map(({ expr }) => expr),
      ...readPanels().flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ].flatMap(seriesIn);
    const missing = new Set(
      queries.filter((name) => !seriesOfTable.has(name) && !new RegExp(`^${name}[ {]`, 'mu').test(page)),
    );
    expect([...missing]).toEqual([]);
  });

  test('no id of a server or of a run is a label, and promtool finds nothing to say', () => {
    for (const process of ['worker', 'bridge'] as const) {
      const page = shown[process];
      expect(page.split('\n').filter((line) => uuid.test(line))).toEqual([]);
      const ours = page.split('\n').filter((line) => /^(?:# (?:HELP|TYPE) )?drover_/u.test(line));
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: `${ours.join('\n')}\n`,
        encoding: 'utf8',
      });
      expect([process, status, `${stdout}${stderr}`]).toEqual([process, 0, '']);
    }
  });

  test('the log is JSON, line by line; a call of Nova names its run, its step and Nova’s own id of it', async () => {
    const lines = readFileSync(join(world.dir, 'log/worker.log'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'debug',
        component: 'worker',
        system: 'nova',
        verb: 'POST /servers/{id}/action os-migrateLive',
        outcome: 'ok',
        workflowId: expect.stringMatching(/^migration\//u),
        runId: expect.stringMatching(uuid),
        activityType: 'startLiveMigration',
        requestId: expect.stringMatching(/^req-/u),
      }),
    );
  });

  test(
    'an eviction in which everything hangs raises the alert for stuck evictions, and no other; paused, it does not',
    async () => {
      await world.freshHost(hangs);
      const [server] = await world.seed([{ name: `${hangs}-hangs`, host: hangs, migrate: 'hang' }]);
      await world.createEviction(hangs);
      await world.untilMoving(hangs);
      const alert = await until('the alert', 120_000, async () => {
        const alerts = await prometheus.alerts();
        return (
          alerts.find(({ state, labels }) => state === 'firing' && labels['alertname'] === 'DroverEvictionStuck') ??
          JSON.stringify(alerts)
        );
      });
      expect(alert.labels).toEqual({
        alertname: 'DroverEvictionStuck',
        severity: 'warning',
        object: hangs,
        host: hangs,
      });
      expect(alert.annotations).toMatchObject({
        description: `Eviction ${hangs} has 1 servers left on ${hangs}, and is not paused.`,
        type: `drover describe ${hangs}`,
      });
      expect(await firing()).toEqual([`DroverEvictionStuck ${hangs}`]);

      await world.command('pause', hangs);
      await until('the alert to be over', 60_000, async () => (await firing()).length === 0 || (await firing()).join());
      await world.command('cancel', hangs, '--abort');
      await world.untilClosed(hangs);
      world.expectServer(server!.id, 'ACTIVE');
    },
    limitMs,
  );

  test(
    'a worker that is gone raises the alert for a missing worker',
    async () => {
      await world.drover.kill('worker');
      try {
        await until(
          'the alert',
          60_000,
          async () => (await firing()).includes('DroverWorkerMissing') || (await firing()).join(),
        );
      } finally {
        // The tests that come next, and second attempts, need it.
        await world.drover.restart('worker');
      }
      await until(
        'the alert to be over',
        60_000,
        async () => !(await firing()).includes('DroverWorkerMissing') || (await firing()).join(),
      );
    },
    limitMs,
  );

  test('after all of it the invariants hold', () => checkInvariants(world), limitMs);
});

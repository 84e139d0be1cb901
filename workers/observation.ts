import { asyncLocalStorage } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { ActivityInterceptorsFactory, TelemetryOptions, Worker } from '@temporalio/worker';
import type { SafetyMeter } from '../activities/kubernetes/machines/tools.ts';
import type { WatchMeter } from '../activities/vsphere/watch/tools.ts';
import type { AllowanceObservation } from '../contracts/allowance.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Config } from '../runtime/config/config-schema.ts';
import { serveHealth } from '../runtime/telemetry/health.ts';
import type { Health } from '../runtime/telemetry/health.ts';
import type { Logger } from '../runtime/telemetry/logging.ts';
import { createMetrics } from '../runtime/telemetry/metrics.ts';
import type { ObserveCall } from '../runtime/telemetry/outside-calls.ts';
import { callObserver } from '../runtime/telemetry/outside-calls.ts';
import { probeTemporal } from '../runtime/temporal/probe.ts';
import { readVersion } from '../runtime/version.ts';
import { meterApprovals } from './approval-meter.ts';
import { type AgentMeter, meterAgents } from './agent-meter.ts';
import { observeSteps } from './observe-steps.ts';
import { showRegions } from './region-gauges.ts';
import { meterSafety } from './safety-meter.ts';
import { openTemporalMetrics } from './temporal-metrics.ts';
import { meterVolumes, type VolumeMeter } from './volume-meter.ts';
import { meterWatches } from './watch-meter.ts';

/** What a worker shows of itself. */
export interface Observation {
  /** For Temporal's runtime. */
  telemetry: TelemetryOptions;
  observeCall: ObserveCall;
  observeSteps: ActivityInterceptorsFactory;
  showRegion: (region: string, world: AllowanceObservation) => void;
  watchMeter: WatchMeter;
  safetyMeter: SafetyMeter;
  /** Shows which sweeps wait for an approval, until the worker leaves. Nothing is asked where nothing is shown. */
  showApprovals: (systems: Parameters<typeof meterApprovals>[1]) => void;
  agentMeter: AgentMeter;
  volumeMeter: VolumeMeter;
  /** Serves the pages, where the settings give an address. @throws InvalidConfiguration when it cannot be had */
  serve(client: Client): Promise<WorkerHealth>;
}

export interface WorkerHealth {
  /** `http://host:port` of `/healthz`, `/readyz` and `/metrics`; null where the settings give no address. */
  url: string | null;
  /** Says in the pages what a worker that has not begun waits for; null: nothing. */
  waitFor: (reason: string | null) => void;
  /** Until then it lives, and is not ready. It is once all of these run, as long as Temporal answers. */
  watch(workers: readonly Worker[]): void;
  close(): Promise<void>;
}

/** Without an address, only Temporal's SDK counts nothing; for the rest it is not worth a difference. */
export async function openObservation(
  { worker: { healthAddress } }: Pick<Config, 'worker'>,
  log: Logger,
  clock: Clock,
): Promise<Observation> {
  const metrics = createMetrics('worker', readVersion());
  const temporal = healthAddress === null ? null : await openTemporalMetrics();
  return {
    telemetry: {
      // The SDK's native side would write lines of its own beside the log.
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(temporal === null ? {} : { metrics: temporal.options }),
    },
    observeCall: callObserver(metrics, log, caller),
    observeSteps: observeSteps(metrics),
    showRegion: showRegions(metrics, clock),
    watchMeter: meterWatches(metrics, clock),
    safetyMeter: meterSafety(metrics, clock),
    showApprovals(systems) {
      if (healthAddress !== null) void meterApprovals(metrics, systems);
    },
    agentMeter: meterAgents(metrics, clock),
    volumeMeter: meterVolumes(metrics, clock),
    async serve(client) {
      let watched: readonly Worker[] | null = null;
      let waitsFor: string | null = null;
      const watch = (workers: readonly Worker[]): void => void (watched = workers);
      const waitFor = (reason: string | null): void => void (waitsFor = reason);
      if (healthAddress === null || temporal === null)
        return { url: null, watch, waitFor, close: () => Promise.resolve() };
      const begun = (): string[] =>
        watched === null ? [waitsFor ?? 'the workers are being made'] : watched.flatMap(whyNotRunning);
      const life = (): Health => {
        const reasons = begun();
        // A new process would have to begin, too.
        return { ok: watched === null || reasons.length === 0, reasons };
      };
      const readiness = async (): Promise<Health> => {
        // A worker is RUNNING however long its polls fail.
        const temporalError = await probeTemporal(client, clock);
        const reasons = [...begun(), ...(temporalError === null ? [] : [temporalError])];
        return { ok: reasons.length === 0, reasons };
      };
      const server = await serveHealth({
        address: healthAddress,
        setting: 'worker.healthAddress',
        pages: { '/healthz': life, '/readyz': readiness },
        metrics: { page: async () => (await Promise.all([metrics.page(), temporal.page()])).join('\n') },
      });
      return { ...server, watch, waitFor };
    },
  };
}

const whyNotRunning = (worker: Worker): string[] =>
  worker.getState() === 'RUNNING' ? [] : [`the worker of queue ${worker.options.taskQueue} is ${worker.getState()}`];

/**
 * So that who has an id of Nova's logs finds the run, and who has a run finds what Nova logged. Null while
 * the worker starts.
 */
export function globalRequestId(): string | null {
  const runId = asyncLocalStorage.getStore()?.info.workflowExecution?.runId;
  return runId === undefined ? null : `req-${runId}`;
}

/** The run and the step that a call is made for; none while the worker starts. */
function caller(): object {
  const info = asyncLocalStorage.getStore()?.info;
  if (info === undefined) return {};
  const { activityType, attempt, workflowExecution } = info;
  return { workflowId: workflowExecution?.workflowId, runId: workflowExecution?.runId, activityType, attempt };
}

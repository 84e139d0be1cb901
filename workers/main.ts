import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { ActivityInterceptorsFactory, WorkerOptions } from '@temporalio/worker';
import { openSession } from '../activities/keystone/client.ts';
import {
  maxHeartbeatThrottleIntervalMs,
  shutdownGraceTimeMs,
  stickyScheduleToStartTimeoutMs,
} from '../contracts/policies.ts';
import { openAudit } from '../runtime/telemetry/audit.ts';
import { repeat, systemClock } from '../runtime/clock.ts';
import type { Config } from '../runtime/config/config-schema.ts';
import { connectKubernetes } from '../runtime/kubernetes/kubernetes.ts';
import type { Logger } from '../runtime/telemetry/logging.ts';
import { temporalLogger } from '../runtime/telemetry/logging.ts';
import { droverFailure, failureCode } from '../runtime/failure.ts';
import { loadOpenStackSettings } from '../runtime/config/openstack-settings.ts';
import type { OpenStackSettings } from '../runtime/config/openstack-settings.ts';
import { awaitClaim } from '../runtime/temporal/claim.ts';
import { connectClient, readTemporalSettings, unreachable } from '../runtime/temporal/temporal.ts';
import type { Tracing } from '../runtime/telemetry/trace-exporter.ts';
import { loadVcenters, speaksToVcenters } from '../runtime/config/vsphere-settings.ts';
import { bundleWorkflows } from './bundle.ts';
import { globalRequestId, openObservation } from './observation.ts';
import { openPorts } from './ports.ts';
import { composeQueues } from './queues.ts';
import { startSystemWorkflows } from './system-workflows.ts';
import type { SharedSystems } from './systems.ts';

/** A worker that serves. */
export interface RunningWorker {
  /** Takes no new work, lets activities finish for {@link shutdownGraceTimeMs}, and resolves when all has ended. */
  stop(): Promise<void>;
  /** Resolves when it has stopped, rejects when it broke. */
  done: Promise<void>;
}

/** What differs where a worker is not an operator's. */
export interface WorkerStartOptions {
  env?: NodeJS.ProcessEnv;
  /** Around every activity of every queue. */
  interceptActivity?: ActivityInterceptorsFactory;
  /** Runs, steps and calls become spans. */
  tracing?: Tracing | null;
}

/**
 * Starts the worker of every queue in this process: workflows, Kubernetes, Nova of the credential's
 * region, the vCenters.
 * @throws InvalidConfiguration, TemporalUnavailable, ClusterClaimed, KubernetesForbidden: what is wrong before any work
 * is taken
 */
export async function startWorker(
  config: Config,
  logger: Logger,
  { env = process.env, interceptActivity, tracing = null }: WorkerStartOptions = {},
): Promise<RunningWorker> {
  const settings = readTemporalSettings(env, config.temporal.payloadKeys);
  const cloud = readCloud(config, env);
  // `GOVC_…` may be set for another program.
  const vcenters = speaksToVcenters(config) ? loadVcenters(config.vsphere, env) : [];
  const observation = await openObservation(config, logger, systemClock);
  const observe = observation.observeCall;
  const openstack = cloud === null ? null : openSession(cloud, { clock: systemClock, observe, globalRequestId });
  const kubernetes = connectKubernetes({
    kubeconfig: config.kubernetes.kubeconfig,
    context: config.kubernetes.context,
    observe,
  });
  const audit = openAudit({ file: config.audit.file, clock: systemClock });
  const traced = tracing === null ? null : { ...(await import('./trace-runs.ts')), tracing };
  const temporal = await connectClient(
    { ...settings, ...(tracing === null ? {} : { interceptors: tracing.interceptors }) },
    { clock: systemClock },
  );

  Runtime.install({ logger: temporalLogger(logger), telemetryOptions: observation.telemetry, shutdownSignals: [] });
  const leaving = new AbortController();
  const opened: { close(): Promise<unknown> }[] = [temporal.connection, kubernetes];
  if (openstack !== null) opened.push(openstack);
  const closeAll = (): Promise<unknown> => Promise.allSettled(opened.map((one) => one.close()));
  try {
    const connection = await NativeConnection.connect(settings.connection).catch((error: unknown) => {
      throw unreachable(settings, error);
    });
    opened.push(connection);
    const systems: SharedSystems = {
      config,
      temporal,
      kubernetes,
      audit,
      clock: systemClock,
      random: Math.random,
      ports: openPorts({ clock: systemClock, observe }),
      logger,
      watchMeter: observation.watchMeter,
      safetyMeter: observation.safetyMeter,
      agentMeter: observation.agentMeter,
      volumeMeter: observation.volumeMeter,
      leaving: leaving.signal,
    };
    const { queues, ...composed } = composeQueues(
      systems,
      openstack === null ? null : { openstack, onObserved: observation.showRegion },
      vcenters,
    );
    opened.push(composed);
    const [ofWorkflows, ...others] = queues;
    const shared = {
      connection,
      namespace: settings.namespace,
      dataConverter: settings.converters.worker,
      shutdownGraceTime: shutdownGraceTimeMs,
      maxHeartbeatThrottleInterval: maxHeartbeatThrottleIntervalMs,
      interceptors: {
        activity: [
          ...(traced === null ? [] : [traced.traceSteps]),
          observation.observeSteps,
          ...(interceptActivity === undefined ? [] : [interceptActivity]),
        ],
      },
      ...(traced === null ? {} : { sinks: traced.spanSinks(traced.tracing) }),
    } satisfies Partial<WorkerOptions>;
    const health = await observation.serve(temporal);
    opened.push(health);
    const claimTools = {
      temporal,
      kubernetes,
      clock: systemClock,
      logger,
      abort: leaving.signal,
      onWait: health.waitFor,
    };
    await awaitClaim(claimTools, { cluster: config.cluster, region: openstack?.region ?? null });
    const workers = await Promise.all([
      Worker.create({
        ...shared,
        ...ofWorkflows,
        workflowBundle: await bundleWorkflows({
          logger: temporalLogger(logger),
          dataConverter: settings.converters.worker,
          interceptorModules: traced === null ? [] : [traced.tracingModule],
        }),
        stickyQueueScheduleToStartTimeout: stickyScheduleToStartTimeoutMs,
        maxConcurrentWorkflowTaskExecutions: config.worker.concurrency.workflows,
      }),
      ...others.map((queue) => Worker.create({ ...shared, ...queue })),
    ]);
    health.watch(workers);
    const stopAll = (): void => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      // After that, so that what is handed over goes to another worker.
      leaving.abort(new Error('the worker stops'));
    };
    const run = async (): Promise<void> => {
      const ends = workers.map((worker) => worker.run());
      // One that breaks takes the others along: a worker without one of its parts would appear healthy.
      const broken = watchForBroken(workers);
      try {
        await Promise.race([Promise.all(ends.map((end) => end.finally(stopAll))), broken.found]);
      } catch (error) {
        stopAll();
        // What the others have under way needs what is open. One whose polls of activities have failed never ends.
        const others = ends.filter((_end, index) => workers[index]?.getState() !== 'FAILED');
        await Promise.race([Promise.allSettled(others), systemClock.sleep(shutdownGraceTimeMs + forEndsMs)]);
        throw broken.failure() ?? error;
      } finally {
        broken.stop();
        await closeAll();
      }
    };
    const done = run();
    startSystemWorkflows(systems, openstack?.region ?? null, vcenters);
    observation.showApprovals(systems);
    logger.info(
      { namespace: settings.namespace, queues: queues.map(({ taskQueue }) => taskQueue), health: health.url },
      'Worker serves',
    );
    return {
      done,
      async stop() {
        stopAll();
        await done;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Null: there is none, and nothing that is switched on needs one. @throws InvalidConfiguration */
function readCloud({ modes, openstack: { cloud } }: Config, env: NodeJS.ProcessEnv): OpenStackSettings | null {
  try {
    return loadOpenStackSettings(env, cloud === null ? {} : { cloud });
  } catch (error) {
    if (
      failureCode(error) === 'InvalidConfiguration' &&
      cloud === null &&
      modes.Eviction === 'off' &&
      modes.Hypervisor === 'off'
    )
      return null;
    throw error;
  }
}

/** Beside the time that activities have to finish. */
const forEndsMs = 5_000;
const lookMs = 1_000;

/** Finds the worker that Temporal refuses to be polled by: its own `run` may say another thing, or nothing at all. */
function watchForBroken(workers: readonly Worker[]) {
  const { promise: found, reject } = Promise.withResolvers<never>();
  const failure = (): Error | null => {
    const failed = workers.find((worker) => worker.getState() === 'FAILED');
    if (failed === undefined) return null;
    const { taskQueue } = failed.options;
    return droverFailure('TemporalUnavailable', `Queue ${taskQueue} is polled no more; the log has what Temporal said`);
  };
  const look = (): void => {
    const error = failure();
    if (error !== null) reject(error);
  };
  found.catch(() => undefined);
  return { found, failure, stop: repeat(systemClock, look, lookMs) };
}

import type { Command } from 'commander';
import { runSettings, startBridge } from '../k8s-bridge/main.ts';
import { loadConfig } from '../runtime/config/config.ts';
import { connectKubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { createLogger } from '../runtime/telemetry/logging.ts';
import { createMetrics } from '../runtime/telemetry/metrics.ts';
import { callObserver } from '../runtime/telemetry/outside-calls.ts';
import { openClient, readTemporalSettings } from '../runtime/temporal/temporal.ts';
import { openTracing } from '../runtime/telemetry/tracing.ts';
import { readVersion } from '../runtime/version.ts';
import { describedCommand } from './command/command.ts';
import { untilSignalled } from './command/until-signalled.ts';

export const bridgeCommand = (): Command =>
  describedCommand(
    'bridge',
    'Runs the bridge: it watches Kubernetes and signals the runs when something changed. Two may run; one of them delivers.',
    [
      ['drover bridge', 'until Ctrl-C or SIGTERM; what is queued is delivered first'],
      [
        'curl http://127.0.0.1:8081/readyz',
        'whether it watches and reaches Temporal (bridge.healthAddress in the settings)',
      ],
      ['curl http://127.0.0.1:8081/metrics', 'what Prometheus scrapes'],
    ],
  ).action(async () => {
    const { config, file } = loadConfig();
    const log = createLogger({ level: config.logLevel, component: 'bridge' });
    log.info({ settings: file ?? 'defaults' }, 'Bridge starts');
    const { kubeconfig, context } = config.kubernetes;
    const metrics = createMetrics('bridge', readVersion());
    const kubernetes = connectKubernetes({ kubeconfig, context, observe: callObserver(metrics, log) });
    const tracing = await openTracing('bridge');
    const temporal = openClient({
      ...readTemporalSettings(process.env, config.temporal.payloadKeys),
      ...(tracing === null ? {} : { interceptors: tracing.interceptors }),
    });
    try {
      const bridge = await startBridge({
        kubernetes,
        temporal,
        log,
        metrics,
        settings: { ...runSettings(config), healthAddress: config.bridge.healthAddress },
      });
      // It goes on whatever breaks around it: of itself it ends only where the cluster's name belongs to another.
      await untilSignalled(bridge).catch(async (error: unknown) => {
        await bridge.stop();
        throw error;
      });
    } finally {
      await Promise.allSettled([temporal.connection.close(), kubernetes.close(), tracing?.close()]);
    }
    log.info('Bridge stopped');
  });

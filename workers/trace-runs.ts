import { createRequire } from 'node:module';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryActivityOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry';
import type { OpenTelemetrySinks } from '@temporalio/interceptors-opentelemetry';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { Tracing } from '../runtime/telemetry/trace-exporter.ts';

/** For the bundle of a worker that traces: runs become spans, by the SDK's own interceptors. */
export const tracingModule = createRequire(import.meta.url).resolve(
  '@temporalio/interceptors-opentelemetry/lib/workflow-interceptors',
);

export const traceSteps: ActivityInterceptorsFactory = (ctx) => ({
  inbound: new OpenTelemetryActivityInboundInterceptor(ctx),
  outbound: new OpenTelemetryActivityOutboundInterceptor(ctx),
});

/** Workflow code can send nothing: its spans leave by a sink. */
export const spanSinks = ({ processor, resource }: Tracing): InjectedSinks<OpenTelemetrySinks> => ({
  exporter: makeWorkflowExporter(processor, resource),
});

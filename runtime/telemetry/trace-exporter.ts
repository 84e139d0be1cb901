import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { SpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ClientInterceptors } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry';

/** The traces of a process that is configured to send them. */
export interface Tracing {
  /** For clients of Temporal: what they start or signal goes on with the trace. */
  interceptors: ClientInterceptors;
  /** What takes spans that ended. */
  processor: SpanProcessor;
  resource: Resource;
  /** Sends what has not been sent yet, and ends it. */
  close(): Promise<void>;
}

const closeTimeoutMs = 3_000;

/** Sends the spans of this process where OpenTelemetry's variables say, from now on until it is closed. */
export function startExporting(service: string, version: string): Tracing {
  const resource = new Resource({ 'service.name': service, 'service.version': version });
  const processor = new BatchSpanProcessor(new OTLPTraceExporter());
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return {
    interceptors: { workflow: [new OpenTelemetryWorkflowClientInterceptor()] },
    processor,
    resource,
    async close() {
      // A collector that is away must not hold up a stop.
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, closeTimeoutMs);
      await Promise.race([provider.shutdown(), late]).catch(() => undefined);
      clearTimeout(timer);
      for (const part of [trace, context, propagation]) part.disable();
    },
  };
}

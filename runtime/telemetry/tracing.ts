import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Tracer } from '@opentelemetry/api';
import { registerSecret } from '../redaction.ts';
import type { Tracing } from './trace-exporter.ts';
import { readVersion } from '../version.ts';

/**
 * Traces are on where OpenTelemetry's own variables say where to send them (OTLP over HTTP). Null where they do not:
 * then nothing of it is loaded. OpenTelemetry keeps who traces in one place for the whole process, so this is called
 * once, by its entry point.
 */
export async function openTracing(
  component: 'worker' | 'bridge',
  env: NodeJS.ProcessEnv = process.env,
): Promise<Tracing | null> {
  if (!isTracingAsked(env)) return null;
  for (const variable of ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'])
    for (const value of headerValues(env[variable] ?? '')) registerSecret(value);
  const { startExporting } = await import('./trace-exporter.ts');
  return startExporting(env['OTEL_SERVICE_NAME'] || `drover-${component}`, readVersion());
}

export const isTracingAsked = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) &&
  env['OTEL_SDK_DISABLED'] !== 'true' &&
  env['OTEL_TRACES_EXPORTER'] !== 'none';

/** Of `name=value,name=value`: credentials for the collector. */
export const headerValues = (headers: string): string[] =>
  headers
    .split(',')
    .filter((header) => header.includes('='))
    .map((header) => header.slice(header.indexOf('=') + 1).trim());

const tracer = (): Tracer => trace.getTracer('drover');

/** Runs `work` as the beginning of a trace; without traces, just runs it. */
export const inTrace = <Result>(name: string, attributes: Attributes, work: () => Promise<Result>): Promise<Result> =>
  tracer().startActiveSpan(name, { root: true, attributes }, async (span) => {
    try {
      return await work();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });

/** A call within a trace. */
export interface TracedCall {
  /** To send along, so that the other system's spans belong to the trace; empty without one. */
  headers: Record<string, string>;
  end(failed: boolean, attributes: Attributes): void;
}

/**
 * Outside of a trace a call begins none: what a process does by itself all the time would bury what users search for.
 */
export function traceCall(name: string, attributes: Attributes): TracedCall {
  const headers: Record<string, string> = {};
  if (trace.getActiveSpan() === undefined) return { headers, end: () => undefined };
  const span = tracer().startSpan(name, { kind: SpanKind.CLIENT, attributes });
  propagation.inject(trace.setSpan(context.active(), span), headers);
  return {
    headers,
    end(failed, more) {
      span.setAttributes(more);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

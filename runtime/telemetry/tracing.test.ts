import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { observed } from './outside-calls.ts';
import { headerValues, inTrace, isTracingAsked, openTracing, traceCall } from './tracing.ts';

const call = { system: 'nova', verb: 'GET /servers/{id}' } as const;
const send = async (answer = { status: 200, requestId: 'req-1' }): Promise<Record<string, string>> => {
  let sent: Record<string, string> = {};
  await observed(undefined, call, AbortSignal.timeout(10_000), (headers) => {
    sent = headers;
    return Promise.resolve(answer);
  });
  return sent;
};

test.each([
  ['nothing is set', {}, false],
  ['an endpoint is set', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, true],
  ['an endpoint of traces is set', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }, true],
  ['it is set and empty', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  ['the SDK is disabled', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'true' }, false],
  ['traces go nowhere', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_TRACES_EXPORTER: 'none' }, false],
])('whether traces are on: %s', (_why, env, on) => {
  expect(isTracingAsked(env)).toBe(on);
});

test('credentials for the collector are known as secrets by their values', () => {
  expect(headerValues('authorization=Basic%20abc=,x-tenant=one')).toEqual(['Basic%20abc=', 'one']);
  expect(headerValues('')).toEqual([]);
});

describe('off', () => {
  test('nothing is opened', async () => expect(await openTracing('worker', {})).toBeNull());
  test('a call sends nothing along', async () => expect(await inTrace('deliver', {}, () => send())).toEqual({}));
});

describe('on', () => {
  const exporter = new InMemorySpanExporter();
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  });
  beforeEach(() => exporter.reset());
  afterAll(() => [trace, context, propagation].forEach((part) => part.disable()));

  test('a call within a trace is a span of it, and sends it along', async () => {
    const { traceparent } = await inTrace('deliver Eviction', { 'drover.object': 'node-1' }, () => send());
    const [its, root] = exporter.getFinishedSpans();
    expect([its?.name, root?.name]).toEqual(['nova GET /servers/{id}', 'deliver Eviction']);
    expect(its?.parentSpanId).toBe(root?.spanContext().spanId);
    expect(traceparent).toBe(`00-${its?.spanContext().traceId}-${its?.spanContext().spanId}-01`);
    expect(its?.attributes).toMatchObject({
      'drover.outcome': 'ok',
      'drover.request_id': 'req-1',
      'http.response.status_code': 200,
    });
  });

  test('a call that fails is told as failed, one that is refused is not', async () => {
    await inTrace('deliver', {}, () => send({ status: 503, requestId: '' }));
    await inTrace('deliver', {}, () => send({ status: 404, requestId: '' }));
    expect(
      exporter
        .getFinishedSpans()
        .filter(({ name }) => name.startsWith('nova'))
        .map(({ status }) => status.code),
    ).toEqual([2, 0]);
  });

  test('a call outside of a trace begins none', async () => {
    expect(await send()).toEqual({});
    traceCall('lease', {}).end(false, {});
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  test('what fails ends its span, and the failure goes on', async () => {
    const failure = new Error('away');
    await expect(inTrace('deliver', {}, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(exporter.getFinishedSpans().map(({ status }) => status.code)).toEqual([2]);
  });
});

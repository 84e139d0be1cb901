import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';

/** A span as OTLP has it in JSON, with its process. */
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  service: string;
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: { traceId: string; spanId: string; parentSpanId?: string; name: string }[] }[];
  }[];
}

/** Takes what OTLP exporters send, as a collector does. */
export async function openSpanCollector(): Promise<{ url: string; spans: Span[]; close(): Promise<void> }> {
  const spans: Span[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      if (request.url === '/v1/traces') {
        for (const { resource, scopeSpans } of (JSON.parse(body) as ExportRequest).resourceSpans) {
          const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
          for (const one of scopeSpans.flatMap((scope) => scope.spans))
            spans.push({ ...one, parentSpanId: one.parentSpanId ?? '', service });
        }
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{}');
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The names of a span and of all above it, from the root on. */
export function pathOf(span: Span, spans: readonly Span[]): string[] {
  const parent = spans.find(({ spanId, traceId }) => spanId === span.parentSpanId && traceId === span.traceId);
  return [...(parent === undefined ? [] : pathOf(parent, spans)), `${span.service}: ${span.name}`];
}

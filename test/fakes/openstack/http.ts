import { type Http, type HttpAnswer, type HttpRequest, verbOf } from '../../../activities/openstack/http.ts';
import { errorCodes } from '../../../activities/openstack/faults.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { Network } from '../../simulator/network.ts';
import { within } from '../within.ts';
import type { Cloud, ServiceKey } from './cloud.ts';
import { urls } from './keystone.ts';
import { serve } from './services.ts';

const services: Partial<Record<HttpRequest['service'], ServiceKey>> = {
  Keystone: 'keystone',
  Nova: 'nova',
  Placement: 'placement',
  Glance: 'glance',
  Cinder: 'cinder',
};

function keyOf(service: HttpRequest['service']): ServiceKey {
  const key = services[service];
  if (key === undefined) throw new Error(`there is no simulated ${service}`);
  return key;
}

/** As activities/openstack/http.ts: what the real client waits for an answer. */
const headersMs = 12_000;

/** What drover's clients send goes through the network, with its faults and time-outs as the real client has them. */
export function createFakeHttp(cloud: Cloud, network: Network): Http {
  return {
    send(request, signal) {
      const { service, method, url, body } = request;
      const call = { system: keyOf(service), verb: verbOf(method, url.pathname, body) };
      const cut = (): Error => lost(request, 'the connection was cut before the answer was complete');
      const expired = (): Error => lost(request, `no answer within ${headersMs / 1_000} s`);
      return within(cloud.clock, headersMs, expired, signal, (bound) =>
        network.call(call, () => answer(cloud, request), bound, cut),
      );
    },
    close: () => Promise.resolve(),
  };
}

const lost = ({ service, url, method }: HttpRequest, reason: string): Error =>
  droverFailure(errorCodes[service].unavailable, `${service} at ${url.origin}: ${reason} (${method} ${url.pathname})`, {
    details: { method, path: url.pathname },
  });

async function answer(cloud: Cloud, { service, method, url, headers, body }: HttpRequest): Promise<HttpAnswer> {
  const key = keyOf(service);
  const base = new URL(urls[key]);
  if (url.origin !== base.origin) throw new Error(`there is no simulated ${service} at ${url.href}`);
  const path = url.pathname.slice(base.pathname === '/' ? 0 : base.pathname.length);
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const {
    status,
    body: answered,
    headers: more,
    requestId,
  } = await serve(cloud, {
    service: key,
    method,
    path,
    query: url.searchParams,
    headers: sent,
    body,
    userAgent: 'drover',
  });
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-openstack-request-id': requestId, ...more },
    text: answered === undefined ? '' : JSON.stringify(answered),
    requestId,
  };
}

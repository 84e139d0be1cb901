import { droverFailure } from '../../runtime/failure.ts';
import { redactedStart } from '../../runtime/redaction.ts';
import type { ServiceType } from '../openstack/services.ts';
import type { WireToken } from './wire.ts';

/**
 * The URL of a service in the token's catalog.
 * @throws EndpointNotFound saying what the catalog has instead
 */
export function endpointIn(catalog: WireToken['catalog'], type: ServiceType, region: string, iface: string): string {
  const endpoints = (catalog ?? []).filter((service) => service.type === type).flatMap((service) => service.endpoints);
  const found = endpoints.find(
    (endpoint) => endpoint.interface === iface && (endpoint.region_id ?? endpoint.region) === region,
  );
  if (found !== undefined) return httpUrl(found.url, `${iface} endpoint of type ${type} in region ${region}`);
  const others = endpoints.map(
    (endpoint) => `${endpoint.interface} in ${endpoint.region_id ?? endpoint.region ?? 'no region'}`,
  );
  const known = others.length === 0 ? 'it has none of that type' : `it has ${[...new Set(others)].join(', ')}`;
  throw droverFailure(
    'EndpointNotFound',
    `Keystone’s catalog has no ${iface} endpoint of type ${type} in region ${region}; ${known}.`,
  );
}

/** Longer than any address of a service. */
const longestUrl = 2_048;

function httpUrl(url: string, what: string): string {
  const protocol = url.length > longestUrl ? undefined : URL.parse(url)?.protocol;
  // A path is appended, so that what a URL only bears at its end is wrong too.
  if ((protocol === 'http:' || protocol === 'https:') && !/[\s\p{Cc}]/u.test(url)) return url;
  throw droverFailure(
    'EndpointNotFound',
    `Keystone’s catalog has no usable ${what}: \`${redactedStart(url, 200)}\` is no http or https URL.`,
  );
}

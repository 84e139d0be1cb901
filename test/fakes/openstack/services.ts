import type { ApiCall } from '../../../lab/openstack/journal.ts';
import { answerCinder } from './cinder.ts';
import type { Cloud, ServiceKey } from './cloud.ts';
import { answerGlance } from './glance.ts';
import { answerKeystone, userOf } from './keystone.ts';
import type { KeystoneUser } from './model.ts';
import { answerNova } from './nova/api.ts';
import { answerPlacement } from './placement/api.ts';
import { Refused, type WireAnswer } from './wire.ts';

export interface ServiceRequest {
  readonly service: ServiceKey;
  readonly method: string;
  /** Below the service's URL. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly userAgent: string;
  /** Who asks, without a token: an administrator of the test. */
  readonly as?: KeystoneUser;
}

export interface ServiceAnswer extends WireAnswer {
  readonly requestId: string;
}

/**
 * One request to a service, answered as the service does, and written into the journal. An answer may take virtual time
 * where another request can come between.
 */
export async function serve(cloud: Cloud, request: ServiceRequest): Promise<ServiceAnswer> {
  const arrivedMs = cloud.clock.nowMs;
  const requestId = `req-00000000-0000-4000-8000-${String(cloud.next('request')).padStart(12, '0')}`;
  const { calls, pending } = cloud.journal;
  const call: ApiCall = {
    timeMs: Math.floor(arrivedMs),
    durationMs: 0,
    method: request.method,
    path: pathInJournal(request),
    query: request.query.toString(),
    ...actionOf(request),
    status: 0,
    requestId,
    userAgent: request.userAgent,
  };
  pending[request.service].add(call);
  const answer = await answerOf(cloud, request, requestId);
  pending[request.service].delete(call);
  calls[request.service].push({ ...call, durationMs: cloud.clock.nowMs - arrivedMs, status: answer.status });
  return { ...answer, requestId };
}

async function answerOf(cloud: Cloud, request: ServiceRequest, requestId: string): Promise<WireAnswer> {
  const { service, method, path, query, body, headers } = request;
  try {
    if (service === 'keystone') return answerKeystone(cloud, method, path, headers, body);
    const user = request.as ?? userOf(cloud, headers['x-auth-token']);
    const minor = Number(/ \d+\.(\d+)$/u.exec(headers['openstack-api-version'] ?? '')?.[1] ?? 0);
    // What is sent is read as it was at that moment.
    const wire = {
      method,
      path,
      query,
      minor,
      body: body === undefined ? undefined : structuredClone(body),
      user,
      requestId,
    };
    if (service === 'placement') return await answerPlacement({ cloud, request: wire }, method, path);
    if (service === 'cinder') return answerCinder(cloud, method, path);
    if (service === 'glance') return answerGlance(cloud, wire);
    return await answerNova({ cloud, request: wire, takesTime: request.as === undefined }, method, path);
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}

const pathInJournal = ({ service, path }: ServiceRequest): string =>
  service === 'nova'
    ? `/v2.1${path}`
    : service === 'keystone'
      ? `/v3${path}`
      : service === 'glance'
        ? `/v2${path}`
        : service === 'cinder'
          ? `/v3${path}`
          : path;

/**
 * For POST …/action which one, for PUT …/os-services/… the status that was asked for: as the lab's access log has it.
 */
function actionOf({ method, path, body }: ServiceRequest): Pick<ApiCall, 'action'> {
  if (typeof body !== 'object' || body === null) return {};
  if (method === 'POST' && path.endsWith('/action')) return { action: Object.keys(body)[0] ?? '' };
  const { status } = body as { status?: unknown };
  return method === 'PUT' && path.startsWith('/os-services/') && typeof status === 'string' ? { action: status } : {};
}

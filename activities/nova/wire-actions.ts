import type { Endpoint } from '../openstack/endpoint.ts';
import type { InstanceActionName } from './types.ts';
import { failureOf } from './wire-map.ts';
import * as wire from './wire.ts';

/** Details of events are told since 2.84. Null when the action, or the server, is unknown or did not fail. */
export async function readActionFailure(
  nova: Endpoint,
  instanceId: string,
  action: { requestId: string } | { action: InstanceActionName },
  signal: AbortSignal,
): Promise<string | null> {
  const actions = `/servers/${encodeURIComponent(instanceId)}/os-instance-actions`;
  const requestId =
    'requestId' in action ? action.requestId : await newestRequest(nova, actions, action.action, signal);
  if (requestId === null) return null;
  const path = `${actions}/${encodeURIComponent(requestId)}`;
  const answer = await nova.find({ method: 'GET', path, microversion: '2.94', answer: wire.instanceAction }, signal);
  return answer === null ? null : failureOf(answer.value.instanceAction);
}

/** Actions come newest first. */
async function newestRequest(
  nova: Endpoint,
  path: string,
  name: InstanceActionName,
  signal: AbortSignal,
): Promise<string | null> {
  const answer = await nova.find(
    { method: 'GET', path, microversion: '2.94', answer: wire.instanceActionList },
    signal,
  );
  return answer?.value.instanceActions.find(({ action }) => action === name)?.request_id ?? null;
}

import type { Cloud } from '../cloud.ts';
import type { Provider } from '../model.ts';
import { placementRefusal, type Refused, type WireAnswer, type WireRequest } from '../wire.ts';

/** A request of Placement, with the cloud that it is about. */
export interface PlacementCall {
  readonly cloud: Cloud;
  readonly request: WireRequest;
}

export const ok = (body: unknown): WireAnswer => ({ status: 200, body });
export const noContent: WireAnswer = { status: 204 };

export const refused = (
  { request }: PlacementCall,
  status: number,
  detail: string,
  code = 'placement.undefined_code',
): Refused => placementRefusal(status, detail, code, request.requestId);

export const concurrentUpdate = 'placement.concurrent_update';

export function findProvider(call: PlacementCall, uuid: string): Provider {
  const provider = call.cloud.model.placement.providers.get(uuid);
  if (provider === undefined)
    throw refused(
      call,
      404,
      `No resource provider with uuid ${uuid} found: No resource provider with uuid ${uuid} found`,
    );
  return provider;
}

/** A change names the generation that it was made from. */
export function needGeneration(call: PlacementCall, provider: Provider, generation: number | undefined): void {
  if (generation === provider.generation) return;
  throw refused(
    call,
    409,
    "Resource provider's generation already changed. Please update the generation and try again.",
    concurrentUpdate,
  );
}

import { csiControl } from './control.ts';
import type { CsiDriverHandle, CsiHandle } from './handle.ts';

const ENDPOINT = '--http-endpoint=127.0.0.1:';

/** Where a sidecar tells of itself. */
export const endpointArgument = (port: number): string => `${ENDPOINT}${port}`;

/** The port that a sidecar was started with; undefined of what has none, as drivers. */
export function portOf(args: readonly string[]): number | undefined {
  const found = args.find((arg) => arg.startsWith(ENDPOINT));
  return found === undefined ? undefined : Number(found.slice(ENDPOINT.length));
}

/** A sidecar answers about itself once it has found its driver. */
export async function sidecarServes(port: number, signal: AbortSignal): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal });
  await answer.body?.cancel();
  return answer.ok;
}

export async function driverServes(
  handle: Pick<CsiHandle, 'controlTokenFile' | 'directories'>,
  driver: CsiDriverHandle,
): Promise<boolean> {
  await csiControl(handle, driver).calls();
  return true;
}

import type { OpenStackHandle } from './handle.ts';

/** Whether Keystone and Placement answer. */
export async function edgeServes(handle: OpenStackHandle, signal: AbortSignal): Promise<boolean> {
  return (await answers(handle.authUrl, signal)) && answers(handle.placementUrl, signal);
}

/** Whether Nova's API answers. It listens last, when every service of the fleet has reported. */
export function novaServes(handle: OpenStackHandle, signal: AbortSignal): Promise<boolean> {
  return answers(new URL('/', handle.computeUrl).href, signal);
}

async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  const response = await fetch(url, { signal });
  await response.body?.cancel();
  return response.ok;
}

import type { DesiredVirtualMachine } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { Fetched, ImageCacheFacts } from '../../../contracts/virtual-machine/observation.ts';

export type CacheReadiness =
  | { kind: 'ready'; /** What the VM waits for no longer. */ drop: ('label' | 'location')[] }
  | { kind: 'notReady'; drop: ('label' | 'location')[]; message: string };

/**
 * Whether the cached files that a VM waits for are there. Sources: seed 000 "VMI Cache Readiness Check"; vm-and-machine.md A.6, readiness gate.
 */
export function judgeImageCache(
  { imageCache: wanted }: Pick<DesiredVirtualMachine, 'imageCache'>,
  fetched: Fetched<ImageCacheFacts> | null,
): CacheReadiness {
  if (wanted.name === null) return { kind: 'ready', drop: [] };
  if (fetched?.kind !== 'found')
    return notReady(fetched === null ? `VirtualMachineImageCache ${wanted.name} was not read` : fetched.message);
  const { hardwareReady, locations } = fetched.value;
  if (!hardwareReady) return notReady(`VirtualMachineImageCache ${wanted.name} does not know the image’s hardware yet`);
  if (wanted.location === null) return { kind: 'ready', drop: ['label'] };

  const [datacenterId, datastoreId, profileId] = wanted.location.split(',');
  // As an older release wrote it: the next look begins anew.
  if (profileId === undefined)
    return {
      kind: 'notReady',
      drop: ['label', 'location'],
      message: 'The place of the cached files was not known in full',
    };
  const location = locations.find(
    (one) => one.datacenterId === datacenterId && one.datastoreId === datastoreId && one.profileId === profileId,
  );
  if (location?.ready === true) return { kind: 'ready', drop: ['label', 'location'] };
  return notReady(location?.message ?? `The files are not cached on ${datastoreId} yet`);
}

const notReady = (message: string): CacheReadiness => ({ kind: 'notReady', drop: [], message });

import { readFileSync } from 'node:fs';
import type { VsphereHandle } from './handle.ts';

const REQUEST_TIMEOUT_MS = 10_000;

/**
 * How long a VM had drover's metadata, or a cluster module was there, as the inventory itself has written it down. Unix
 * times.
 */
export interface InventoryLife {
  readonly kind: 'VirtualMachine' | 'ClusterModule';
  /** `vm-61`; a module's UUID. */
  readonly id: string;
  /** Of the VM's object; empty for modules. */
  readonly uid: string;
  readonly fromMs: number;
  /** Null: it lasts. */
  readonly goneMs: number | null;
  /** Who made a module: `govc/…` is the witness; empty for VMs. */
  readonly userAgent: string;
}

/** Everything since the lab was started, in order. */
export async function readInventoryJournal({
  controlUrl,
  controlTokenFile,
}: Pick<VsphereHandle, 'controlUrl' | 'controlTokenFile'>): Promise<InventoryLife[]> {
  const headers = { 'X-Lab-Token': readFileSync(controlTokenFile, 'utf8') };
  const response = await fetch(`${controlUrl}/journal`, { headers, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`control port: GET /journal: ${(await response.text()).trim()}`);
  return (await response.json()) as InventoryLife[];
}

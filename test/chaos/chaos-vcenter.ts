import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IsosHandle } from '../../lab/iso/handle.ts';
import { startLab } from '../../lab/lab.ts';
import { connectVcenterControl, type VcenterControl } from '../../lab/vsphere/control.ts';
import type { VsphereHandle } from '../../lab/vsphere/handle.ts';
import { openGovcWitness, type VcenterWitness } from '../../lab/vsphere/witness.ts';

/** A vCenter of the run's own, with a server of ISOs. */
export interface ChaosVcenter {
  handle: VsphereHandle;
  isos: IsosHandle;
  witness: VcenterWitness;
  control: VcenterControl;
  close(): Promise<void>;
}

/** The lab that tests share has none, and would keep them. */
export async function openVcenter(): Promise<ChaosVcenter> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'drover-chaos-')));
  const lab = await startLab({ dir: join(dir, 'lab'), parts: ['vsphere', 'isos'] });
  const { vsphere: handle, isos } = lab.handles;
  return {
    handle,
    isos,
    witness: openGovcWitness(handle),
    control: connectVcenterControl(handle),
    async close() {
      await lab.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

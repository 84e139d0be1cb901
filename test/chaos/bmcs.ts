import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLab } from '../../lab/lab.ts';
import type { RedfishHandle } from '../../lab/redfish/handle.ts';
import { connectMachines, type MachineState } from '../../lab/redfish/machines.ts';
import type { Snapshot } from '../invariants/snapshot.ts';
import type { BmcFault } from './plan.ts';

/** The machines behind the hypervisors that chaos drives, and the BMC that they share. */
export interface ChaosBmcs {
  handle: RedfishHandle;
  /** The section `nodeFailure.bmc` of drover's settings. */
  settings: object;
  /** @param host which of the hypervisors */
  read(host: string): Promise<MachineState>;
  setPower(host: string, power: MachineState['power']): Promise<void>;
  /** What becomes of requests for power from now on. */
  behave(how: Exclude<BmcFault, 'freeze'> | 'obeys'): Promise<void>;
  /** What the machines have recorded of their power. */
  readPower(): Promise<Snapshot['power']>;
  close(): Promise<void>;
}

/** The lab that tests share has none. @param hosts at most as many as there are machines */
export async function openBmcs(hosts: readonly string[]): Promise<ChaosBmcs> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'drover-chaos-bmc-')));
  const lab = await startLab({ dir: join(dir, 'lab'), parts: ['redfish'] });
  const { redfish: handle } = lab.handles;
  const machines = connectMachines(handle);
  const names = new Map(hosts.map((host, index) => [host, Object.keys(handle.machines)[index] ?? '']));
  const nameOf = (host: string): string => names.get(host) ?? '';
  const readAll = async (): Promise<[host: string, state: MachineState][]> => {
    const all = await machines.all();
    return hosts.map((host) => {
      const state = all[nameOf(host)];
      if (state === undefined) throw new Error(`there is no machine for ${host}`);
      return [host, state];
    });
  };
  return {
    handle,
    settings: {
      hosts: Object.fromEntries(hosts.map((host) => [host, { url: handle.url, uuid: handle.machines[nameOf(host)] }])),
      username: handle.username,
      passwordFile: handle.passwordFile,
      caFile: handle.caFile,
      auth: 'basic',
    },
    read: async (host) => new Map(await readAll()).get(host)!,
    setPower: async (host, power) => void (await machines.change(nameOf(host), { power })),
    async behave(behaviour) {
      for (const host of hosts) await machines.change(nameOf(host), { behaviour });
    },
    readPower: async () => Object.fromEntries((await readAll()).map(([host, { powered }]) => [host, powered])),
    async close() {
      await lab.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

import type { Client } from '@temporalio/client';
import type { Drover } from '../../lab/drover.ts';
import type { CommandEnd } from '../../lab/kubectl.ts';
import type { VcenterControl } from '../../lab/vsphere/control.ts';
import type { VcenterWitness } from '../../lab/vsphere/witness.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import type { ObservedVms } from '../invariants/read-vcenter.ts';
import type { Snapshot } from '../invariants/snapshot.ts';
import type { Observed } from '../read-world.ts';

export const namespace = 'team-a';

/** A VM there that is not drover's. */
export const stranger = 'stranger';

/** Seconds rather than minutes. */
const settings = {
  modes: { Eviction: 'off', Hypervisor: 'off', VirtualMachine: 'act' },
  virtualMachine: {
    recheckMs: 2_000,
    lingerMs: 200,
    addressMs: 1_000,
    softPowerMs: 3_000,
    deletePowerOffMs: 3_000,
    taskMs: 60_000,
  },
  bridge: { resyncMs: 3_000 },
};

export interface VmWorldOptions {
  /** Settings of drover beside those of all these flows, section by section. */
  settings?: { virtualMachine?: object } & Record<string, object>;
  /** Default: true. */
  bridge?: boolean;
  /** What has to be there before drover starts. */
  prepare?: (api: Kubernetes) => Promise<void>;
}

export const settingsOf = ({ settings: { virtualMachine, ...more } = {} }: VmWorldOptions): object => ({
  ...settings,
  ...more,
  virtualMachine: { ...settings.virtualMachine, ...virtualMachine },
});

/** Of every command. */
export const commandEnv = { DROVER_USER: 'flow-test', DROVER_WEB_UI: 'http://ui', NO_COLOR: '1' };

/** What a world of VMs stands on: a lab, or a simulation. */
export interface VmBase {
  client: Client;
  /** kube-apiserver, as the administrator. */
  api: Kubernetes;
  /** Another client of the vCenter. */
  vcenter: VcenterWitness;
  control: VcenterControl;
  drover: Pick<Drover, 'kill' | 'restart' | 'metricsUrls'>;
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** `drover` with these arguments, and {@link commandEnv}. */
  command(args: readonly string[]): Promise<CommandEnd>;
  /** For the invariants. */
  observed: Observed & { vms: ObservedVms; planted: { name: string; value: string }[] };
  /** Everything that drover has left where others may read it: histories, logs, objects. */
  texts(): Promise<Snapshot['texts']>;
  close(): Promise<void>;
}

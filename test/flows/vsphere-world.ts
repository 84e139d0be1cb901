import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openVcenter, type ClientOptions, type Vim } from '../../activities/vsphere/client.ts';
import { openDatastoreHttp } from '../../activities/vsphere/datastore-http.ts';
import { openGateway } from '../../activities/vsphere/gateway.ts';
import { openRest } from '../../activities/vsphere/rest/client.ts';
import type { VcenterGateway } from '../../activities/vsphere/types.ts';
import { startLab } from '../../lab/lab.ts';
import { connectVcenterControl } from '../../lab/vsphere/control.ts';
import type { VsphereHandle } from '../../lab/vsphere/handle.ts';
import { openGovcWitness } from '../../lab/vsphere/witness.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { VcenterSettings } from '../../runtime/config/vsphere-settings.ts';
import { openVsphereContext, type VsphereContext, type VsphereCounterpart } from '../contracts/vsphere-context.ts';

/** The first run on a machine builds the simulator. */
export const startTimeoutMs = 15 * 60_000;

/** A vCenter of the lab's, for one suite. */
export async function openLabVsphere(): Promise<VsphereCounterpart & { handle: VsphereHandle }> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-vsphere-')));
  const lab = await startLab({ dir: join(root, 'lab'), parts: ['vsphere'] });
  const { vsphere: handle } = lab.handles;
  const password = () => readFileSync(handle.passwordFile, 'utf8');
  return {
    handle,
    clock: systemClock,
    witness: openGovcWitness(handle),
    control: connectVcenterControl(handle),
    settings: {
      name: 'lab',
      url: handle.url,
      credential: () => Promise.resolve({ username: handle.username, password: password() }),
      ca: readFileSync(handle.caFile, 'utf8'),
      thumbprint: null,
      budget: { calls: 8, callsPerSecond: 1_000, tasks: 32 },
      places: { zones: {}, storagePolicies: {}, networks: {} },
    },
    openVim: (settings) => openVcenter(settings, { clock: systemClock }),
    openRest: (settings) => openRest(settings, { clock: systemClock }),
    openDatastoreHttp: (settings, vim) => openDatastoreHttp(settings, vim, { clock: systemClock, transferMs: 60_000 }),
    run: (work) => work(),
    async close() {
      await lab.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The lab's vCenter with what only its wire has: certificates, passwords, time-outs of its client. */
export interface VsphereWorld extends Omit<VsphereContext, 'connect' | 'gateway'> {
  handle: VsphereHandle;
  connect(change?: Partial<VcenterSettings>, options?: Partial<ClientOptions>): Vim;
  gateway(change?: Partial<VcenterSettings>, options?: Partial<ClientOptions>): VcenterGateway;
}

export async function openVsphereWorld(): Promise<VsphereWorld> {
  const counterpart = await openLabVsphere();
  const context = await openVsphereContext(counterpart);
  const open: Vim[] = [];
  const connect: VsphereWorld['connect'] = (change, options = {}) => {
    const vim = openVcenter(context.settings(change), { clock: systemClock, ...options });
    open.push(vim);
    return vim;
  };
  return {
    ...context,
    handle: counterpart.handle,
    connect,
    gateway: (change = {}, options = {}) =>
      openGateway(connect(change, options), context.settings(change).budget, systemClock),
    async close() {
      await Promise.all(open.map((vim) => vim.close()));
      await context.close();
      await counterpart.close();
    },
  };
}

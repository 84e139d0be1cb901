import { readFileSync } from 'node:fs';
import { createRedfishClient } from '../../../activities/redfish/client.ts';
import { redfishServes } from '../../../lab/parts/redfish.ts';
import { killService, respawnService, signalService } from '../../../lab/processes.ts';
import type { RedfishHandle } from '../../../lab/redfish/handle.ts';
import { connectMachines } from '../../../lab/redfish/machines.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { never } from '../../contracts/hosts/subject.ts';
import type { RedfishSubject } from '../../contracts/hosts/redfish.ts';

/** The lab's BMC. */
export function redfishOfLab(handle: RedfishHandle): RedfishSubject {
  const uuidOf = (host: string): string => handle.machines[host] ?? '';
  return {
    clock: systemClock,
    run: (body) => body(),
    createRedfishClient: (settings, options) => createRedfishClient(settings, { clock: systemClock, ...options }),
    settingsOf: (host) => ({
      url: handle.url,
      username: handle.username,
      password: readFileSync(handle.passwordFile, 'utf8'),
      auth: 'basic',
      ca: readFileSync(handle.caFile, 'utf8'),
      system: { uuid: uuidOf(host) },
    }),
    uuidOf,
    machines: connectMachines(handle),
    freeze: () => signalService(handle.dir, 'redfish', 'SIGSTOP'),
    thaw: () => signalService(handle.dir, 'redfish', 'SIGCONT'),
    kill: () => killService(handle.dir, 'redfish'),
    restart: async () =>
      void (await respawnService(handle.dir, 'redfish', { ready: () => redfishServes(handle) }, never)),
  };
}

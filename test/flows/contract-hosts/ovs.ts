import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openOvs } from '../../../activities/ovs/client.ts';
import type { OvsdbCredential } from '../../../activities/ovs/types.ts';
import { setBridges } from '../../../lab/parts/ovs-bridges.ts';
import { freezeOvsdb, killOvsdb, restartOvsdb, thawOvsdb } from '../../../lab/parts/ovs-faults.ts';
import type { OvsHandle, OvsHost } from '../../../lab/parts/ovs-handle.ts';
import { ensureAuthority, ensureCertificate } from '../../../lab/pki.ts';
import { runCommand } from '../../../lab/run-command.ts';
import { systemClock } from '../../../runtime/clock.ts';
import type { OvsSubject } from '../../contracts/hosts/ovs.ts';

/** The lab's OVSDB servers. @param dir for files of the tests */
export async function ovsOfLab(handle: OvsHandle, dir: string): Promise<OvsSubject> {
  const strange = join(dir, 'strange');
  const authority = await ensureAuthority(runCommand, strange);
  const client = await ensureCertificate(runCommand, strange, authority, { name: 'drover', usage: 'clientAuth' });
  const credential = (
    caFile: string,
    { certificateFile, keyFile }: { certificateFile: string; keyFile: string },
  ): OvsdbCredential => ({
    ca: readFileSync(caFile, 'utf8'),
    certificate: readFileSync(certificateFile, 'utf8'),
    key: readFileSync(keyFile, 'utf8'),
  });
  const hostOf = (name: string): OvsHost => {
    const host = handle.hosts[name];
    if (host === undefined) throw new Error(`the lab has no OVSDB server for ${name}`);
    return host;
  };
  return {
    clock: systemClock,
    run: (body) => body(),
    openOvs: (remote, options, signal, observe) =>
      openOvs(remote, { clock: systemClock, ...options, ...(observe && { observe }) }, signal),
    hostOf,
    credential: credential(handle.caFile, handle.client),
    strangers: credential(authority.certificateFile, client),
    setBridges: (bridges) => setBridges(hostOf('node-1'), bridges),
    freeze: () => freezeOvsdb(handle, 'node-1'),
    thaw: () => thawOvsdb(handle, 'node-1'),
    kill: () => killOvsdb(handle, 'node-1'),
    restart: async () => void (await restartOvsdb(handle, 'node-1')),
  };
}

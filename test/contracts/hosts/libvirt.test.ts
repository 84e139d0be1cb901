import { endpointOf } from '../../../activities/libvirt/endpoint.ts';
import { newCheckName, tinyDomainXml } from '../../../activities/libvirt/xml.ts';
import { createFakeHosts, type FakeHosts } from '../../fakes/hosts/hosts.ts';
import { runIn, startProcess } from '../../simulator/process.ts';
import { never, openVirtual } from './subject.ts';
import { libvirtChecksContract } from './libvirt-checks.ts';
import { openHost } from './libvirt-subject.ts';
import { libvirtContract } from './libvirt.ts';
import { libvirtStorageContract, type StorageSubject } from './libvirt-storage.ts';

const key = Buffer.from('the key of a client of Ceph’s');
const tcpUri = 'qemu+tcp://{host}/system';

function open(): StorageSubject {
  const virtual = openVirtual();
  const hosts = createFakeHosts(virtual);
  const credential = { user: 'drover', password: 'the-libvirt-password' };
  hosts.add({ name: openHost, address: '10.0.0.11' });
  hosts.add({ name: 'node-2', address: '10.0.0.12', libvirt: { credential } });
  hosts.files.set('password', `${credential.password}\n`).set('wrong', 'not-the-password\n');
  hosts.ceph.clients.set('libvirt', key.toString('base64'));
  const { libvirt } = hosts.host(openHost);
  const images = hosts.ceph.pools.get('vms')?.images ?? [];
  return {
    ...virtual,
    connectLibvirt: (endpoint, access, options, signal, observe) =>
      hosts.connectLibvirt(endpoint, access, { ...options, ...(observe && { observe }) }, signal),
    readText: hosts.readText,
    addressOf: (host) => hosts.host(host).address,
    tcpUri,
    tlsUri: 'qemu+tls://{host}/system',
    tls: { caFile: 'ca.pem', certFile: 'client.pem', keyFile: 'client.key' },
    sasl: { user: credential.user, passwordFile: 'password' },
    wrongPasswordFile: 'wrong',
    killQemu: (name) => Promise.resolve(libvirt.guests.stop(name, 'failed')),
    killDaemon: (host) => Promise.resolve(hosts.host(host).libvirt.service.kill()),
    restartDaemon: (host) => Promise.resolve(hosts.host(host).libvirt.service.start()),
    freeze: (host) => hosts.host(host).libvirt.service.freeze(),
    thaw: (host) => hosts.host(host).libvirt.service.thaw(),
    startVmElsewhere: () => startVmElsewhere(hosts, virtual.random),
    ceph: {
      monitors: [hosts.ceph.monitor],
      user: 'libvirt',
      key,
      createImage: (name) => Promise.resolve(void images.push(name)),
      removeImage: (name) => Promise.resolve(void images.splice(images.indexOf(name), 1)),
      stopOsd: () => Promise.resolve(hosts.ceph.stopOsd()),
      startOsd: () => Promise.resolve(hosts.ceph.startOsd()),
    },
  };
}

async function startVmElsewhere(hosts: FakeHosts, random: () => number) {
  const process = startProcess('worker');
  const name = newCheckName(random);
  await runIn(process, async () => {
    const libvirt = await hosts.connectLibvirt(
      endpointOf(tcpUri, openHost),
      { certificate: null, credential: null },
      {},
      never,
    );
    await libvirt.createDomain(tinyDomainXml(name, 'qemu', null), { autodestroy: true }, never);
  });
  return { name, killProcess: () => void (process.isAlive = false) };
}

describe('libvirt, the fake', () => {
  let subject: StorageSubject;
  beforeEach(() => void (subject = open()));
  libvirtChecksContract(() => subject);
  libvirtContract(() => subject);
  libvirtStorageContract(() => subject);
});

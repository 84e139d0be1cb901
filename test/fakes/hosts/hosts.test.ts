import { createNetwork } from '../../simulator/network.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { runIn, startProcess } from '../../simulator/process.ts';
import { randomOf } from '../../faults/random.ts';
import { drive } from '../drive.ts';
import { createFakeHosts } from './hosts.ts';

const never = new AbortController().signal;
const noAccess = { certificate: null, credential: null };

function open() {
  const random = randomOf(1);
  const clock = createVirtualClock(Date.UTC(2026, 0, 1), random);
  const network = createNetwork({ clock, random });
  const stopped: string[] = [];
  const hosts = createFakeHosts({
    clock,
    network,
    random,
    onGuestStopped: (host, { name }) => stopped.push(`${host} ${name}`),
  });
  const host = hosts.add({ name: 'node-1', address: '10.0.0.11' });
  const connect = () =>
    hosts.connectLibvirt(
      { transport: 'tcp', host: '10.0.0.11', port: 16_509, uri: 'qemu:///system' },
      noAccess,
      {},
      never,
    );
  return { clock, network, hosts, host, stopped, connect };
}

test('a VM with autodestroy ends with the process that started it', async () => {
  const { clock, host, connect } = open();
  const worker = startProcess('worker');
  const xml = "<domain type='kvm'><name>tiny</name></domain>";
  await drive(
    clock,
    runIn(worker, async () => (await connect()).createDomain(xml, { autodestroy: true }, never)),
  );
  expect(host.libvirt.guests.list()).toMatchObject([{ name: 'tiny', state: 'running' }]);
  worker.isAlive = false;
  expect(host.libvirt.guests.list()).toEqual([]);
});

test('a fault of the network loses the connection, and what lived with it', async () => {
  const { clock, network, host, connect } = open();
  const libvirt = await drive(clock, connect());
  const events = await drive(clock, libvirt.domainEvents(never));
  network.setAway('libvirt', true);
  await expect(drive(clock, libvirt.pools(never))).rejects.toMatchObject({ type: 'LibvirtUnavailable' });
  await expect(drive(clock, events[Symbol.asyncIterator]().next())).rejects.toMatchObject({
    type: 'LibvirtUnavailable',
  });
  expect(host.libvirt.sessions).toBe(0);
});

test('an event that the network does not bring is lost, and the connection with it', async () => {
  const { clock, network, host, connect } = open();
  host.libvirt.guests.start({ name: 'instance-00000001' });
  const events = await drive(clock, (await drive(clock, connect())).domainEvents(never));
  network.setAway('libvirt', true);
  host.libvirt.guests.stop('instance-00000001', 'failed');
  await expect(drive(clock, events[Symbol.asyncIterator]().next())).rejects.toMatchObject({
    type: 'LibvirtUnavailable',
  });
  expect(host.libvirt.sessions).toBe(0);
});

test('a BMC that powers its machine off takes the guests and the daemons with it', async () => {
  const { clock, hosts, host, stopped, connect } = open();
  host.libvirt.guests.start({ name: 'instance-00000001' });
  const redfish = hosts.createRedfishClient(hosts.bmcOf('node-1'));
  await drive(
    clock,
    redfish.findSystem(never).then((system) => redfish.forceOff(system, never)),
  );
  await drive(clock, clock.sleep(1_000));
  expect(host.power).toBe('Off');
  expect(host.libvirt.guests.list()).toMatchObject([{ state: 'shut-off' }]);
  expect(stopped).toEqual([]);
  await expect(drive(clock, connect())).rejects.toThrow('libvirt at 10.0.0.11:16509: no connection within 8 s');
  host.restorePower();
  await expect(drive(clock, connect())).resolves.toMatchObject({ uri: 'qemu:///system' });
});

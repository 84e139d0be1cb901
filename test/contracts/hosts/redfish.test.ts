import { createFakeHosts } from '../../fakes/hosts/hosts.ts';
import { openVirtual } from './subject.ts';
import { redfishContract, type RedfishSubject } from './redfish.ts';

function open(): RedfishSubject {
  const virtual = openVirtual();
  const hosts = createFakeHosts(virtual);
  const [{ bmc }] = [
    hosts.add({ name: 'node-1' }),
    hosts.add({ name: 'node-2', bmcUrl: 'https://bmc-node-1.example' }),
  ];
  return {
    ...virtual,
    createRedfishClient: hosts.createRedfishClient,
    settingsOf: hosts.bmcOf,
    uuidOf: (host) => hosts.host(host).uuid,
    machines: bmc.machines,
    freeze: bmc.service.freeze,
    thaw: bmc.service.thaw,
    kill: () => Promise.resolve(bmc.service.kill()),
    restart: () => Promise.resolve(bmc.service.start()),
  };
}

describe('Redfish, the fake', () => {
  let subject: RedfishSubject;
  beforeEach(() => void (subject = open()));
  redfishContract(() => subject);
});

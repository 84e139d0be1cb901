import { defaultBridges } from '../../../lab/parts/ovs-bridges.ts';
import { createFakeHosts } from '../../fakes/hosts/hosts.ts';
import { fakeCertificates } from '../../fakes/hosts/reach-daemons.ts';
import { openVirtual } from './subject.ts';
import { ovsContract, type OvsSubject } from './ovs.ts';

function open(): OvsSubject {
  const virtual = openVirtual();
  const hosts = createFakeHosts(virtual);
  const [{ ovs }] = [hosts.add({ name: 'node-1' }), hosts.add({ name: 'node-2' })];
  const { ca, cert, key } = fakeCertificates;
  return {
    ...virtual,
    openOvs: (remote, options, signal, observe) =>
      hosts.openOvs(remote, { ...options, ...(observe && { observe }) }, signal),
    hostOf: (name) => ({ tcp: `tcp:${name}:6641`, ssl: `ssl:${name}:6640` }),
    credential: { ca, certificate: cert, key },
    strangers: { ca: 'another CA', certificate: 'another certificate', key: 'another key' },
    setBridges: (bridges) => Promise.resolve(ovs.setBridges(bridges)),
    freeze: ovs.service.freeze,
    thaw: ovs.service.thaw,
    kill: () => Promise.resolve(ovs.service.kill()),
    restart: () => Promise.resolve(ovs.service.start()),
  };
}

describe('Open vSwitch, the fake', () => {
  let subject: OvsSubject;
  beforeEach(() => void (subject = open()));
  ovsContract(() => subject, defaultBridges);
});

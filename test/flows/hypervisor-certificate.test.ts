import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { installCertificates } from '../../lab/cert-manager.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { checkInvariants } from '../invariants.ts';
import type { HypervisorFixture } from './hypervisor-fixture.ts';
import { lifecycleSettings, openHypervisorFixture } from './hypervisor-fixture.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * What cert-manager is asked for, so that the libvirt of a host has a certificate: as kube-apiserver stores it, by the
 * fields that cert-manager has.
 */

const host = 'node-4';
const path = resourcePath('cert-manager.io/v1', 'certificates', { namespace: 'monsoon3', name: `libvirt-${host}` });
let world: World;
let fixture: HypervisorFixture;

interface Certificate {
  metadata: { ownerReferences?: object[] };
  spec: Record<string, unknown>;
}
const request = (method: 'GET' | 'PATCH', body?: object): Promise<Certificate> =>
  world.api.request(
    { method, path, ...(body !== undefined && { body, patchType: 'merge' as const }) },
    AbortSignal.timeout(10_000),
  ) as Promise<Certificate>;

const requested = (ipAddress: string): object => ({
  secretName: `tls-libvirt-${host}`,
  privateKey: { algorithm: 'RSA', encoding: 'PKCS1', size: 4096 },
  duration: '1128h0m0s',
  renewBefore: '888h0m0s',
  usages: ['server auth', 'client auth', 'cert sign', 'digital signature', 'key encipherment'],
  subject: { organizations: ['nova'] },
  commonName: host,
  dnsNames: [host],
  ipAddresses: [ipAddress],
  issuerRef: { name: 'nova-hypervisor-agents-ca-issuer', kind: 'Issuer', group: 'cert-manager.io' },
});

beforeAll(async () => {
  world = await openWorld({ settings: lifecycleSettings(), ownLab: true });
  await installCertificates(world.api);
  fixture = await openHypervisorFixture(world, { zone: 'az-certificate', hosts: [host] });
}, limitMs);
afterAll(() => world.close(), limitMs);
afterEach(() => checkInvariants(world), limitMs);

test(
  'a Node gets the Certificate that the replaced operator makes, which goes with it',
  async () => {
    await fixture.applyNode(host);
    await fixture.reportNode(host, { address: '192.0.2.7' });
    await fixture.untilState(host, 'Active');
    await fixture.untilCondition(host, hypervisorConditions.certificateRequested, 'Requested', /cmctl/u);
    const { metadata, spec } = await until('the address to be in it', 60_000, async () => {
      const found = await request('GET');
      return JSON.stringify(found.spec['ipAddresses']) === '["192.0.2.7"]' ? found : JSON.stringify(found.spec);
    });
    expect(spec).toEqual(requested('192.0.2.7'));
    const { uid } = JSON.parse(await world.kubectl(['get', 'node', host, '-o', 'json'])).metadata as { uid: string };
    expect(metadata.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'Node', name: host, uid }]);
  },
  limitMs,
);

test(
  'it follows the addresses of the Node, and keeps what another has set in it',
  async () => {
    await request('PATCH', { spec: { privateKey: { rotationPolicy: 'Always' } } });
    await fixture.reportNode(host, { address: '192.0.2.8' });
    await until('the new address to be in it', 60_000, async () => {
      const { spec } = await request('GET');
      return JSON.stringify(spec['ipAddresses']) === '["192.0.2.8"]' ? true : JSON.stringify(spec);
    });
    expect((await request('GET')).spec).toEqual({
      ...requested('192.0.2.8'),
      privateKey: { algorithm: 'RSA', encoding: 'PKCS1', size: 4096, rotationPolicy: 'Always' },
    });
  },
  limitMs,
);

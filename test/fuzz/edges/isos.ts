import * as fc from 'fast-check';

import { allowedUrl } from '../../../activities/agents/iso/allowed-url.ts';
import { validatorOf } from '../../../activities/agents/iso/http-iso-source.ts';
import {
  isIsoFile,
  isIsoPrefix,
  isoPrefixOf,
  judgeIso,
  secretsOf,
  shownUrl,
} from '../../../contracts/agent-pool/iso.ts';
import { isoFactsOf, isoStatusOf } from '../../../contracts/agent-pool/read-iso.ts';
import { vsphereAgentPoolSchema } from '../../../contracts/crds/vsphere-agent-pool.ts';
import { edge, type Edge } from '../edge.ts';
import { hostileText, nearText } from '../hostile.ts';

const token = 'eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3NjR9.c2lnbmF0dXJl';
const url = nearText(
  `https://images.test/images/one?image_token=${token}`,
  `https://images.test/bytoken/${token}/4.14/x86_64/full.iso`,
  'http://images.test:8080/full.iso',
);
const sha = 'a'.repeat(64);
const text = (...usual: string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: hostileText() });
const version = fc.record({ path: text(`agent-forge/${sha}.iso`), sha256: text(sha) });
const iso = fc.record(
  {
    url: text('https://images.test/images/one'),
    path: text(`agent-forge/${sha}.iso`),
    sha256: text(sha),
    datastore: text('lab /DC0 [ds]'),
    etag: text('"a"'),
    checkedAt: text('2026-01-01T00:00:00Z', '9999-12-31T23:59:59Z'),
    forceRefreshToken: text('now'),
    history: fc.array(version, { maxLength: 3 }),
  },
  { requiredKeys: [] },
);
const metadata = {
  name: 'p',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const poolOf = (status: object, prefix: string, interval: string) => ({
  apiVersion: 'agent-forge.containeroo.ch/v1alpha1',
  kind: 'VsphereAgentPool',
  metadata: { ...metadata, generation: 1 },
  spec: {
    agent: { labels: { a: 'b' } },
    controlPlaneNamespace: 'c',
    hostedClusterRef: { name: 'h' },
    infraEnvRef: { name: 'i' },
    nodePoolRef: { name: 'n' },
    template: {},
    iso: { pathPrefix: prefix, checkInterval: interval },
    vsphere: {
      credentialsSecretRef: { name: 's' },
      datacenter: 'd',
      datastoreCluster: 'c',
      isoDatastore: 'i',
      network: 'n',
      resourcePool: 'r',
    },
  },
  status: { iso: status },
});

export const isoEdges: readonly Edge[] = [
  edge({
    name: 'ISO: where it comes from',
    inputs: url,
    failures: ['IsoRefused'],
    read: (given) => allowedUrl(given, ['images.test', 'images.test:8080']).href,
    holds: (href) => ['images.test', 'images.test:8080'].includes(new URL(href as string).host),
  }),
  edge({
    name: 'ISO: where a redirect leads',
    inputs: url,
    failures: ['IsoRefused'],
    read: (given) => allowedUrl(given, ['images.test'], new URL('https://images.test/a.iso')).href,
    holds: (href) => (href as string).startsWith('https://images.test/'),
  }),
  edge({
    name: 'ISO: what is shown of its URL',
    inputs: url,
    failures: [],
    read: (given) => shownUrl(given),
    holds: (shown, given) =>
      secretsOf(given).every((secret) => secret.length < 41 || !(shown as string).includes(secret)),
  }),
  edge({
    name: 'ISO: what a server calls its version',
    inputs: fc.dictionary(
      fc.constantFrom('etag', 'last-modified', 'date'),
      text('"a"', 'W/"a"', 'Thu, 01 Jan 2026 00:00:00 GMT'),
    ),
    failures: [],
    read: (headers) => validatorOf(headers),
    holds: (validator) => validator === null || !/[\r\n]/u.test(validator as string),
  }),
  edge({
    name: 'ISO: its folder',
    inputs: text('team', 'team/isos/', '../team'),
    failures: [],
    read: (given) => ({ prefix: isoPrefixOf(given), isTaken: isIsoPrefix(isoPrefixOf(given)) }),
    holds: (value) => {
      const { prefix, isTaken } = value as { prefix: string; isTaken: boolean };
      return !isTaken || prefix.split('/').every((part) => !['', '.', '..'].includes(part));
    },
  }),
  edge({
    name: 'ISO: what a pool says of it',
    inputs: fc.record({ iso, prefix: text('team'), interval: text('10m', '1h30m') }),
    failures: [],
    read: (given) => {
      const pool = vsphereAgentPoolSchema.safeParse(poolOf(given.iso, given.prefix, given.interval));
      if (!pool.success) return null;
      const facts = isoFactsOf(
        pool.data,
        { status: { conditions: [], isoDownloadURL: 'https://images.test/images/one' } },
        { isGone: false, nowMs: Date.UTC(2026, 5, 1) },
      );
      const { current, history } = facts.recorded;
      const written =
        current === null
          ? null
          : isoStatusOf({
              checkedMs: 0,
              url: '',
              forceToken: null,
              etag: null,
              datastore: 'lab /DC0 [ds]',
              current,
              history,
            });
      return { judged: judgeIso(facts), written, deletable: history.filter(isIsoFile).map(({ path }) => path) };
    },
    holds: (value) => {
      const { deletable = [] } = (value ?? {}) as { deletable?: string[] };
      return deletable.every((path) => path.endsWith('.iso') && !path.includes('..'));
    },
  }),
];

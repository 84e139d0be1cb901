import * as fc from 'fast-check';
import { openCeph } from '../../../activities/ceph/client.ts';
import { judgeHealth, judgePools } from '../../../activities/ceph/check-ceph.ts';
import type { CephClient } from '../../../activities/ceph/types.ts';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { edge, type Edge } from '../edge.ts';
import { hostileText, nearJson } from '../hostile.ts';

const never = new AbortController().signal;

interface Wire {
  status: number;
  text: string;
}

const refusals = [
  { detail: 'Invalid credentials', code: 'invalid_credentials', component: 'auth' },
  { status: '404 Not Found', detail: 'no such path', request_id: 'r-1' },
];

/** Mostly an answer that says yes. */
const wire = (good: number, ...samples: readonly unknown[]): fc.Arbitrary<Wire> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ status: fc.constant(good), text: nearJson(...samples) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        status: fc.constantFrom(202, 204, 303, 400, 401, 403, 404, 415, 429, 500, 503),
        text: fc.oneof(nearJson(...refusals), hostileText()),
      }),
    },
  );

const token = { status: 201, text: JSON.stringify({ token: 'the-token' }) };

/** A dashboard that answers the login with one thing and all else with another. */
const answering = (login: Wire, rest: Wire): CephClient =>
  openCeph(
    {
      dashboards: ['http://mgr-1'],
      user: 'drover',
      password: 'the-password',
      ca: null,
      pools: [],
      toleratedChecks: [],
    },
    {
      clock: systemClock,
      http: {
        send: ({ path }) => Promise.resolve({ ...(path === '/api/auth' ? login : rest), requestId: '', location: '' }),
        close: () => Promise.resolve(),
      },
    },
  );

const health = {
  health: {
    status: 'HEALTH_WARN',
    checks: [
      {
        type: 'OSD_DOWN',
        severity: 'HEALTH_WARN',
        summary: { message: '1 osds down', count: 1 },
        detail: [],
        muted: false,
      },
    ],
    mutes: [],
  },
};
const pools = [
  { pool: 1, pool_name: 'vms', application_metadata: ['rbd'], size: 3 },
  { pool_name: 'bare', application_metadata: [] },
];

const failures: ErrorCode[] = [
  'AnswerMalformed',
  'CephCredentialRefused',
  'CephNotPermitted',
  'CephUnavailable',
  'RequestRefused',
];
const isShort = (findings: unknown): boolean =>
  (findings as { observed: string }[]).every(({ observed }) => observed.length <= 900);

export const cephEdges: readonly Edge[] = [
  edge({
    name: 'Ceph: a login',
    inputs: wire(201, { token: 'a-token', username: 'drover', permissions: {}, pwdUpdateRequired: false }),
    failures,
    read: (login) => answering(login, { status: 200, text: JSON.stringify(health) }).health(never),
  }),
  edge({
    name: 'Ceph: its health',
    inputs: wire(200, health),
    failures,
    read: async (answer) => [judgeHealth('node-1', ['OSD_NEARFULL'], await answering(token, answer).health(never))],
    holds: isShort,
  }),
  edge({
    name: 'Ceph: its pools',
    inputs: wire(200, pools),
    failures,
    read: async (answer) => judgePools(['vms', 'volumes'], await answering(token, answer).pools(never)),
    holds: isShort,
  }),
];

import { verbOf } from './verb.ts';

const id = '6f1f9d5a-0f0e-4d0c-9f61-0a4b5c6d7e8f';

type Row = [method: string, path: string, body: unknown, verb: string];
const rows: Row[] = [
  ['GET', '/compute/v2.1/servers/detail', undefined, 'GET /servers/detail'],
  ['GET', `/v2.1/servers/${id}`, undefined, 'GET /servers/{id}'],
  [
    'POST',
    `/v2.1/servers/${id}/action`,
    { 'os-migrateLive': { host: 'node-2' } },
    'POST /servers/{id}/action os-migrateLive',
  ],
  ['POST', `/v2.1/servers/${id}/action`, { migrate: null }, 'POST /servers/{id}/action migrate'],
  [
    'POST',
    `/v2.1/servers/${id}/migrations/17/action`,
    { force_complete: null },
    'POST /servers/{id}/migrations/{id}/action force_complete',
  ],
  ['DELETE', `/v2.1/servers/${id}/migrations/17`, undefined, 'DELETE /servers/{id}/migrations/{id}'],
  ['GET', `/v2.1/servers/${id}/os-instance-actions/req-${id}`, undefined, 'GET /servers/{id}/os-instance-actions/{id}'],
  ['PUT', `/v2.1/os-services/${id}`, { status: 'disabled' }, 'PUT /os-services/{id}'],
  ['GET', `/placement/resource_providers/${id}/traits`, undefined, 'GET /resource_providers/{id}/traits'],
  ['GET', `/placement/allocations/${id}`, undefined, 'GET /allocations/{id}'],
  ['PUT', '/placement/traits/CUSTOM_FAST', undefined, 'PUT /traits/{id}'],
  ['PUT', `/placement/resource_providers/${id}/traits`, { traits: [] }, 'PUT /resource_providers/{id}/traits'],
  [
    'POST',
    '/v2.1/os-aggregates/7/action',
    { add_host: { host: 'node-1' } },
    'POST /os-aggregates/{id}/action add_host',
  ],
  ['POST', '/v2.1/servers', { server: {} }, 'POST /servers'],
  ['POST', '/identity/v3/auth/tokens', { auth: {} }, 'POST /auth/tokens'],
  ['GET', '/v2.1/', undefined, 'GET /'],
  ['GET', '/who/knows', undefined, 'GET /'],
];

test.each(rows)('%s %s', (method, path, body, verb) => {
  expect(verbOf(method, path, body)).toBe(verb);
});

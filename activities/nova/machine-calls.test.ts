import type { HttpAnswer } from '../openstack/http.ts';
import { createMachineCalls, type MachineCalls } from './machine-calls.ts';

const never = new AbortController().signal;
const server = {
  id: 'a',
  name: 'worker-1',
  status: 'ACTIVE',
  tenant_id: 'p',
  created: '2026-01-01T00:00:00Z',
  metadata: { mark: '1' },
  'OS-EXT-STS:vm_state': 'active',
};
const read = {
  id: 'a',
  name: 'worker-1',
  projectId: 'p',
  metadata: { mark: '1' },
  createdAt: '2026-01-01T00:00:00Z',
  status: 'ACTIVE',
};

/** A Nova that answers everything with the same. */
function answering(status: number, body: unknown): MachineCalls {
  const answer: HttpAnswer = { status, headers: {}, requestId: 'req-1', text: JSON.stringify(body) };
  return createMachineCalls({
    region: 'RegionOne',
    http: { send: () => Promise.resolve(answer), close: () => Promise.resolve() },
    token: () => Promise.resolve('the-token'),
    use: (send) => send('the-token'),
    endpoint: () => Promise.resolve('http://nova/v2.1'),
    identity: () => Promise.reject(new Error('no test asks')),
    close: () => Promise.resolve(),
  });
}

test.each<[what: string, wire: object, expected: object | null]>([
  ['one that is there', server, read],
  ['one whose guest is destroyed', { ...server, 'OS-EXT-STS:vm_state': 'deleted' }, null],
  ['one that waits to be reclaimed', { ...server, 'OS-EXT-STS:vm_state': 'soft-delete' }, null],
])('%s', async (_, wire, expected) => {
  expect(await answering(200, { server: wire }).server('a', never)).toEqual(expected);
  expect(await answering(200, { servers: [wire] }).servers(never)).toEqual(expected === null ? [] : [expected]);
});

test('a server whose cell is down makes the list a failure', async () => {
  const partial = { id: 'b', status: 'UNKNOWN', tenant_id: 'p', created: '2026-01-01T00:00:00Z', links: [] };
  const nova = answering(200, { servers: [server, partial] });
  await expect(nova.servers(never)).rejects.toMatchObject({
    type: 'NovaUnavailable',
    message: expect.stringMatching(/server b .*cell is down/u),
  });
  await expect(answering(200, { server: partial }).server('b', never)).rejects.toMatchObject({
    type: 'NovaUnavailable',
  });
});

test.each([
  [404, { itemNotFound: { code: 404, message: 'no such server' } }, 'InstanceNotFound'],
  [
    409,
    { conflictingRequest: { code: 409, message: 'Cannot delete while it is in task_state powering-off' } },
    'InstanceBusy',
  ],
  [409, { conflictingRequest: { code: 409, message: 'Instance a is locked' } }, 'RequestRefused'],
  [403, { forbidden: { code: 403, message: 'Policy does not allow it' } }, 'NotPermitted'],
  [503, { error: { code: 503, message: 'away' } }, 'NovaUnavailable'],
])('a deletion that is answered with %s', async (status, body, type) => {
  await expect(answering(status, body).deleteServer('a', never)).rejects.toMatchObject({ type });
});

test('a 404 of something in between says nothing of a server', async () => {
  await expect(answering(404, 'not here').server('a', never)).rejects.toMatchObject({ type: 'AnswerMalformed' });
});

import { WorkflowNotFoundError } from '@temporalio/common';
import { AbsentError } from '../../../lab/absent-error.ts';
import { OpenStackError } from '../../../lab/openstack/session.ts';
import { refusalFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { VsphereFault } from '../../fakes/vsphere/fault.ts';
import { type Cast, NothingToDo } from './cast.ts';
import { isRefusal, perform } from './perform.ts';

const ofKubernetes = (httpStatus: number, details?: object): Error =>
  refusalFailure(httpStatus, JSON.stringify({ kind: 'Status', message: 'no', reason: 'X', details }), 'PATCH /x');

test.each<[what: string, error: unknown, expected: boolean]>([
  ['nothing to do it to', new NothingToDo(), true],
  ['no such run', new WorkflowNotFoundError('workflow not found', 'eviction/a', undefined), true],
  ['no such VM', new AbsentError('vCenter has no /DC0/vm/a'), true],
  ['a VM that is on', new VsphereFault('InvalidPowerState'), true],
  ['Nova: no such server', new OpenStackError('POST /servers/a/action', 404, {}), true],
  ['Nova: not in this state', new OpenStackError('POST /servers/a/action', 409, {}), true],
  ['Nova breaks', new OpenStackError('POST /servers/a/action', 500, {}), false],
  ['no such object', ofKubernetes(404, { name: 'a' }), true],
  ['the object is there', ofKubernetes(409, { name: 'a' }), true],
  ['admission refuses', ofKubernetes(422, { name: 'a' }), true],
  ['no such resource: its CRD is not there', ofKubernetes(404), false],
  ['kube-apiserver breaks', ofKubernetes(500), false],
  ['the event is broken', new TypeError("Cannot read properties of undefined (reading 'id')"), false],
  ['it calls what is not there', new ReferenceError('servers is not defined'), false],
  ['a number that is none', new RangeError('Invalid time value'), false],
  ['another error with words of a refusal', new Error('the simulation has no OpenStack'), false],
])('%s', (_, error, expected) => expect(isRefusal(error)).toBe(expected));

test('an event that is broken is no event that is refused', async () => {
  const cast = { hosts: ['a'], machines: [] } as unknown as Cast;
  await expect(perform(cast, { atMs: 0, kind: 'deleteEviction', which: 0, forMs: 1_000 })).rejects.toThrow(TypeError);
});

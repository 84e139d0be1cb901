import { parse } from 'yaml';

import { droverFailure } from '../../../runtime/failure.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { createReadBackup } from './activities.ts';

const { signal } = new AbortController();
const key = { namespace: 'team', name: 'web', uid: 'vm-uid' };
const object = {
  apiVersion: 'vmoperator.vmware.com/v1alpha6',
  kind: 'VirtualMachine',
  metadata: {
    namespace: 'team',
    name: 'web',
    uid: 'vm-uid',
    generation: 3,
    resourceVersion: '9',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'on' },
    managedFields: [{ manager: 'kubectl' }],
  },
  spec: {
    className: 'small',
    unheardOf: { of: ['drover'] },
    volumes: [
      { name: 'a', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'b', persistentVolumeClaim: { claimName: 'later' } },
      { name: 'c', persistentVolumeClaim: { claimName: 'gone' } },
    ],
  },
  status: {
    volumes: [
      { name: 'a', attached: true, diskUUID: 'u-a' },
      { name: 'b', attached: false, diskUUID: 'u-b' },
      { name: 'c', attached: true, diskUUID: 'u-c' },
      { name: 'boot', type: 'Classic', attached: true, diskUUID: 'u-boot' },
    ],
    powerState: 'PoweredOn',
  },
};
const claim = { metadata: { name: 'data', uid: 'c', resourceVersion: '1' }, spec: { accessModes: ['ReadWriteOnce'] } };

const asked: string[] = [];
const readFrom = (answers: Record<string, unknown>) => {
  const request = async ({ path }: { path: string }): Promise<unknown> => {
    asked.push(path);
    const found = Object.entries(answers).find(([end]) => path.endsWith(end));
    if (found === undefined) throw droverFailure('ObjectNotFound', path);
    return found[1];
  };
  return createReadBackup(openObjects({ request } as unknown as Kubernetes));
};

test('the object as it is, also what drover knows nothing of, without what only its API server needs', async () => {
  const { yaml, generation } = await readFrom({
    '/virtualmachines/web': { ...object, spec: { className: 'small', unheardOf: { of: ['drover'] } } },
  })(key, signal);
  expect(generation).toBe(3);
  expect(parse(yaml)).toEqual({
    apiVersion: object.apiVersion,
    kind: 'VirtualMachine',
    metadata: { namespace: 'team', name: 'web', uid: 'vm-uid', generation: 3, annotations: { kept: 'on' } },
    spec: { className: 'small', unheardOf: { of: ['drover'] } },
  });
  // Kubernetes' readers of YAML take a bare `on` for true.
  expect(yaml).toContain('kept: "on"');
});

test('no Secret is asked for, whatever the spec names', async () => {
  asked.splice(0);
  await readFrom({
    '/virtualmachines/web': {
      ...object,
      spec: { bootstrap: { cloudInit: { rawCloudConfig: { name: 's', key: 'k' } } } },
    },
  })(key, signal);
  expect(asked).toEqual([expect.stringContaining('/virtualmachines/web')]);
});

test('claims whose disks are attached, but for one that is gone', async () => {
  const { claims } = await readFrom({ '/virtualmachines/web': object, '/persistentvolumeclaims/data': claim })(
    key,
    signal,
  );
  expect(claims).toEqual([{ diskUuid: 'u-a', name: 'data', accessModes: ['ReadWriteOnce'] }]);
});

test('another object of that name is not stored', async () => {
  await expect(readFrom({ '/virtualmachines/web': object })({ ...key, uid: 'before' }, signal)).rejects.toMatchObject({
    type: 'ObjectNotFound',
  });
});

test('an object that is nested too deeply to be written as YAML is refused', async () => {
  const levels = 500;
  const nested: unknown = JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  const reading = readFrom({ '/virtualmachines/web': { ...object, spec: { className: 'small', nested } } });
  await expect(reading(key, signal)).rejects.toMatchObject({
    type: 'InvalidObject',
    message: expect.stringContaining('team/web is nested too deeply'),
  });
});

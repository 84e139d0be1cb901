import { gunzipSync } from 'node:zlib';

import { devices } from '../../../test/fixtures/activities/vsphere.ts';
import { backupOptions } from './submit-backup.ts';

const unpack = (value: string | undefined): string => gunzipSync(Buffer.from(value ?? '', 'base64')).toString('utf8');
const stored = { generation: 7, yaml: 'kind: VirtualMachine\n', claims: [] };

test('the object and its generation, by upstream’s key; of claims that are gone nothing is left', () => {
  const options = backupOptions(stored, devices);
  expect(unpack(options['vmservice.virtualmachine.resource.yaml'])).toBe('kind: VirtualMachine\n');
  expect(options).toMatchObject({ 'drover.backupVersion': '7', 'vmservice.virtualmachine.pvc.disk.data': '' });
  expect(Object.keys(options)).toHaveLength(3);
  // Otherwise it would be written again at each look.
  expect(backupOptions(stored, devices)).toEqual(options);
});

test('which disk is whose claim; one whose disk is not there is left out', () => {
  const claims = [
    { diskUuid: '6000c29d', name: 'data', accessModes: ['ReadWriteOnce'] },
    { diskUuid: 'another', name: 'elsewhere', accessModes: [] },
  ];
  const options = backupOptions({ ...stored, claims }, devices);
  expect(JSON.parse(unpack(options['vmservice.virtualmachine.pvc.disk.data']))).toEqual([
    { FileName: '[ds] web/web.vmdk', PVCName: 'data', AccessModes: ['ReadWriteOnce'] },
  ]);
});

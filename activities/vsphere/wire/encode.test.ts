import { encodeRequest } from './encode.ts';

const vm = { type: 'VirtualMachine', value: 'vm-1' };
const bodyOf = (text: string): string => /<soapenv:Body>(.*)<\/soapenv:Body>/u.exec(text)?.[1] ?? '';

test('elements come in the order of the schema, those of the base first, whatever the order they are given in', () => {
  const device = {
    $type: 'VirtualDisk',
    capacityInKB: 1024,
    unitNumber: 0,
    controllerKey: 1000,
    key: -1,
    backing: { $type: 'VirtualDiskFlatVer2BackingInfo', thinProvisioned: true, diskMode: 'persistent', fileName: '' },
  };
  expect(
    bodyOf(
      encodeRequest(
        'ReconfigVM_Task',
        vm,
        {
          spec: {
            extraConfig: [{ $type: 'OptionValue', value: 'v', key: 'k' }],
            deviceChange: [{ device, operation: 'add' }],
            memoryMB: 64,
            changeVersion: '7',
          },
        },
        null,
      ),
    ),
  ).toBe(
    '<ReconfigVM_Task xmlns="urn:vim25"><_this type="VirtualMachine">vm-1</_this><spec><changeVersion>7</changeVersion><memoryMB>64</memoryMB>' +
      '<deviceChange xsi:type="VirtualDeviceConfigSpec"><operation>add</operation><device xsi:type="VirtualDisk"><key>-1</key><backing xsi:type="VirtualDiskFlatVer2BackingInfo"><fileName></fileName><diskMode>persistent</diskMode><thinProvisioned>true</thinProvisioned></backing>' +
      '<controllerKey>1000</controllerKey><unitNumber>0</unitNumber><capacityInKB>1024</capacityInKB></device></deviceChange>' +
      '<extraConfig xsi:type="OptionValue"><key>k</key><value xsi:type="xsd:string">v</value></extraConfig></spec></ReconfigVM_Task>',
  );
});

test('says who asks', () => {
  expect(encodeRequest('PowerOnVM_Task', vm, {}, 'run <1>')).toContain(
    '<soapenv:Header><operationID xmlns="urn:vim25">run &lt;1&gt;</operationID></soapenv:Header>',
  );
});

test.each([
  ['text', 'a<b>&"\r\n\té', 'xsi:type="xsd:string">a&lt;b&gt;&amp;&quot;&#13;\n\té<'],
  ['a boolean', true, 'xsi:type="xsd:boolean">true<'],
  ['a small number', -5, 'xsi:type="xsd:int">-5<'],
  ['a large number', 2 ** 40, 'xsi:type="xsd:long">1099511627776<'],
  ['a fraction', 0.5, 'xsi:type="xsd:double">0.5<'],
])('a value that is %s says its type', (_, value, expected) => {
  expect(
    encodeRequest('ReconfigVM_Task', vm, { spec: { extraConfig: [{ $type: 'OptionValue', key: 'k', value }] } }, null),
  ).toContain(expected);
});

test.each<[what: string, args: object, words: RegExp]>([
  ['a field that the schema does not have', { spec: { numCpu: 2 } }, /VirtualMachineConfigSpec has no numCpu/u],
  ['a field that is missing', {}, /ReconfigVM_Task\.spec is missing/u],
  ['a number that is text', { spec: { numCPUs: '2' } }, /numCPUs is no int/u],
  ['a number that is none', { spec: { numCPUs: NaN } }, /numCPUs is no int/u],
  ['a list that is none', { spec: { deviceChange: {} } }, /deviceChange is no list/u],
  [
    'another type',
    { spec: { deviceChange: [{ device: { $type: 'OptionValue', key: 'a' } }] } },
    /OptionValue is no VirtualDevice/u,
  ],
  [
    'a value of no known type',
    { spec: { extraConfig: [{ $type: 'OptionValue', key: 'k', value: {} }] } },
    /nothing is known of how to write/u,
  ],
])('refuses %s', (_, args, words) => {
  expect(() => encodeRequest('ReconfigVM_Task', vm, args as { spec: object }, null)).toThrow(words);
});

test('a character that XML cannot hold is bad input, and not shown', () => {
  const given = {
    spec: { extraConfig: [{ $type: 'OptionValue', key: 'guestinfo.userdata', value: 'the-secret\u0000' }] },
  };
  expect(() => encodeRequest('ReconfigVM_Task', vm, given, null)).toThrow(
    expect.objectContaining({ type: 'InvalidInput', message: expect.not.stringContaining('the-secret') }),
  );
  expect(() => encodeRequest('ReconfigVM_Task', vm, { spec: { annotation: '\ud800' } }, null)).toThrow(
    expect.objectContaining({ type: 'InvalidInput' }),
  );
});

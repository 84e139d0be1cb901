import * as fc from 'fast-check';

import { decodeResponse, localizedFault } from './decode.ts';
import { encodeRequest } from './encode.ts';
import { parseXml } from './xml.ts';

const envelope = (body: string, more = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ${more}><soapenv:Body>${body}</soapenv:Body></soapenv:Envelope>`;
const retrieved = (properties: string, more = ''): string =>
  envelope(
    `<RetrievePropertiesExResponse xmlns="urn:vim25"><returnval><objects><obj type="VirtualMachine">vm-1</obj>${properties}</objects></returnval></RetrievePropertiesExResponse>`,
    more,
  );
const property = (value: string): string => `<propSet><name>p</name>${value}</propSet>`;

/** The one property of the one object. */
function valueOf(text: string): unknown {
  const decoded = decodeResponse('RetrievePropertiesEx', text);
  return 'value' in decoded ? decoded.value?.objects?.[0]?.propSet?.[0]?.val : decoded;
}

test.each([
  ['text', '<val xsi:type="xsd:string">a &lt; b &amp; c<![CDATA[ <d>]]></val>', 'a < b & c <d>'],
  ['a word of a list of words', '<val xsi:type="VirtualMachinePowerState">poweredOn</val>', 'poweredOn'],
  ['a boolean', '<val xsi:type="xsd:boolean">true</val>', true],
  ['a number', '<val xsi:type="xsd:long">1099511627776</val>', 1_099_511_627_776],
  [
    'a reference',
    '<val xsi:type="ManagedObjectReference" type="Folder">group-2</val>',
    { type: 'Folder', value: 'group-2' },
  ],
  [
    'a list of references',
    '<val xsi:type="ArrayOfManagedObjectReference"><ManagedObjectReference xsi:type="ManagedObjectReference" type="Task">task-1</ManagedObjectReference></val>',
    [{ type: 'Task', value: 'task-1' }],
  ],
  ['a list of texts', '<val xsi:type="ArrayOfString"><string>a</string><string>b</string></val>', ['a', 'b']],
  ['an empty list', '<val xsi:type="ArrayOfOptionValue"></val>', []],
  [
    'options',
    '<val xsi:type="ArrayOfOptionValue"><OptionValue xsi:type="OptionValue"><key>k</key><value xsi:type="xsd:string">v</value></OptionValue></val>',
    [{ $type: 'OptionValue', key: 'k', value: 'v' }],
  ],
  [
    'an object of a type that drover does not use',
    '<val xsi:type="HostListSummary"><overallStatus>green</overallStatus></val>',
    { $type: 'HostListSummary' },
  ],
  [
    'devices, known and unknown',
    '<val xsi:type="ArrayOfVirtualDevice"><VirtualDevice xsi:type="VirtualDisk"><key>2000</key><capacityInKB>8</capacityInKB><shares><level>normal</level></shares></VirtualDevice><VirtualDevice xsi:type="VirtualUSBXHCIController"><key>14000</key></VirtualDevice></val>',
    [
      { $type: 'VirtualDisk', key: 2000, capacityInKB: 8 },
      { $type: 'VirtualUSBXHCIController', key: 14_000 },
    ],
  ],
])('reads %s', (_, value, expected) => {
  expect(valueOf(retrieved(property(value)))).toEqual(expected);
});

test('namespaces are resolved, whatever their prefixes', () => {
  const go =
    '<val xmlns:_XMLSchema-instance="http://www.w3.org/2001/XMLSchema-instance" _XMLSchema-instance:type="xsd:string">go</val>';
  expect(valueOf(retrieved(property(go)))).toBe('go');
  const other =
    '<val xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:s="http://www.w3.org/2001/XMLSchema" i:type="s:int">7</val>';
  expect(valueOf(retrieved(property(other)))).toBe(7);
  const foreign = '<val xmlns:i="urn:elsewhere" i:type="xsd:int">7</val>';
  expect(() => valueOf(retrieved(property(foreign)))).toThrow('does not say of which type it is');
});

test('faults, with the fields that drover knows, and of types it does not', () => {
  const fault = (detail: string) =>
    decodeResponse(
      'PowerOnVM_Task',
      envelope(
        `<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>no\n  way</faultstring><detail>${detail}</detail></soapenv:Fault>`,
      ),
    );
  expect(
    fault(
      '<DuplicateNameFault xmlns="urn:vim25" xsi:type="DuplicateName"><name>a</name><object type="VirtualMachine">vm-2</object></DuplicateNameFault>',
    ),
  ).toEqual({
    fault: {
      type: 'DuplicateName',
      words: 'no way',
      fields: { name: 'a', object: { type: 'VirtualMachine', value: 'vm-2' } },
    },
  });
  expect(fault('<NotAuthenticatedFault xmlns="urn:vim25"></NotAuthenticatedFault>')).toEqual({
    fault: { type: 'NotAuthenticated', words: 'no way', fields: {} },
  });
  expect(fault('<SomethingNewFault xmlns="urn:vim25" xsi:type="SomethingNew"><a/></SomethingNewFault>')).toEqual({
    fault: { type: 'SomethingNew', words: 'no way', fields: {} },
  });
  expect(
    localizedFault({
      fault: { $type: 'NoPermission', faultMessage: [{ key: 'k', message: 'said' }] },
      localizedMessage: 'told',
    }),
  ).toMatchObject({ type: 'NoPermission', words: 'told said' });
});

test.each<[what: string, text: string, words: RegExp]>([
  ['no XML', 'Service Unavailable', /./u],
  ['nothing', '', /./u],
  ['cut XML', retrieved('').slice(0, -30), /./u],
  ['another document', '<html xmlns="http://www.w3.org/1999/xhtml"><body/></html>', /it is no SOAP/u],
  [
    'an envelope without a namespace',
    '<Envelope><Body><RetrievePropertiesExResponse/></Body></Envelope>',
    /it is no SOAP/u,
  ],
  ['another answer', envelope('<LoginResponse xmlns="urn:vim25"/>'), /it is a LoginResponse/u],
  [
    'an object without its reference',
    envelope(
      '<RetrievePropertiesExResponse xmlns="urn:vim25"><returnval><objects/></returnval></RetrievePropertiesExResponse>',
    ),
    /it has no .*objects\.obj/u,
  ],
  ['a number that is none', retrieved(property('<val xsi:type="xsd:int">many</val>')), /is no number/u],
  ['a boolean that is none', retrieved(property('<val xsi:type="xsd:boolean">maybe</val>')), /is no boolean/u],
  [
    'text with elements in it',
    retrieved(property('<val xsi:type="xsd:string">worker<b>-2</b>-1</val>')),
    /has elements where text is expected/u,
  ],
  [
    'a document type',
    `<!DOCTYPE a [<!ENTITY b "c">]>${retrieved('')}`.replace('<?xml version="1.0" encoding="UTF-8"?>\n', ''),
    /document type/u,
  ],
  ['an entity of its own', retrieved(property('<val xsi:type="xsd:string">&b;</val>')), /./u],
  ['thousands of levels', envelope(`${'<a>'.repeat(5_000)}${'</a>'.repeat(5_000)}`), /nested deeper/u],
])('refuses %s', (_, text, words) => {
  expect(() => decodeResponse('RetrievePropertiesEx', text)).toThrow(words);
});

test('any text that can be written is read again as it was', () => {
  const writable = fc
    .string({ unit: 'binary' })
    .filter((text) => /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u.test(text) && text.isWellFormed());
  fc.assert(
    fc.property(writable, (text) => {
      const request = encodeRequest(
        'ReconfigVM_Task',
        { type: 'VirtualMachine', value: 'vm-1' },
        { spec: { annotation: text } },
        null,
      );
      const body = parseXml(request).children[0]?.children[0];
      expect(body?.children[1]?.children[0]?.text).toBe(text);
    }),
  );
});

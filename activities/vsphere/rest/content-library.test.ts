import { itemSchema, toItem } from './content-library.ts';

const item = { id: 'i', name: 'tiny', type: 'ovf', content_version: '3' };
const rows: [what: string, more: object, expected: object | null][] = [
  ['an OVF', {}, { id: 'i', name: 'tiny', type: 'OVF', version: '3', problem: null }],
  [
    'an ISO with its files',
    { type: 'ISO', cached: true, size: 7, security_compliance: true },
    { type: 'ISO', problem: null },
  ],
  [
    'one that its library has not fetched',
    { cached: false, size: 0 },
    { problem: { reason: 'ProviderNotReady', message: expect.stringContaining('fetched') } },
  ],
  [
    'one without files',
    { size: 0 },
    { problem: { reason: 'ProviderNotReady', message: expect.stringContaining('no files') } },
  ],
  [
    'one that is not allowed',
    { security_compliance: false, size: 0 },
    { problem: { reason: 'ProviderSecurityNotCompliant' } },
  ],
  ['a template', { type: 'vm-template' }, null],
  ['a file', { type: undefined }, null],
];
test.each(rows)('%s', (_, more, expected) => {
  const observed = toItem(itemSchema.parse({ ...item, ...more }));
  if (expected === null) expect(observed).toBeNull();
  else expect(observed).toMatchObject(expected);
});

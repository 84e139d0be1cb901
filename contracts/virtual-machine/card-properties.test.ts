import { cardNumber, cardProperties, isPlatformProperty, propertyKeys } from './card-properties.ts';
import { appliedCardKeys } from './metadata.ts';

type Interface = Parameters<typeof cardProperties>[0];

test.each<[what: string, given: Omit<Interface, 'name'>, properties: Record<string, string>]>([
  ['nothing', {}, {}],
  ['a VMXNet3 that says nothing', { vmxnet3: {} }, {}],
  [
    'all of a VMXNet3',
    {
      vmxnet3: {
        ctxPerDev: 'PerQueue',
        rssOffloadEnabled: true,
        udpRssEnabled: true,
        pnicFeatures: ['LargeReceiveOffload', 'ReceiveSideScaling', '4', '8'],
        coalescingScheme: 'RateBasedCoalescing',
        coalescingParams: '4000',
      },
    },
    {
      ctxPerDev: '3',
      rssoffload: 'TRUE',
      udpRSS: '1',
      pnicFeatures: '13',
      coalescingScheme: 'rbc',
      coalescingParams: '4000',
    },
  ],
  [
    'what is switched off, and values that vSphere may come to know',
    { vmxnet3: { ctxPerDev: '7', rssOffloadEnabled: false, udpRssEnabled: false, coalescingScheme: 'later' } },
    { ctxPerDev: '7', rssoffload: 'FALSE', udpRSS: '2', coalescingScheme: 'later' },
  ],
  [
    'others, but for those that have a field',
    {
      advancedProperties: [
        { key: 'innerRSS', value: 'TRUE' },
        { key: 'empty' },
        { key: 'CTXPERDEV', value: '2' },
        { key: 'pnicfeatures', value: '1' },
      ],
    },
    { innerRSS: 'TRUE', empty: '' },
  ],
])('%s', (_, given, properties) => expect(cardProperties({ name: 'eth0', ...given })).toEqual(properties));

test.each([
  ['networkName', true],
  ['DVS.portgroupId', true],
  ['filter0.name', true],
  ['address', true],
  ['x.managedKeys', true],
  ['innerRSS', false],
  ['addressing', false],
])('%s is the platform’s: %s', (key, is) => expect(isPlatformProperty(key)).toBe(is));

test.each([
  [4_000, 0],
  [4_009, 9],
  [3_999, null],
  [-101, null],
  [null, null],
])('the number of card %s is %s', (key, number) => expect(cardNumber(key)).toBe(number));

test('which card it will be is not known before', () => {
  expect(propertyKeys(['a'])).toHaveLength(10);
  expect(propertyKeys(['a', 'b'])).toContain('ethernet9.b');
});

test('what was applied: by drover, and by the operator before', () =>
  expect(
    appliedCardKeys({
      'drover.networkProperties': 'ethernet0.a,ethernet1.b',
      'vmservice.nic.ethernet1.managedKeys': 'b,c',
      'vmservice.nic.ethernet2.managedKeys': '',
      'vmservice.nic.other': 'd',
    }),
  ).toEqual(['ethernet0.a', 'ethernet1.b', 'ethernet1.c']));

import type { DrivenClass, DriverSecret } from '../../../contracts/machine-safety/driver.ts';
import { redactText } from '../../../runtime/redaction.ts';
import { type FoundClass, openClass } from './open-class.ts';

const { signal } = new AbortController();
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function open(
  change: object,
  secrets: Record<string, Record<string, string>> = { 'shoot/one': { a: base64('1') } },
) {
  const opened: [DrivenClass, DriverSecret][] = [];
  const found = {
    apiVersion: 'machine.sapcloud.io/v1alpha1',
    kind: 'MachineClass',
    metadata: {
      name: 'small',
      namespace: 'shoot',
      uid: 'uid-1',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-31T12:00:00Z',
    },
    provider: 'vSphere',
    providerSpec: { folder: 'x' },
    ...change,
  } as unknown as FoundClass;
  await openClass(
    {
      client: {
        get: (async (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
          const data = secrets[`${namespace}/${name}`];
          return data === undefined ? null : { data };
        }) as never,
      },
      drivers: { open: (...given) => (opened.push(given), null as never) },
    },
    'shoot',
    found,
    signal,
  );
  return opened[0];
}

test.each<[what: string, change: object, secrets: Record<string, Record<string, string>>, secret: object]>([
  ['its Secret', { secretRef: { name: 'one' } }, { 'shoot/one': { a: base64('1') } }, { a: '1' }],
  [
    'that of the credential first',
    { secretRef: { name: 'one' }, credentialsSecretRef: { name: 'two' } },
    { 'shoot/one': { a: base64('1') }, 'shoot/two': { b: base64('2') } },
    { b: '2' },
  ],
  [
    'of another namespace',
    { credentialsSecretRef: { name: 'two', namespace: 'garden' } },
    { 'garden/two': { b: base64('2') } },
    { b: '2' },
  ],
  ['an empty one', { secretRef: { name: 'one' } }, { 'shoot/one': {} }, {}],
])('the driver has %s', async (_what, change, secrets, secret) => {
  expect(await open(change, secrets)).toEqual([
    { namespace: 'shoot', name: 'small', provider: 'vSphere', providerSpec: { folder: 'x' }, region: null },
    secret,
  ]);
});

test('the region is that of the nodes', async () => {
  const nodeTemplate = { region: 'eu-1', zone: 'a', instanceType: 'x', capacity: {} };
  expect((await open({ secretRef: { name: 'one' }, nodeTemplate }))?.[0].region).toBe('eu-1');
});

test.each<[what: string, change: object, words: RegExp]>([
  ['no Secret is named', {}, /MachineClass small names no Secret in secretRef/u],
  [
    'there is no such Secret',
    { secretRef: { name: 'two' } },
    /There is no Secret shoot\/two, which MachineClass small names in secretRef/u,
  ],
  ['the class is odd', { secretRef: 7 }, /MachineClass small: secretRef: /u],
])('%s: a failure that names it', async (_what, change, words) => {
  await expect(open(change)).rejects.toMatchObject({ type: 'InvalidObject', message: expect.stringMatching(words) });
});

test('what is secret in it is never shown', async () => {
  await open(
    { secretRef: { name: 'one' } },
    { 'shoot/one': { vspherePassword: base64('open sesame'), vsphereHost: base64('vcenter.example') } },
  );
  expect(redactText('user vcenter.example, open sesame')).toBe('user vcenter.example, [redacted]');
});

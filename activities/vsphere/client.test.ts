import { openScriptedVcenter, vimAnswer } from '../../test/fixtures/activities/scripted-vcenter.ts';
import { readProperties } from './properties.ts';

const retrieved = (what: string): string =>
  vimAnswer(
    'RetrievePropertiesEx',
    `<returnval><objects><obj type="VirtualMachine">vm-1</obj>${what}</objects></returnval>`,
  );
const named = retrieved(
  '<propSet><name>name</name><val xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xsi:type="xsd:string">web</val></propSet>',
);
const missing = (type: string): string =>
  retrieved(
    `<missingSet><path>name</path><fault><fault xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}"><object type="VirtualMachine">vm-1</object><privilegeId>System.View</privilegeId></fault><localizedMessage>no</localizedMessage></fault></missingSet>`,
  );

const destroying = vimAnswer('Destroy_Task', '<returnval type="Task">task-1</returnval>');
const signal = new AbortController().signal;

test.each<[what: string, confirmed: boolean, sent: string[]]>([
  ['is sent', true, ['RetrievePropertiesEx', 'Destroy_Task']],
  ['is not sent where that is refused', false, ['RetrievePropertiesEx']],
])('a call that is confirmed in its turn %s', async (_, confirmed, methods) => {
  const { vcenter, sent } = openScriptedVcenter([200, named], [200, destroying]);
  const self = { type: 'Folder', value: 'group-v1' };
  const call = vcenter.call('Destroy_Task', self, {}, signal, {
    confirm: async (vim, limited) => {
      await readProperties(vim, [{ type: 'VirtualMachine', value: 'vm-1' }], ['name'], limited);
      if (!confirmed) throw new Error('it is not to be sent');
    },
  });
  if (confirmed) await expect(call).resolves.toEqual({ type: 'Task', value: 'task-1' });
  else await expect(call).rejects.toThrow('it is not to be sent');
  expect(sent.map(({ method }) => method)).toEqual(methods);
});

/** Answers to questions for properties, in their order. */
function opened(...answers: string[]) {
  const { vcenter, sent } = openScriptedVcenter(...answers.map((text): [number, string] => [200, text]));
  const refs = [{ type: 'VirtualMachine', value: 'vm-1' }];
  return {
    cookies: () => sent.map(({ cookie }) => cookie),
    read: () => readProperties(vcenter, refs, ['name'], new AbortController().signal),
  };
}

test('a session that has ended, as each property says, is renewed', async () => {
  const { cookies, read } = opened(missing('NotAuthenticated'), named);
  await expect(read()).resolves.toMatchObject([{ properties: { name: 'web' } }]);
  expect(cookies()).toEqual(['vmware_soap_session="session-1"', 'vmware_soap_session="session-2"']);
});

test('once: then it is the credential', async () => {
  const { cookies, read } = opened(missing('NotAuthenticated'));
  await expect(read()).rejects.toMatchObject({ type: 'VsphereCredentialRefused' });
  expect(cookies()).toHaveLength(2);
});

test('the next page of a session that another call has renewed is not asked for', async () => {
  const { vcenter, sent } = openScriptedVcenter([200, missing('NotAuthenticated')], [200, named]);
  const sameSession = await vcenter.content(signal);
  await readProperties(vcenter, [{ type: 'VirtualMachine', value: 'vm-1' }], ['name'], signal);
  const { propertyCollector } = sameSession;
  await expect(
    vcenter.call('ContinueRetrievePropertiesEx', propertyCollector, { token: '1' }, signal, { sameSession }),
  ).rejects.toMatchObject({ type: 'VsphereUnavailable', message: expect.stringContaining('ended the session') });
  expect(sent.map(({ method }) => method)).toEqual(['RetrievePropertiesEx', 'RetrievePropertiesEx']);
});

test('a privilege that is missing is no end of a session', async () => {
  const { cookies, read } = opened(missing('NoPermission'));
  await expect(read()).rejects.toMatchObject({ type: 'VsphereNotPermitted' });
  expect(cookies()).toHaveLength(1);
});

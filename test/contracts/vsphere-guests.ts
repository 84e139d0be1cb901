import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

import type { GuestCustomization, GuestSetup, LinuxIdentity } from '../../contracts/virtual-machine/bootstrap.ts';
import type { SubmittedTask, VmSubject } from '../../contracts/virtual-machine/activities.ts';
import type { DescribedVm } from '../../lab/vsphere/witness.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { pack } from '../../runtime/pack.ts';
import { until } from '../flows/until.ts';
import {
  configOf,
  describeVms,
  observedVmOf,
  failureOf,
  makeVm,
  namespace,
  never,
  openSuite,
  settle,
  uidOf,
  vmFolder,
  type VsphereCounterpart,
} from './vsphere-context.ts';

/** What guests are set up with, and what is stored with their VMs. The test says what Kubernetes has. */
export function vsphereGuestsContract(open: () => Promise<VsphereCounterpart>): void {
  const { context, gateway, activities, test, each, beforeAll } = openSuite(open);

  const canary = `canary-${randomUUID()}`;
  const hash = 'a'.repeat(40);
  const linux: LinuxIdentity = {
    kind: 'LinuxPrep',
    hostName: 'web-1',
    domainName: 'example.org',
    timeZone: 'UTC',
    hardwareClockIsUtc: true,
    password: null,
    expirePassword: false,
    scriptText: `echo ${canary}`,
  };

  /** The Secrets come to this, whatever is asked. */
  function play(change: Partial<GuestSetup>): void {
    context.kubernetes.bootstrap = () => Promise.resolve({ missingKeys: [], config: null, custom: null, ...change });
  }

  const configWith = (userData: string, vAppProperties: Record<string, string> = {}): Partial<GuestSetup> => ({
    config: {
      hash,
      vAppProperties,
      extraConfig: (macAddresses) => ({
        'guestinfo.metadata': pack(JSON.stringify({ macAddresses })),
        'guestinfo.userdata': pack(userData),
        'guestinfo.userdata.encoding': 'gzip+base64',
      }),
    },
  });
  const customWith = (change: Partial<GuestCustomization> = {}): Partial<GuestSetup> => ({
    custom: {
      hash,
      identity: linux,
      nameservers: ['192.0.2.53'],
      searchDomains: ['example.org'],
      interfaces: [
        {
          name: 'eth0',
          dhcp4: false,
          dhcp6: false,
          addresses: ['192.0.2.10/24'],
          gateway4: '192.0.2.1',
          gateway6: null,
          nameservers: [],
        },
      ],
      ...change,
    },
  });

  const addCard = {
    operation: 'add' as const,
    device: 'networkCard' as const,
    card: { key: null, type: 'VMXNet3', backing: 'standard:VM Network', macAddress: null },
  };
  const make = (name: string): Promise<VmSubject> =>
    makeVm(activities, context.newVm(name, { config: { deviceChange: [addCard] } }));
  const objectOf = ({ owner: { namespacedName, uid } }: VmSubject) => ({
    namespace,
    name: namespacedName.slice(namespace.length + 1),
    uid,
  });
  /** The cards that there are, first first. */
  const cardsOf = async (subject: VmSubject): Promise<(number | null)[]> =>
    (await configOf(context, activities, objectOf(subject).name)).networkCards.map(({ key }) => key);
  const submit = async (
    subject: VmSubject,
    part: 'config' | 'custom',
    wanted = hash,
    cards: readonly (number | null)[] | null = null,
  ) =>
    activities.submitBootstrap({
      ...subject,
      object: objectOf(subject),
      kind: part === 'config' ? 'CloudInit' : 'LinuxPrep',
      part,
      hash: wanted,
      cards: cards ?? (await cardsOf(subject)),
    });
  /** All that a failure is. */
  const toldBy = (error: unknown): string => JSON.stringify(error, Object.getOwnPropertyNames(error));
  const mutations = async (): Promise<string[]> =>
    (await context.control.requests()).map(({ method }) => method).filter((method) => method.endsWith('_Task'));

  const extraConfigOf = async (name: string): Promise<Record<string, string>> =>
    Object.fromEntries(
      ((await describeVms(context, name))[0]?.config.extraConfig ?? []).map(({ key, value }) => [key, value]),
    );
  const unpack = (value: string | undefined): string => gunzipSync(Buffer.from(value ?? '', 'base64')).toString('utf8');

  const guestOf = (name: string): Promise<DescribedVm | null> => context.witness.describeVm(`${vmFolder}/${name}`);

  describe('what goes into the configuration', () => {
    test('is one task, with the addresses of the VM’s cards, and is written once', async () => {
      const subject = await make('cloudy');
      play(configWith(`#cloud-config ${canary}`));
      const submitted = (await submit(subject, 'config')) as SubmittedTask;
      await settle(activities, submitted);
      const extraConfig = await extraConfigOf('cloudy');
      expect(unpack(extraConfig['guestinfo.userdata'])).toBe(`#cloud-config ${canary}`);
      expect(extraConfig['guestinfo.userdata.encoding']).toBe('gzip+base64');
      const { networkCards } = await configOf(context, activities, 'cloudy');
      expect(JSON.parse(unpack(extraConfig['guestinfo.metadata']))).toEqual({
        macAddresses: [networkCards[0]?.macAddress],
      });
      expect(networkCards[0]?.macAddress).toMatch(/^00:/u);
      expect(context.audit.at(-1)).toMatchObject({
        action: 'submitBootstrap',
        object: 'vm/team-a/cloudy',
        requestId: submitted.taskId,
        after: { hash, extraConfigKeys: ['guestinfo.metadata', 'guestinfo.userdata', 'guestinfo.userdata.encoding'] },
      });

      expect(await submit(subject, 'config')).toBeNull();
      play(configWith(`#cloud-config ${canary} changed`));
      await settle(activities, await submit(subject, 'config'));
      expect(unpack((await extraConfigOf('cloudy'))['guestinfo.userdata'])).toContain('changed');
      const requests = await context.requests('ReconfigVM_Task');
      expect(requests).toHaveLength(2);
      // Only what differs.
      expect(requests[1]?.body).not.toContain('guestinfo.metadata');
      expect(JSON.stringify(await observedVmOf(context, activities, 'cloudy'))).not.toContain('guestinfo');
    });

    test('a lost answer: it is found, and not written again', async () => {
      const subject = await make('lost-config');
      play(configWith('#cloud-config'));
      await context.control.inject({ method: 'ReconfigVM_Task', after: true, does: 'cut' });
      expect(await failureOf(submit(subject, 'config'))).toMatchObject({
        type: 'VsphereUnavailable',
        nonRetryable: false,
      });
      await until(
        'it to be there',
        5_000,
        async () => (await extraConfigOf('lost-config'))['guestinfo.userdata'] !== undefined || 'not yet',
      );
      expect(await submit(subject, 'config')).toBeNull();
      expect(await context.requests('ReconfigVM_Task')).toHaveLength(1);
    });

    test('vApp properties by their ids; one that the VM does not have is named', async () => {
      const subject = await make('appliance');
      const property = [
        { key: 0, id: 'token', type: 'password', label: 'Token', userConfigurable: true, value: 'before' },
        { key: 1, id: 'kept', userConfigurable: true, value: 'kept' },
      ].map((info) => ({ operation: 'add', info }));
      await gateway.submit(
        'ReconfigVM_Task',
        { type: 'VirtualMachine', value: subject.vmId },
        { spec: { vAppConfig: { $type: 'VmConfigSpec', property } } },
        never,
      );
      await until(
        'them to be there',
        5_000,
        async () => (await guestOf('appliance'))?.config.vAppConfig?.property?.length === 2 || 'not yet',
      );
      await context.control.clearRequests();

      play(configWith('#cloud-config', { token: canary, missing: canary }));
      const failure = await failureOf(submit(subject, 'config'));
      expect(failure).toMatchObject({
        type: 'InvalidObject',
        nonRetryable: true,
        message: expect.stringContaining(
          'appliance has no vApp property missing of spec.bootstrap.vAppConfig: it has token, kept',
        ),
      });
      expect(toldBy(failure)).not.toContain(canary);
      expect(await mutations()).toEqual([]);

      play(configWith('#cloud-config', { token: canary }));
      await settle(activities, await submit(subject, 'config'));
      expect((await guestOf('appliance'))?.config.vAppConfig).toMatchObject({
        property: [
          { id: 'token', label: 'Token', type: 'password', value: canary },
          { id: 'kept', value: 'kept' },
        ],
      });
      const [request] = await context.requests('ReconfigVM_Task');
      expect(request?.body).toContain('<ovfEnvironmentTransport>com.vmware.guestInfo</ovfEnvironmentTransport>');
      expect(await submit(subject, 'config')).toBeNull();
      expect(JSON.stringify(context.audit)).not.toContain(canary);
    });
  });

  describe('a customization', () => {
    test('waits for the next start, is not replaced, and is done by it', async () => {
      const subject = await make('custom');
      play(customWith());
      await settle(activities, await submit(subject, 'custom'));
      expect((await guestOf('custom'))?.config.tools?.pendingCustomization).toMatch(/./u);
      expect(context.audit.at(-1)).toMatchObject({
        action: 'submitBootstrap',
        after: { hash, customized: 'LinuxPrep' },
      });
      expect(await submit(subject, 'custom')).toBeNull();
      const [request, ...others] = await context.requests('CustomizeVM_Task');
      expect(others).toEqual([]);
      expect(request?.soapAction).toContain('urn:vim25/8.0.1.0');

      await settle(activities, await activities.submitPower({ ...subject, operation: 'powerOn' }));
      expect(await guestOf('custom')).toMatchObject({ guest: { hostName: 'web-1', ipAddress: '192.0.2.10' } });
      expect((await guestOf('custom'))?.config.tools?.pendingCustomization ?? '').toBe('');
      expect((await observedVmOf(context, activities, 'custom')).guest).toMatchObject({
        customization: 'TOOLSDEPLOYPKG_SUCCEEDED',
      });
    });

    test('two at once, and a lost answer: one waits, and all is well', async () => {
      const subject = await make('raced');
      play(customWith());
      const both = await Promise.all([submit(subject, 'custom'), submit(subject, 'custom')]);
      await Promise.all(both.map((one) => settle(activities, one)));
      expect((await guestOf('raced'))?.config.tools?.pendingCustomization).toMatch(/./u);

      const lost = await make('lost-custom');
      await context.control.inject({ method: 'CustomizeVM_Task', after: true, does: 'cut' });
      expect(await failureOf(submit(lost, 'custom'))).toMatchObject({ type: 'VsphereUnavailable' });
      await until(
        'it to wait',
        5_000,
        async () => (await guestOf('lost-custom'))?.config.tools?.pendingCustomization !== undefined || 'not yet',
      );
      await context.control.clearRequests();
      expect(await submit(lost, 'custom')).toBeNull();
      expect(await mutations()).toEqual([]);
    });

    test('of Windows, with its passwords', async () => {
      const subject = await make('windows');
      const identity = {
        kind: 'Sysprep' as const,
        computerName: 'win-1',
        fullName: 'Owner',
        orgName: 'Org',
        productId: null,
        guiUnattended: { autoLogon: true, autoLogonCount: 1, timeZone: 85, password: canary },
        identification: {
          joinDomain: 'corp.example',
          domainAdmin: 'admin',
          domainAdminPassword: canary,
          domainOU: null,
          joinWorkgroup: null,
        },
        runOnce: ['dir'],
        license: null,
        expirePassword: false,
        scriptText: null,
      };
      play(customWith({ identity }));
      await settle(activities, await submit(subject, 'custom'));
      const [request] = await context.requests('CustomizeVM_Task');
      expect(request?.body).toContain(
        `<guiUnattended><password><value>${canary}</value><plainText>true</plainText></password>`,
      );
      await settle(activities, await activities.submitPower({ ...subject, operation: 'powerOn' }));
      expect(await guestOf('windows')).toMatchObject({ guest: { hostName: 'win-1' } });
      expect(JSON.stringify(context.audit)).not.toContain(canary);
    });

    test('what only later vCenters know is asked of those', async () => {
      const subject = await make('later');
      play(customWith({ identity: { ...linux, password: canary, expirePassword: true } }));
      const request = {
        ...subject,
        object: objectOf(subject),
        kind: 'LinuxPrep' as const,
        part: 'custom' as const,
        hash,
        cards: await cardsOf(subject),
      };
      const ofOlder = context.activities({ ...gateway, apiVersion: () => Promise.resolve('8.0.3.0') });
      expect(await failureOf(ofOlder.submitBootstrap(request))).toMatchObject({
        type: 'InvalidObject',
        nonRetryable: true,
        message: expect.stringContaining(
          'does not know password and expirePasswordAfterNextLogin of LinuxPrep: that came with 9.1',
        ),
      });
      expect(await mutations()).toEqual(['CloneVM_Task']);
      await settle(activities, await activities.submitBootstrap(request));
      const [sent] = await context.requests('CustomizeVM_Task');
      expect(sent?.soapAction).toContain('urn:vim25/9.1.0.0');
      expect(sent?.body).toContain(
        `<resetPassword>true</resetPassword><password><value>${canary}</value><plainText>true</plainText></password>`,
      );
    });

    test('as long as a card of the spec is missing, it is decided anew', async () => {
      const subject = await makeVm(activities, context.newVm('bare'));
      play(customWith());
      expect(await failureOf(submit(subject, 'custom'))).toMatchObject({
        type: 'ObjectConflict',
        nonRetryable: true,
        message: expect.stringContaining('has no network card for eth0 of team-a/bare'),
      });
    });

    test('each interface is set on the card that it is, whatever the order of the keys', async () => {
      const two = { config: { deviceChange: [addCard, addCard] } };
      const subject = await makeVm(activities, context.newVm('crossed', two));
      const [first, second] = (await configOf(context, activities, 'crossed')).networkCards;
      play(customWith());
      await settle(activities, await submit(subject, 'custom', hash, [second?.key ?? null]));
      const [request] = await context.requests('CustomizeVM_Task');
      const settings = request?.body.split('<nicSettingMap>').slice(1) ?? [];
      expect(settings.map((text) => /<ipAddress>[^<]*/u.exec(text)?.[0] ?? 'DHCP')).toEqual([
        'DHCP',
        '<ipAddress>192.0.2.10',
      ]);
      expect(settings[0]?.toLowerCase()).toContain(first?.macAddress);
      expect(settings[1]?.toLowerCase()).toContain(second?.macAddress);
    });

    test('a card that is gone by now: it is decided anew', async () => {
      const subject = await make('cardless');
      play({ ...configWith(canary), ...customWith() });
      for (const part of ['config', 'custom'] as const)
        expect(await failureOf(submit(subject, part, hash, [4_242]))).toMatchObject({
          type: 'ObjectConflict',
          nonRetryable: true,
          message: expect.stringContaining('has no network card 4242 any more'),
        });
    });
  });

  describe('what is not what was decided on any more is not written', () => {
    const setups: [what: string, part: 'config' | 'custom', change: Partial<GuestSetup>, words: RegExp][] = [
      [
        'another hash of the configuration',
        'config',
        { config: { ...configWith(canary).config!, hash: 'b'.repeat(40) } },
        /^Nothing was written: The bootstrap of team-a\/decided, or a Secret of it, has changed since it was read\. /u,
      ],
      ['another hash of the customization', 'custom', customWith({ hash: 'b'.repeat(40) }), /has changed/u],
      ['nothing at all', 'config', {}, /has changed/u],
      [
        'a key is missing',
        'config',
        { missingKeys: ['s/user-data'] },
        /There is no s\/user-data in the Secrets of the bootstrap of team-a\/decided any more/u,
      ],
    ];
    let subject: VmSubject;
    beforeAll(async () => {
      subject = await make('decided');
    });

    each(setups)('%s', async (_, part, change, words) => {
      play(change);
      const failure = await failureOf(submit(subject, part));
      expect(failure).toMatchObject({
        type: 'ObjectConflict',
        nonRetryable: true,
        message: expect.stringMatching(words),
      });
      expect(toldBy(failure)).not.toContain(canary);
      expect(await mutations()).toEqual([]);
      expect(context.audit).toEqual([]);
    });

    each<readonly [code: Parameters<typeof droverFailure>[0]]>([
      ['ObjectNotFound'],
      ['KubernetesForbidden'],
      ['InvalidObject'],
      ['ObjectConflict'],
    ])('%s, as the next observation says too', async (code) => {
      context.kubernetes.bootstrap = () => Promise.reject(droverFailure(code, 'There is no Secret s'));
      expect(await failureOf(submit(subject, 'config'))).toMatchObject({
        type: 'ObjectConflict',
        nonRetryable: true,
        message: expect.stringContaining('There is no Secret s'),
      });
    });

    test('an API server that does not answer is asked again', async () => {
      context.kubernetes.bootstrap = () => Promise.reject(droverFailure('KubernetesUnavailable', 'no answer'));
      expect(await failureOf(submit(subject, 'config'))).toMatchObject({
        type: 'KubernetesUnavailable',
        nonRetryable: false,
      });
    });

    test('another owner’s VM: Kubernetes is not even read', async () => {
      context.kubernetes.bootstrap = () => Promise.reject(new Error('asked'));
      const stranger = { ...subject, owner: { namespacedName: 'team-b/decided', uid: 'another' } };
      expect(
        await failureOf(
          activities.submitBootstrap({
            ...stranger,
            object: objectOf(subject),
            kind: null,
            part: 'config',
            hash,
            cards: [],
          }),
        ),
      ).toMatchObject({ type: 'VirtualMachineNotOwned' });
      expect(
        await failureOf(activities.submitBackup({ ...stranger, object: objectOf(subject), version: '1' })),
      ).toMatchObject({ type: 'VirtualMachineNotOwned' });
    });
  });

  describe('a vCenter that repeats what it was given', () => {
    const fields = { invalidProperty: `config.extraConfig: ${canary}` };

    each<readonly [what: string, part: 'config' | 'custom', method: string]>([
      ['a configuration', 'config', 'ReconfigVM_Task'],
      ['a customization', 'custom', 'CustomizeVM_Task'],
    ])('in its refusal of %s', async (_, part, method) => {
      const subject = await make(`repeats-${part}`);
      play({ ...configWith(canary), ...customWith() });
      await context.control.fail({ method, fault: 'InvalidArgument', fields });
      const failure = await failureOf(submit(subject, part));
      expect(failure).toMatchObject({
        type: 'RequestRefused',
        message: expect.stringContaining(
          `answered ${method} of ${subject.vmId} with InvalidArgument. Its words may repeat secrets`,
        ),
      });
      expect(toldBy(failure)).not.toContain(canary);
      expect(context.audit.at(-1)).toMatchObject({
        action: 'submitBootstrap',
        after: { failed: expect.stringContaining('InvalidArgument') },
      });
      expect(JSON.stringify(context.audit)).not.toContain(canary);
    });

    test('in the failure of its task, also for another wait', async () => {
      const subject = await make('repeats-late');
      play(configWith(canary));
      await context.control.fail({ method: 'ReconfigVM_Task', fault: 'InvalidArgument', fields, inTask: true });
      const submitted = (await submit(subject, 'config')) as SubmittedTask;
      const failure = await failureOf(context.activities(context.gateway()).awaitTask(submitted));
      expect(failure).toMatchObject({
        type: 'RequestRefused',
        nonRetryable: true,
        message: expect.stringContaining('ended with InvalidArgument'),
      });
      expect(toldBy(failure)).not.toContain(canary);
      // It does repeat it to those who ask otherwise.
      expect(
        toldBy(
          await failureOf(
            activities.awaitTask({ taskId: submitted.taskId, purpose: { kind: 'change', vmId: subject.vmId } }),
          ),
        ),
      ).toContain(canary);
    });

    test('a text that cannot be sent at all is not shown', async () => {
      const subject = await make('unwritable');
      play(customWith({ identity: { ...linux, scriptText: `${canary}\u0000` } }));
      const failure = await failureOf(submit(subject, 'custom'));
      expect(failure).toMatchObject({
        type: 'InvalidInput',
        message: expect.stringContaining('spec.identity.scriptText'),
      });
      expect(toldBy(failure)).not.toContain(canary);
    });
  });

  describe('the object is stored with its VM', () => {
    const stored = { generation: 3, yaml: `kind: VirtualMachine\nspec: {className: small}\n`, claims: [] };

    test('by upstream’s keys, once per generation; of the object, only its generation is observed', async () => {
      const subject = await make('stored');
      const backUp = (version: string) => activities.submitBackup({ ...subject, object: objectOf(subject), version });
      context.kubernetes.backup = () => Promise.resolve(stored);
      await settle(activities, await backUp('3'));
      const extraConfig = await extraConfigOf('stored');
      expect(unpack(extraConfig['vmservice.virtualmachine.resource.yaml'])).toBe(stored.yaml);
      expect(Object.keys(extraConfig).filter((key) => key.startsWith('vmservice.virtualmachine.'))).toEqual([
        'vmservice.virtualmachine.resource.yaml',
      ]);
      expect((await configOf(context, activities, 'stored')).extraConfig).toEqual({
        'vmservice.namespacedName': 'team-a/stored',
        'drover.uid': uidOf('stored'),
        'drover.backupVersion': '3',
      });
      expect(context.audit.at(-1)).toMatchObject({
        action: 'submitBackup',
        after: { generation: '3', extraConfigKeys: ['vmservice.virtualmachine.resource.yaml', 'drover.backupVersion'] },
      });
      expect(await backUp('3')).toBeNull();
      expect(await context.requests('ReconfigVM_Task')).toHaveLength(1);
      // Left to others, nothing of it stays.
      await settle(activities, await activities.submitRelease(subject));
      expect(Object.keys(await extraConfigOf('stored')).filter((key) => /^(vmservice|drover)\./u.test(key))).toEqual(
        [],
      );
    });

    test('one of another generation is not', async () => {
      const subject = await make('newer');
      context.kubernetes.backup = () => Promise.resolve(stored);
      expect(await activities.submitBackup({ ...subject, object: objectOf(subject), version: '2' })).toBeNull();
      expect(await mutations()).toEqual(['CloneVM_Task']);
    });
  });
}

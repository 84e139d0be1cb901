import { clonePolicy, clonePolicyBinding } from '../../contracts/data-volume/clone-policy.ts';
import { type KubernetesWorld, openKubernetesWorld } from './kubernetes-world.ts';
import { until } from './until.ts';
import { limitMs } from './world-base.ts';

/**
 * What a real kube-apiserver refuses of DataVolumes: by the rules of their definition, and by
 * those of deploy/admission.
 */
let world: KubernetesWorld;

const team = 'clone-rules-team';
const images = 'clone-rules-images';
const cdi = 'cdi.kubevirt.io';
const rbac = 'rbac.authorization.k8s.io';
const create = ['create', '-f', '-'];
const as = (user: string): string[] => ['--as', user];
const insufficient = (user: string): string =>
  `User ${user} has insufficient permissions in clone source namespace ${images}`;

const sized = { resources: { requests: { storage: '1Gi' } } };
const golden = { namespace: images, name: 'golden' };
let number = 0;

const volume = (spec: object, metadata: object = {}) => ({
  apiVersion: `${cdi}/v1beta1`,
  kind: 'DataVolume',
  metadata: { namespace: team, name: `dv-${(number += 1)}`, ...metadata },
  spec: { storage: sized, ...spec },
});

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

const bind = async (namespace: string, user: string, rules: Rule[]): Promise<void> => {
  const metadata = { namespace, name: user };
  const apply = ['apply', '-f', '-'];
  await world.kubectl(apply, { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules });
  await world.kubectl(apply, {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: rbac, kind: 'Role', name: user },
    subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
  });
};

const mayCreate = (resources: string[], apiGroups = [''], more: Partial<Rule> = {}): Rule => ({
  apiGroups,
  resources,
  verbs: ['create'],
  ...more,
});

/** In the namespace of the sources; each may do everything with DataVolumes in that of the team. */
const users: Record<string, Rule[]> = {
  alice: [{ apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['*'] }],
  bob: [mayCreate(['datavolumes/source'], [cdi])],
  carol: [mayCreate(['pods'])],
  dave: [mayCreate(['datavolumes/source'], [cdi], { resourceNames: ['golden'] })],
  erin: [mayCreate(['pods', 'pvcs'])],
  frank: [mayCreate(['datavolumes'], [cdi])],
};

beforeAll(async () => {
  world = await openKubernetesWorld();
  for (const name of [team, images])
    await world.kubectl(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const [user, rules] of Object.entries(users)) {
    await bind(team, user, [
      { apiGroups: [cdi], resources: ['datavolumes'], verbs: ['create', 'get', 'patch', 'update'] },
    ]);
    await bind(images, user, rules);
  }
  // A policy takes effect a moment after it is there.
  const probe = (): Promise<string> =>
    world.refusal([...create, '--dry-run=server', ...as('alice')], volume({ source: { pvc: golden } }));
  await until('the policy to be in force', 30_000, async () => {
    const refusal = await probe();
    return refusal.includes(insufficient('alice')) || `refused with: ${refusal}`;
  });
}, limitMs);

afterAll(async () => {
  await world.kubectl(['delete', 'namespace', team, images, '--wait=false']);
  await world.close();
}, limitMs);

interface Served {
  spec: object;
  status?: { typeChecking?: { expressionWarnings?: object[] } };
}

test('what is in force is what is generated, and every expression is well typed', async () => {
  const policy = await world.read<Served>('validatingadmissionpolicy', clonePolicy.metadata.name);
  const binding = await world.read<Served>('validatingadmissionpolicybinding', clonePolicy.metadata.name);
  expect(policy?.spec).toEqual(clonePolicy.spec);
  expect(binding?.spec).toEqual(clonePolicyBinding.spec);
  expect(policy?.status?.typeChecking?.expressionWarnings ?? []).toEqual([]);
});

const snapshot = { source: { snapshot: { ...golden, name: 'monday' } } };
const ofClaim = { source: { pvc: golden } };
const other = { source: { pvc: { ...golden, name: 'secret' } } };
const dataSource = { sourceRef: { kind: 'DataSource', ...golden } };
const prePopulated = { 'cdi.kubevirt.io/storage.prePopulated': 'dv' };

const permitted: [rule: string, user: string, spec: object, annotations?: Record<string, string>][] = [
  ['a source of the same namespace', 'alice', { source: { pvc: { namespace: team, name: 'own' } } }],
  ['a snapshot of the same namespace', 'alice', { source: { snapshot: { namespace: team, name: 'own' } } }],
  ['a DataSource of the same namespace', 'alice', { sourceRef: { kind: 'DataSource', name: 'own' } }],
  ['the same, named', 'alice', { sourceRef: { kind: 'DataSource', namespace: team, name: 'own' } }],
  ['an empty volume', 'alice', { source: { blank: {} } }],
  ['an import', 'alice', { source: { http: { url: 'https://images.test/disk.img' } } }],
  ['a user who may create datavolumes/source there', 'bob', ofClaim],
  ['… of a snapshot', 'bob', snapshot],
  ['… through a DataSource', 'bob', dataSource],
  ['a user who may create pods there', 'carol', ofClaim],
  ['… through a DataSource', 'carol', dataSource],
  ['a user who may create datavolumes/source of that name', 'dave', ofClaim],
  ['a user who may create pods and pvcs there: a snapshot', 'erin', snapshot],
  ['one that holds its data already', 'alice', ofClaim, prePopulated],
];

test.each(permitted)('permitted: %s (%s)', async (_rule, user, spec, annotations = {}) => {
  expect(await world.refusal([...create, ...as(user)], volume(spec, { annotations }))).toBe('');
});

const forbidden: [rule: string, user: string, spec: object][] = [
  ['a claim elsewhere', 'alice', ofClaim],
  ['a snapshot elsewhere', 'alice', snapshot],
  ['a DataSource elsewhere', 'alice', dataSource],
  ['pods alone are not enough for a snapshot', 'carol', snapshot],
  ['another name than the one that is permitted', 'dave', other],
  ['any name, where one is permitted', 'dave', dataSource],
  ['to create DataVolumes there is not to clone from there', 'frank', ofClaim],
];

test.each(forbidden)('forbidden: %s (%s)', async (_rule, user, spec) => {
  const refusal = await world.refusal([...create, ...as(user)], volume(spec));
  expect(refusal).toContain(insufficient(user));
  expect(refusal).toContain('Forbidden');
});

const patch = (name: string, change: object, user?: string): string[] => [
  'patch',
  'datavolume',
  name,
  '-n',
  team,
  '--type=merge',
  '-p',
  JSON.stringify(change),
  ...(user === undefined ? [] : as(user)),
];

test('one that holds its data already becomes no clone by another user', async () => {
  const made = volume(ofClaim, { annotations: prePopulated });
  await world.kubectl([...create, ...as('alice')], made);
  const taken = { metadata: { annotations: { 'cdi.kubevirt.io/storage.prePopulated': null } } };
  expect(await world.refusal(patch(made.metadata.name, taken, 'alice'))).toContain(insufficient('alice'));
  expect(await world.refusal(patch(made.metadata.name, taken, 'bob'))).toBe('');
});

test('a clone may be labelled by who could not have created it', async () => {
  const made = volume(ofClaim);
  await world.kubectl([...create, ...as('bob')], made);
  expect(await world.refusal(patch(made.metadata.name, { metadata: { labels: { a: 'b' } } }, 'alice'))).toBe('');
});

test('a spec stays as it is, whichever user writes it', async () => {
  const made = volume({ source: { pvc: { namespace: team, name: 'own' } } });
  await world.kubectl(create, made);
  for (const spec of [{ source: { pvc: golden } }, { contentType: 'archive' }, { storage: { storageClassName: 'x' } }])
    expect(await world.refusal(patch(made.metadata.name, { spec }))).toContain('Cannot update DataVolume Spec');
});

/** Upstream's definition leaves that to a webhook. */
test(
  'where the definition is CDI’s own, the policy keeps the spec',
  async () => {
    const crd = ['crd', `datavolumes.${cdi}`];
    const rules = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations';
    const read = async () => await world.read<{ spec: { versions: { schema: Schema }[] } }>(...crd);
    const before = (await read())?.spec.versions[0]?.schema.openAPIV3Schema.properties.spec['x-kubernetes-validations'];
    const change = (operation: object): Promise<string> =>
      world.kubectl(['patch', ...crd, '--type=json', '-p', JSON.stringify([{ path: rules, ...operation }])]);
    const made = volume({ source: { pvc: { namespace: team, name: 'own' } } });
    await world.kubectl(create, made);
    const moved = patch(made.metadata.name, { spec: { source: { pvc: golden } } }, 'alice');
    try {
      await change({ op: 'remove' });
      // The definition that is in force changes a moment later.
      const refusals = await attempts(20, () => world.refusal(moved));
      expect(refusals.filter((refusal) => !refusal.includes('Cannot update DataVolume Spec'))).toEqual([]);
      expect(refusals.at(-1)).toContain(`ValidatingAdmissionPolicy '${clonePolicy.metadata.name}'`);
    } finally {
      await change({ op: 'add', value: before });
    }
  },
  limitMs,
);

interface Schema {
  openAPIV3Schema: { properties: { spec: { 'x-kubernetes-validations': object[] } } };
}

async function attempts<Result>(times: number, work: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let time = 0; time < times; time += 1) results.push(await work());
  return results;
}

test('the checkpoints of an import move on, and its source does not', async () => {
  const made = volume({ source: { vddk: { url: 'https://vcenter.test' } } });
  await world.kubectl(create, made);
  const checkpoints = [{ previous: '', current: 'snapshot-1' }];
  expect(await world.refusal(patch(made.metadata.name, { spec: { checkpoints } }))).toBe('');
  for (const spec of [
    { source: { vddk: null, pvc: golden } },
    { sourceRef: { kind: 'DataSource', ...golden } },
    { source: { vddk: { url: 'https://other.test' } } },
  ])
    expect(await world.refusal(patch(made.metadata.name, { spec }))).not.toBe('');
});

test('where a clone comes from, drover alone records', async () => {
  const made = volume(ofClaim);
  await world.kubectl([...create, ...as('bob')], made);
  const record = (text: string | null): object => ({ metadata: { annotations: { 'drover.dev/clone-source': text } } });
  const message = 'drover.dev/clone-source can only be written by users with the verb protect on datavolumes';
  const worker = 'system:serviceaccount:drover-system:drover-worker';
  expect(await world.refusal(patch(made.metadata.name, record('{"kind":"pvc"}'), 'bob'))).toContain(message);
  expect(
    await world.refusal(
      [...create, ...as('bob')],
      volume(ofClaim, { annotations: { 'drover.dev/clone-source': 'forged' } }),
    ),
  ).toContain(message);
  // The role of drover's worker on DataVolumes themselves is another file's.
  await world.kubectl(patch(made.metadata.name, record('{"kind":"pvc"}')));
  expect(await world.refusal(patch(made.metadata.name, record(null), 'bob'))).toContain(message);
  const can = await world.kubectl(['auth', 'can-i', 'protect', `datavolumes.${cdi}`, '-n', team, ...as(worker)]);
  expect(can.trim()).toBe('yes');
});

const claim = { accessModes: ['ReadWriteOnce'], ...sized };
const small = (storage: string | number) => ({ resources: { requests: { storage } } });

const malformed: [rule: string, spec: object, message: string][] = [
  ['no source', {}, 'Data volume should have either Source or SourceRef, or be externally populated'],
  ['an empty source', { source: {} }, 'Missing Data volume source'],
  ['two sources', { source: { blank: {}, upload: {} } }, 'Multiple Data volume sources'],
  [
    'a source and a reference',
    { source: { blank: {} }, sourceRef: { kind: 'DataSource', name: 'x' } },
    'Data volume should have either Source or SourceRef',
  ],
  ['a reference to another kind', { sourceRef: { kind: 'Image', name: 'x' } }, 'Unsupported sourceRef kind'],
  ['a claim without a name', { source: { pvc: { namespace: team, name: '' } } }, 'spec.source.pvc.name'],
  ['neither pvc nor storage', { source: { blank: {} }, storage: null }, 'Missing Data volume PVC'],
  [
    'both',
    { source: { blank: {} }, pvc: claim },
    'Duplicate storage definition, both target storage and target pvc defined',
  ],
  ['an empty volume without a size', { source: { blank: {} }, storage: {} }, 'Storage size is missing'],
  [
    'a pvc without a size',
    { source: { blank: {} }, storage: null, pvc: { accessModes: ['ReadWriteOnce'] } },
    'PVC size is missing',
  ],
  ['no size', { source: { blank: {} }, storage: small(0) }, "Storage size can't be equal or less than zero"],
  [
    'a negative size',
    { source: { blank: {} }, storage: small('-1Gi') },
    "Storage size can't be equal or less than zero",
  ],
  ['too small', { source: { blank: {} }, storage: small('1023Ki') }, 'Storage size should be at least 1MiB'],
  ['too small a number', { source: { blank: {} }, storage: small(1_000) }, 'Storage size should be at least 1MiB'],
  [
    'a pvc without access modes',
    { source: { blank: {} }, storage: null, pvc: sized },
    'Required value: at least 1 access mode is required',
  ],
  [
    'a pvc with two',
    { source: { blank: {} }, storage: null, pvc: { ...claim, accessModes: ['ReadWriteOnce', 'ReadWriteMany'] } },
    'PVC multiple accessModes',
  ],
  [
    'an unknown access mode',
    { source: { blank: {} }, storage: { ...sized, accessModes: ['Once'] } },
    'Unsupported value: "Once"',
  ],
  [
    'an empty archive',
    { source: { blank: {} }, contentType: 'archive' },
    'SourceType cannot be blank and the contentType be archive',
  ],
  [
    'an archive in a block volume',
    { source: { upload: {} }, contentType: 'archive', storage: { ...sized, volumeMode: 'Block' } },
    'ContentType archive is not supported with volumeMode Block',
  ],
];

test.each(malformed)('malformed: %s', async (_rule, spec, message) => {
  expect(await world.refusal(create, volume(spec))).toContain(message);
});

const wellFormed: [rule: string, spec: object][] = [
  ['a clone without a size', { source: { pvc: { namespace: team, name: 'own' } }, storage: {} }],
  ['through a DataSource, too', { sourceRef: { kind: 'DataSource', name: 'own' }, storage: {} }],
  ['a whole pvc', { source: { blank: {} }, storage: null, pvc: claim }],
  ['a number of bytes', { source: { blank: {} }, storage: small(1_048_576) }],
  ['what another populator fills', { storage: { ...sized, dataSourceRef: { kind: 'Image', name: 'x' } } }],
];

test.each(wellFormed)('well-formed: %s', async (_rule, spec) => {
  expect(await world.refusal(create, volume(spec))).toBe('');
});

test('the source of an import is kept as it is', async () => {
  const made = volume({ source: { registry: { url: 'docker://images.test/disk', pullMethod: 'node' } } });
  await world.kubectl(create, made);
  const found = await world.read<{ spec: object }>('dv', made.metadata.name, '-n', team);
  expect(found?.spec).toMatchObject({ source: { registry: { url: 'docker://images.test/disk', pullMethod: 'node' } } });
});

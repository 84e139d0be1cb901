/** The direction of dependencies, as docs/architecture.md draws it. A folder may import itself and what its row names. */
const mayImport = {
  contracts: [],
  workflows: ['contracts'],
  activities: ['contracts', 'runtime'],
  runtime: ['contracts'],
  'k8s-bridge': ['contracts', 'runtime'],
  workers: ['activities', 'contracts', 'runtime'],
  starters: ['contracts', 'runtime'],
};
const folders = [...Object.keys(mayImport), 'lab', 'test', 'bench'];

/** Tests may use whatever they need. */
const isTest = '\\.test\\.ts$';

const layer = ([folder, allowed]) => {
  const others = folders.filter((other) => other !== folder && !allowed.includes(other));
  return {
    name: `${folder}-layer`,
    comment: `${folder} may import ${['itself', ...allowed].join(', ')}`,
    severity: 'error',
    from: {
      path: `^${folder}/`,
      pathNot: folder === 'starters' ? [isTest, '^starters/(worker|bridge|doctor)\\.ts$'] : [isTest],
    },
    to: { path: `^(${others.join('|')})/` },
  };
};

module.exports = {
  forbidden: [
    ...Object.entries(mayImport).map(layer),
    {
      name: 'composition-roots',
      comment:
        'worker, bridge and doctor start or probe the other processes: their composition roots and wire clients only',
      severity: 'error',
      from: { path: '^starters/(worker|bridge|doctor)\\.ts$' },
      to: {
        path: '^(workers|k8s-bridge|activities|workflows|lab|test|bench)/',
        pathNot: [
          '^(workers|k8s-bridge)/main\\.ts$',
          '^activities/[^/]+/client\\.ts$',
          '^activities/openstack/services\\.ts$',
        ],
      },
    },
    {
      name: 'deterministic-workflows',
      comment:
        'workflow code runs in a sandbox: @temporalio/workflow, @temporalio/common and contracts only; contracts/crds as types',
      severity: 'error',
      from: { path: '^workflows/', pathNot: [isTest] },
      to: {
        path: '^(node_modules/(?!@temporalio/(workflow|common)/)|contracts/crds/)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'deterministic-workflows-core',
      comment: 'no Node built-ins in workflow code',
      severity: 'error',
      from: { path: '^workflows/', pathNot: [isTest] },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'opened-through-ports',
      comment:
        'outside systems are opened by what the worker is composed of, so that a simulation can give others (workers/ports.ts)',
      severity: 'error',
      from: {
        path: '^(activities|workers)/',
        pathNot: [isTest, '^workers/(main|ports)\\.ts$', '^activities/hypervisor/host-ports\\.ts$'],
      },
      to: {
        path: '^activities/(ceph|keystone|libvirt|ovs|redfish|vsphere|vsphere/rest)/client\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      comment: 'a file that nothing imports and that is no entry is dead',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          isTest,
          '^lab/bootstrap\\.mjs$',
          '^test/(assign-lab|retry-once)\\.mjs$',
          '^test/jest/(native-environment|fixtures/.*)\\.mjs$',
          '\\.d\\.ts$',
        ],
      },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(\\.lab|__pycache__)/' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};

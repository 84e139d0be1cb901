import { clonePolicyName, volumeAnnotations } from './metadata.ts';

/**
 * The rules of kube-apiserver by which a DataVolume that exists has been permitted: who created it may clone from the
 * namespace of its source, and no client can make another source of it afterwards (docs/data-volumes.md#permission).
 * deploy/admission/data-volumes.yaml is made of it, and the activities compare what is in force with it.
 */

interface Validation {
  expression: string;
  message: string;
  /** Says more than the message, where it can. */
  messageExpression?: string;
  reason?: 'Forbidden' | 'Invalid';
}

export interface AdmissionPolicy {
  apiVersion: 'admissionregistration.k8s.io/v1';
  kind: 'ValidatingAdmissionPolicy';
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    failurePolicy: 'Fail';
    matchConstraints: {
      matchPolicy: 'Equivalent';
      namespaceSelector: object;
      objectSelector: object;
      resourceRules: readonly {
        apiGroups: readonly string[];
        apiVersions: readonly string[];
        operations: readonly ('CREATE' | 'UPDATE')[];
        resources: readonly string[];
        scope: '*';
      }[];
    };
    variables: readonly { name: string; expression: string }[];
    validations: readonly Validation[];
  };
}

const group = 'cdi.kubevirt.io';
const labels = { 'app.kubernetes.io/name': 'drover' };

/** Of the field, where the object has it; else nothing. */
const fieldOf = (path: string, field: string): string => {
  const steps = `spec.${path}.${field}`.split('.');
  const isThere = steps.slice(1).map((_, index) => `has(object.${steps.slice(0, index + 2).join('.')})`);
  return `${isThere.join(' && ')} ? object.${steps.join('.')} : ''`;
};

const may = (resource: string, namespace: string): string =>
  `authorizer.group('').resource('${resource}').namespace(variables.${namespace}).check('create').allowed()`;

const maySource = (namespace: string, name?: string): string =>
  `authorizer.group('${group}').resource('datavolumes').subresource('source').namespace(variables.${namespace})` +
  `${name === undefined ? '' : `.name(variables.${name})`}.check('create').allowed()`;

/**
 * Each check has a variable of its own: what an expression may cost has room for two. They are evaluated when
 * they are needed.
 */
const variables: AdmissionPolicy['spec']['variables'] = [
  { name: 'isCreate', expression: "request.operation == 'CREATE'" },
  { name: 'annotations', expression: 'has(object.metadata.annotations) ? object.metadata.annotations : {}' },
  {
    name: 'oldAnnotations',
    expression: 'oldObject != null && has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {}',
  },
  // One that holds its data already is no clone. It becomes one when the annotation is taken away.
  {
    name: 'becomesClone',
    expression:
      `!('${volumeAnnotations.prePopulated}' in variables.annotations) && ` +
      `(variables.isCreate || '${volumeAnnotations.prePopulated}' in variables.oldAnnotations)`,
  },
  { name: 'claimNamespace', expression: fieldOf('source.pvc', 'namespace') },
  { name: 'claimName', expression: fieldOf('source.pvc', 'name') },
  { name: 'maySourceClaim', expression: maySource('claimNamespace', 'claimName') },
  { name: 'mayUseClaim', expression: may('pods', 'claimNamespace') },
  { name: 'snapshotNamespace', expression: fieldOf('source.snapshot', 'namespace') },
  { name: 'snapshotName', expression: fieldOf('source.snapshot', 'name') },
  { name: 'maySourceSnapshot', expression: maySource('snapshotNamespace', 'snapshotName') },
  { name: 'mayUsePodsOfSnapshot', expression: may('pods', 'snapshotNamespace') },
  // As CDI asks for it: it is no resource of Kubernetes, so that only who may create everything may.
  { name: 'mayUseClaimsOfSnapshot', expression: may('pvcs', 'snapshotNamespace') },
  { name: 'dataSourceNamespace', expression: fieldOf('sourceRef', 'namespace') },
  // Of any name: what the DataSource stands for may change.
  { name: 'maySourceAny', expression: maySource('dataSourceNamespace') },
  { name: 'mayUseAny', expression: may('pods', 'dataSourceNamespace') },
  {
    name: 'mayProtect',
    expression: `authorizer.group('${group}').resource('datavolumes').namespace(request.namespace).check('protect').allowed()`,
  },
];

const insufficient = (namespace: string, what: string, allowed: string): Validation => ({
  expression: `!variables.becomesClone || variables.${namespace} == '' || variables.${namespace} == request.namespace || ${allowed}`,
  message: `insufficient permissions in clone source namespace of the ${what}`,
  messageExpression: `'User ' + request.userInfo.username + ' has insufficient permissions in clone source namespace ' + variables.${namespace}`,
  reason: 'Forbidden',
});

const ofImport = (object: string): string =>
  `has(${object}.spec.source) && (has(${object}.spec.source.vddk) || has(${object}.spec.source.imageio))`;

const { cloneSource } = volumeAnnotations;

const validations: readonly Validation[] = [
  insufficient('claimNamespace', 'PersistentVolumeClaim', 'variables.maySourceClaim || variables.mayUseClaim'),
  insufficient(
    'snapshotNamespace',
    'VolumeSnapshot',
    'variables.maySourceSnapshot || (variables.mayUsePodsOfSnapshot && variables.mayUseClaimsOfSnapshot)',
  ),
  insufficient('dataSourceNamespace', 'DataSource', 'variables.maySourceAny || variables.mayUseAny'),
  {
    // CDI moves the checkpoints of an import on.
    expression:
      'variables.isCreate || object.spec == oldObject.spec || ' +
      `(${ofImport('object')} && ${ofImport('oldObject')} && object.spec.source == oldObject.spec.source && !has(object.spec.sourceRef))`,
    message: 'Cannot update DataVolume Spec',
  },
  {
    expression:
      `('${cloneSource}' in variables.annotations ? variables.annotations['${cloneSource}'] : '') == ` +
      `('${cloneSource}' in variables.oldAnnotations ? variables.oldAnnotations['${cloneSource}'] : '') || variables.mayProtect`,
    message: `${cloneSource} can only be written by users with the verb protect on datavolumes`,
    reason: 'Forbidden',
  },
];

export const clonePolicy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: clonePolicyName, labels },
  spec: {
    failurePolicy: 'Fail',
    // What kube-apiserver would fill in is there, so that what is in force can be compared.
    matchConstraints: {
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [
        {
          apiGroups: [group],
          apiVersions: ['*'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['datavolumes'],
          scope: '*',
        },
      ],
    },
    variables,
    validations,
  },
} as const satisfies AdmissionPolicy;

export const clonePolicyBinding = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: clonePolicyName, labels },
  spec: { policyName: clonePolicyName, validationActions: ['Deny'] },
} as const;

/** drover's worker records where a clone comes from. */
const privileges = 'drover-data-volume-privileges';
const ofWorker = { ...labels, 'app.kubernetes.io/component': 'worker' };
const rbac = 'rbac.authorization.k8s.io';

/** All of deploy/admission/data-volumes.yaml. */
export const cloneRules: readonly object[] = [
  clonePolicy,
  clonePolicyBinding,
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: privileges, labels: ofWorker },
    rules: [{ apiGroups: [group], resources: ['datavolumes'], verbs: ['protect'] }],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: privileges, labels: ofWorker },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: privileges },
    subjects: [{ kind: 'ServiceAccount', name: 'drover-worker', namespace: 'drover-system' }],
  },
];

/**
 * What holds Gardener's drain of a Node back, as the operator that drover replaces makes it, too: two objects of one
 * name for each Node.
 */

export const guardNamespace = 'kube-system';

export const guardPrefix = 'maint-';

/** The name of both. */
export const guardName = (node: string): string => `${guardPrefix}${node}`;

export const guardBudget = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
} as const;

export const guardDeployment = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' } as const;

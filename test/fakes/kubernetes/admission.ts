import { quantityOf, quantityText } from '../../../contracts/quantity.ts';
import type { Fields } from './field-set.ts';
import { isFields } from './field-set.ts';
import { forbiddenBecause, quotaExceeded } from './refusal.ts';
import type { Resource } from './resources.ts';
import type { Storage } from './storage.ts';
import type { Draft, StoredObject } from './stored-object.ts';
import { requestOf } from './volume-kinds.ts';

/**
 * The admission plug-ins of kube-apiserver that look at other objects:
 * DefaultStorageClass, ResourceQuota, PersistentVolumeClaimResize.
 */
export interface Admission {
  /** What is added to a new object. */
  complete(resource: Resource, object: Draft): Draft;
  /** @throws Refusal 403 */
  checkNew(resource: Resource, object: Draft): void;
  /** @throws Refusal 403 */
  checkChange(resource: Resource, live: StoredObject, next: Draft): void;
}

const quotas = { group: '', plural: 'resourcequotas' };
const classes = { group: 'storage.k8s.io', plural: 'storageclasses' };
const isDefault = 'storageclass.kubernetes.io/is-default-class';

interface Usage {
  name: string;
  requested: number;
  used: number;
  hard: number;
}

export function createAdmission(
  storage: Storage,
  find: (of: { group: string; plural: string }) => Resource,
): Admission {
  const list = (of: { group: string; plural: string }): StoredObject[] => storage.list(find(of));
  const isClaim = ({ group, plural }: Resource): boolean => group === '' && plural === 'persistentvolumeclaims';

  /** What a quota may limit of an object, and how much of that it is. */
  const usageOf = (resource: Resource, object: Draft | StoredObject): Record<string, number> => {
    const counted = { [`count/${resource.plural}${resource.group === '' ? '' : `.${resource.group}`}`]: 1 };
    if (!isClaim(resource)) return counted;
    const bytes = quantityOf(requestOf(object) ?? '') ?? 0;
    const className = classOf(object);
    return {
      ...counted,
      persistentvolumeclaims: 1,
      'requests.storage': bytes,
      ...(className !== '' && { [`${className}.storageclass.storage.k8s.io/requests.storage`]: bytes }),
    };
  };

  const checkQuota = (resource: Resource, object: Draft, live: StoredObject | null): void => {
    const { namespace, name } = object.metadata;
    if (namespace === undefined) return;
    const before = live === null ? {} : usageOf(resource, live);
    const wanted = Object.entries(usageOf(resource, object))
      .map(([what, amount]) => [what, amount - (before[what] ?? 0)] as const)
      .filter(([, amount]) => amount > 0);
    for (const quota of list(quotas)) {
      if (quota.metadata.namespace !== namespace) continue;
      // What its controller has not counted yet is not limited.
      const { hard = {} } = (quota['status'] ?? {}) as { hard?: Record<string, string> };
      const inside = storage.list(resource).filter((one) => one.metadata.namespace === namespace);
      const exceeded = wanted.flatMap(([what, requested]): Usage[] => {
        const limit = quantityOf(hard[what] ?? '');
        if (limit === null) return [];
        const used = inside.reduce((sum, one) => sum + (usageOf(resource, one)[what] ?? 0), 0);
        return used + requested > limit ? [{ name: what, requested, used, hard: limit }] : [];
      });
      if (exceeded.length > 0) {
        const text = (amount: (of: Usage) => number): string =>
          exceeded.map((of) => `${of.name}=${quantityText(amount(of))}`).join(',');
        throw quotaExceeded(
          { ...resource, name },
          {
            quota: quota.metadata.name,
            requested: text(({ requested }) => requested),
            used: text(({ used }) => used),
            limited: text(({ hard: most }) => most),
          },
        );
      }
    }
  };

  const checkGrowth = (resource: Resource, live: StoredObject, next: Draft): void => {
    if ((quantityOf(requestOf(next) ?? '') ?? 0) <= (quantityOf(requestOf(live) ?? '') ?? 0)) return;
    const subject = { ...resource, name: live.metadata.name };
    const found = storage.get(find(classes), { name: classOf(next) })?.object;
    if (found?.['allowVolumeExpansion'] !== true)
      throw forbiddenBecause(
        subject,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
  };

  return {
    complete(resource, object) {
      if (!isClaim(resource)) return object;
      const spec: Fields = isFields(object['spec']) ? object['spec'] : {};
      if (spec['storageClassName'] !== undefined) return object;
      const [chosen] = list(classes)
        .filter(({ metadata }) => metadata.annotations?.[isDefault] === 'true')
        .toSorted((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? 1 : -1));
      return chosen === undefined ? object : { ...object, spec: { ...spec, storageClassName: chosen.metadata.name } };
    },
    checkNew: (resource, object) => checkQuota(resource, object, null),
    checkChange(resource, live, next) {
      if (!isClaim(resource)) return;
      checkGrowth(resource, live, next);
      checkQuota(resource, next, live);
    },
  };
}

const classOf = (claim: Draft | StoredObject): string =>
  (claim['spec'] as { storageClassName?: string } | undefined)?.storageClassName ?? '';

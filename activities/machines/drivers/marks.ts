/**
 * What says from which class a VM was made: its cluster and its role, written into custom attributes at vSphere and
 * into metadata at OpenStack, as the replaced manager does (docs/machine-safety.md#drivers). Pure.
 */

/**
 * Of a class, or of a VM: all names of clusters and of roles that it carries. One of a class has exactly one of each.
 */
export interface Marks {
  readonly clusters: readonly string[];
  readonly roles: readonly string[];
}

/** How a provider writes marks. */
export interface MarkNotation {
  /** The key whose value is the name, and the prefix of keys that end with it; null: it has no such key. */
  readonly cluster: { readonly key: string | null; readonly prefix: string };
  readonly role: { readonly key: string | null; readonly prefix: string };
  /** Whether a key that ends with the name counts without a value: a custom attribute that was cleared has none. */
  readonly emptyCounts: boolean;
}

export const vsphereNotation: MarkNotation = {
  cluster: { key: 'mcm.gardener.cloud/cluster', prefix: 'kubernetes.io/cluster/' },
  role: { key: 'mcm.gardener.cloud/role', prefix: 'kubernetes.io/role/' },
  emptyCounts: false,
};

export const openstackNotation: MarkNotation = {
  cluster: { key: null, prefix: 'kubernetes.io-cluster-' },
  role: { key: null, prefix: 'kubernetes.io-role-' },
  emptyCounts: true,
};

/** Of the tags of a class, or of the attributes or metadata of a VM. */
export function marksIn(notation: MarkNotation, tags: Readonly<Record<string, string>>): Marks {
  const named = ({ key, prefix }: MarkNotation['cluster']): string[] => {
    const names = Object.entries(tags).flatMap(([tag, value]) => {
      if (tag === key) return value;
      return tag.startsWith(prefix) && (notation.emptyCounts || value !== '') ? tag.slice(prefix.length) : [];
    });
    return [...new Set(names)].filter((name) => name !== '');
  };
  return { clusters: named(notation.cluster), roles: named(notation.role) };
}

/** What is wrong with the marks of a class, in words that follow its `tags`; null: nothing. */
export function problemOf(notation: MarkNotation, { clusters, roles }: Marks): string | null {
  const form = ({ key, prefix }: MarkNotation['cluster']): string =>
    key === null ? `${prefix}NAME` : `${key} (or ${prefix}NAME)`;
  const kinds = [
    { names: clusters, what: 'clusters', form: form(notation.cluster) },
    { names: roles, what: 'roles', form: form(notation.role) },
  ];
  const missing = kinds.filter(({ names }) => names.length === 0);
  if (missing.length > 0)
    return `lack ${missing.map((kind) => kind.form).join(' and ')}; without ${kinds.map((kind) => kind.form).join(' and ')} nothing says which VMs are its own`;
  const several = kinds.find(({ names }) => names.length > 1);
  return several === undefined ? null : `name ${several.names.length} ${several.what} by ${several.form}`;
}

/**
 * Whether a VM carries the cluster and the role of the class. One that carries another cluster's or another role's as
 * well belongs to neither for sure, and does not count.
 */
export const hasMarks = (ofVm: Marks, ofClass: Marks): boolean =>
  isSame(ofVm.clusters, ofClass.clusters) && isSame(ofVm.roles, ofClass.roles);

const isSame = (names: readonly string[], [expected, ...more]: readonly string[]): boolean =>
  expected !== undefined && more.length === 0 && names.length === 1 && names[0] === expected;

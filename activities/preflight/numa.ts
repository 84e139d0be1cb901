import type { InstanceDetail } from '../nova/types.ts';

/**
 * What a server asks of the NUMA cells of its host. Nova's scheduler alone knows which are taken: neither Placement nor
 * its API says it.
 */
export interface NumaDemand {
  /** For people: `pinned CPUs, huge pages (1GB)`. */
  what: string;
  /** Of its own; each lies in one cell of the host. */
  nodes: { vcpus: number; memoryMiB: number }[];
}

/** A NUMA cell as the node agent reports it; null: not reported. */
export interface NumaCell {
  cpus: number | null;
  memoryMiB: number | null;
}

/**
 * Null: it may be spread over a host as it comes.
 *
 * @see Nova documentation, "Extra Specs": hw:numa_nodes, hw:numa_cpus, hw:numa_mem, hw:mem_page_size, hw:cpu_policy
 */
export function numaDemandOf(instance: InstanceDetail): NumaDemand | null {
  const said = (key: string): string | undefined =>
    instance.extraSpecs[`hw:${key}`] ?? instance.imageProperties?.[`hw_${key}`];
  const pages = said('mem_page_size');
  const policy = said('cpu_policy');
  const given = said('numa_nodes');
  const isPinned = policy === 'dedicated' || policy === 'mixed';
  if (pages === undefined && given === undefined && !isPinned) return null;
  const count = Math.max(1, Number.parseInt(given ?? '1', 10) || 1);
  const nodes = Array.from({ length: count }, (_, index) => {
    const cpus = said(`numa_cpus.${index}`);
    const memory = Number(said(`numa_mem.${index}`));
    return {
      vcpus: cpus === undefined ? Math.ceil(instance.vcpus / count) : chosenCpus(cpus).size,
      memoryMiB: Number.isInteger(memory) && memory > 0 ? memory : Math.floor(instance.memoryMiB / count),
    };
  });
  const what = [
    ...(isPinned ? ['pinned CPUs'] : []),
    ...(pages === undefined || pages === 'small' ? [] : [`huge pages (${pages})`]),
    ...(count > 1 ? [`${count} NUMA nodes`] : []),
  ];
  return { what: what.length === 0 ? 'one NUMA node' : what.join(', '), nodes };
}

/** The numbers in `0-3,8,^2`, as Nova reads it: what is taken away is, wherever it stands. */
export function chosenCpus(text: string): Set<number> {
  const chosen = new Set<number>();
  const excluded = new Set<number>();
  for (const part of text.split(',').map((one) => one.trim())) {
    const [, minus, first, last] = /^(\^?)(\d{1,4})(?:-(\d{1,4}))?$/u.exec(part) ?? [];
    if (first === undefined) continue;
    for (let cpu = Number(first); cpu <= Number(last ?? first); cpu += 1) (minus === '' ? chosen : excluded).add(cpu);
  }
  return new Set([...chosen].filter((cpu) => !excluded.has(cpu)));
}

/**
 * Whether a host's cells are large enough at all, each node in a cell of its own. What other guests take of them is not
 * known here, so that true is no promise; and a host that reports no cells may have any.
 */
export function mayHold(cells: readonly NumaCell[], { nodes }: NumaDemand): boolean {
  if (cells.length === 0) return true;
  // Largest first, each into the smallest cell that takes it: cells differ in few ways, if in any.
  const free = cells.toSorted((a, b) => (a.memoryMiB ?? Infinity) - (b.memoryMiB ?? Infinity));
  return nodes
    .toSorted((a, b) => b.memoryMiB - a.memoryMiB)
    .every((node) => {
      const index = free.findIndex(
        ({ cpus, memoryMiB }) => (cpus ?? Infinity) >= node.vcpus && (memoryMiB ?? Infinity) >= node.memoryMiB,
      );
      if (index !== -1) free.splice(index, 1);
      return index !== -1;
    });
}

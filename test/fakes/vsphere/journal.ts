import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import type { InventoryLife } from '../../../lab/vsphere/journal.ts';
import type { Model } from './model.ts';

type Life = { -readonly [Name in keyof InventoryLife]: InventoryLife[Name] };

/** When which VMs had an owner, and when which cluster modules were there: as the lab's journal.go. */
export interface Journal {
  moduleMade(id: string, userAgent: string): void;
  moduleGone(id: string): void;
  lives(): InventoryLife[];
}

export function openJournal(model: Model): Journal {
  const lives: Life[] = [];
  /** By VM, the life that its present owner began. */
  let owned = new Map<string, Life>();

  const begin = (life: Pick<InventoryLife, 'kind' | 'id'> & Partial<InventoryLife>): Life => {
    const begun: Life = { uid: '', userAgent: '', fromMs: model.clock.now(), goneMs: null, ...life };
    lives.push(begun);
    return begun;
  };
  const end = (life: Life | undefined): void => {
    if (life !== undefined) life.goneMs = model.clock.now();
  };
  model.onChange(() => {
    const now = new Map<string, Life>();
    for (const {
      ref: { value: id },
      state: { config },
    } of model.vms()) {
      const uid = config.extraConfig.find(({ key }) => key === extraConfigKeys.objectUid)?.value;
      if (typeof uid !== 'string') continue;
      const before = owned.get(id);
      now.set(id, before?.uid === uid ? before : begin({ kind: 'VirtualMachine', id, uid }));
    }
    for (const [id, life] of owned) if (now.get(id) !== life) end(life);
    owned = now;
  });
  return {
    moduleMade: (id, userAgent) => void begin({ kind: 'ClusterModule', id, userAgent }),
    moduleGone: (id) =>
      end(lives.find((life) => life.kind === 'ClusterModule' && life.id === id && life.goneMs === null)),
    lives: () => lives.map((life) => ({ ...life })),
  };
}

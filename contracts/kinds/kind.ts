import type { ConditionUpdate } from '../conditions.ts';
import type { Access, OptionalRole } from './access.ts';
import type { KubeObject, Resource } from './object.ts';
import { fullNameOf, namespaceAndName } from './object.ts';
import type { Shown } from './shown.ts';

/**
 * Types of the table of kinds. A row is all that code outside a kind's planner and activities must know of it. Rows
 * hold no schemas: workflows import them.
 */

/** What drover may do with a kind. `observe`: plans are published and change nothing. */
export const modes = ['off', 'observe', 'act'] as const;
export type Mode = (typeof modes)[number];
export type ActiveMode = Exclude<Mode, 'off'>;

/** A kind of run that is signalled about a subject, and started where none is open. */
export interface RunRow {
  /** In the search attribute `DroverKind`, in metrics, and as `drover stop --kind` names it. */
  readonly kind: string;
  readonly workflowType: string;
  /**
   * The id is the lock: one run per subject. `cluster` is empty where one cluster has the Temporal namespace to itself.
   */
  workflowId(subject: string, cluster?: string): string;
  /**
   * The fields of its input, plain JSON that people type too. They hold the subject: `namespace` and `name`, or the one
   * field whole.
   */
  readonly input: readonly string[];
  /** The compute host concerned. Left out: none. */
  host?(subject: string): string;
  /**
   * For the people who find the run in the Web UI, as Markdown. `object` is the name of the object that was changed.
   */
  describe(subject: string, object: string): { readonly summary: string; readonly details: readonly string[] };
  /** What it may do in Kubernetes, besides what each run may: RBAC. */
  readonly access: readonly Access[];
}

/** What a run about the subject is started with. */
export function inputOf({ input }: Pick<RunRow, 'input'>, subject: string): Record<string, string> {
  const parts = input.length === 1 ? [subject] : namespaceAndName(subject);
  return Object.fromEntries(input.map((field, index) => [field, parts[index] ?? '']));
}

/**
 * A field that matters, by its path from the object's root, which begins with the cause that its change is: `spec.…` or
 * `status.…`.
 */
export type WatchedFields = Record<`${'metadata' | 'spec' | 'status'}.${string}`, WatchedField>;

export interface WatchedField {
  value: string | boolean | number | null;
  /** drover has written that value, so that its appearance is no change. */
  own?: boolean;
}

/**
 * Which changes of an object matter: those of what it names here. Never what drover itself has written, unless it was
 * another run.
 */
export interface Predicate {
  /** A new generation, which is a written spec where the kind has a status. */
  readonly generation?: true;
  label?(key: string): boolean;
  annotation?(key: string): boolean;
  /** Every holder but drover. */
  readonly finalizers?: true;
  fields?(object: KubeObject): WatchedFields;
}

/** Settings that say what is watched. */
export interface WatchSettings {
  /** Labels of a Node that come into its Hypervisor besides the known ones. */
  copiedLabels: readonly string[];
  /** Where VirtualMachineImageCaches are; null: fast deploy is off. */
  imageCacheNamespace: string | null;
  /** Whether VirtualMachineGroups are there. */
  groups: boolean;
}

/** What is always watched. */
export const watchAlways: WatchSettings = { copiedLabels: [], imageCacheNamespace: null, groups: false };

/** With everything that may be watched. */
export const watchEverything = (systemNamespace: string): WatchSettings => ({
  copiedLabels: [],
  imageCacheNamespace: systemNamespace,
  groups: true,
});

/**
 * Other objects that a kind depends on: which of their changes matter, and whose runs they concern. As
 * controller-runtime has it.
 */
export type Watch = {
  readonly resource: Resource;
  /** The only one where they are looked for. Left out: all of them. */
  readonly namespace?: string;
  /**
   * Others bring the kind along. Where kube-apiserver does not serve it there are no such objects, and that is no
   * failure.
   */
  readonly optional?: true;
  readonly predicate: Predicate;
} & (
  | {
      /** The subject that an object concerns; null where it does not say. */
      mapFunction(object: KubeObject): string | null;
      /** Whether a run has something to do for it though no object of the kind is there. Left out: never. */
      creates?(object: KubeObject, mode: ActiveMode): boolean;
      /**
       * Only one that is being deleted waits for such objects: its open run is signalled, and none is started. They are
       * in no digest. Left out: each change concerns the run, which is started for it.
       */
      readonly concerns?: 'deleting';
    }
  | {
      /** Keys of those that an object of the kind names. A change of one concerns all that name it. */
      index(object: KubeObject): readonly string[];
      /** The key of such an object; null: it has none. Left out: its full name. */
      readonly key?: (object: KubeObject) => string | null;
      /**
       * Only those that are not reconciled are signalled, as it is needed once. They are in no digest. Left out: all
       * are.
       */
      readonly concerns?: 'unreconciled';
      /**
       * Of what the run makes: uids or full names of the objects that it was made for, as long as nothing is left to do
       * for it. It is in no digest, as the run ends without observing it once more; a bridge that begins takes up a
       * reconciled object that is without it.
       */
      readonly madeFor?: (object: KubeObject) => readonly string[];
    }
);

/** How much of an object's work is left. */
export interface Outstanding {
  instances: number;
  memoryBytes: number;
}

/** A kind of Kubernetes objects that drover drives. */
export interface KindRow<Driven extends KubeObject = never> extends RunRow, Resource {
  readonly mode: {
    /** Where the settings name none. */
    readonly default: Mode;
    /** The kind that must be on beside it, and why, as the settings are refused. */
    readonly needs?: { readonly kind: string; readonly why: string };
  };
  /** What the run is found by; null where the object does not say. Left out: its full name. */
  subject?(object: KubeObject): string | null;
  /**
   * One run serves all objects of a subject and observes them whole: a Machine concerns the sweep of its namespace. It
   * is started when an object is gone, when a watched field changes, and for a retry; to be found anew by a list or a
   * comparison starts none.
   */
  readonly shared?: true;
  /**
   * While the object is there its run stays open, as time alone gives it work: one that is missing is started, whatever
   * the object says, and one that is open is signalled by a bridge that begins. It leaves no digest.
   */
  readonly ongoing?: true;
  /**
   * A run that observes many other objects is signalled so often at most: what they have to say meanwhile is one
   * signal. Left out: as often as the bridge can.
   */
  readonly gatherMs?: number;
  /** drover's own, where others than drover's matter. */
  readonly finalizer?: string;
  /** Of the kind's own objects. Deletion and `drover.dev/retry` always matter. */
  readonly predicate: Predicate;
  /**
   * Pure. Whether nothing is left to do for an object, as far as it says itself, so that no run need be started for it.
   * The bridge asks at every resync.
   */
  isReconciled(object: Driven, mode: ActiveMode): boolean;
  /**
   * Pure. Whether an object that is reconciled, or blocked, lacks a Secret, or a key of one. No watch tells of Secrets:
   * the bridge asks for the versions of those in the digest from time to time. Left out: none does.
   */
  lacksSecret?(object: KubeObject): boolean;
  /** Type of the condition that says how far drover has come. Left out: the kind has none. */
  condition?(object: KubeObject, mode: ActiveMode): string;
  /** Of its Events. Left out: `Reconcile`. */
  readonly action?: string;
  /** For metrics. Left out: nothing but whether it is reconciled. */
  shown?(object: KubeObject, mode: ActiveMode): Shown;
  /** For metrics; null where the object does not say. */
  outstanding?(object: KubeObject): Outstanding | null;
  /**
   * A user's end of a run is final: resync starts none for the same generation. This is what the object shall say then,
   * with which it is reconciled. Left out: a run that was ended is missed, and started again.
   */
  stopped?(object: KubeObject, mode: ActiveMode, message: string): ConditionUpdate[];
  dependsOn(settings: WatchSettings): readonly Watch[];
  /** Of its access, and of the bridge's. Left out: that of every worker and bridge. */
  readonly role?: OptionalRole;
}

/** Whether runs observe such objects whenever they run, so that a change of one starts a run. */
export const isObserved = (watch: Watch): boolean => watch.concerns !== 'deleting';

/** Whether such objects are in the digest: they concern one that is reconciled, and the run does not make them. */
export const isDigested = (watch: Watch): boolean => watch.concerns === undefined && !isMade(watch);

/** Whether the run makes such objects: see `madeFor`. */
export const isMade = (watch: Watch): boolean => 'madeFor' in watch && watch.madeFor !== undefined;

/** Key of an object that others are looked up by; null: it has none. */
export const watchedKey = (watch: Extract<Watch, { index: unknown }>, object: KubeObject): string | null =>
  watch.key === undefined ? fullNameOf(object) : watch.key(object);

/** Infers the type of the objects, and keeps the kind's name as a literal type. */
export const defineKind = <const Row extends KindRow>(row: Row): Row => row;

import type { Expected, OwnChange } from '../flows/world-base.ts';
import type { Fixture } from './fixture.ts';
import type { AnyObject, Subject, SubjectKind } from './subjects.ts';

/** Which host of a scenario: the first, the second. */
export type HostAlias = 'A' | 'B';
export const hostAliases: readonly HostAlias[] = ['A', 'B'];

/** What every scenario has: its objects, in names that are the same in every run, and what becomes of them. */
export interface ContextBase {
  fixture: Fixture;
  kind: SubjectKind;
  subject: Subject;
  sinceMs: number;
  /** By workflow id. */
  roles: Map<string, string>;
  expected: Map<string, Expected>;
  ownChanges: OwnChange[];
  aliases: readonly HostAlias[];
  hostOf: (alias: HostAlias) => string;
  /** The object of the host that the scenario is about, as kube-apiserver has it now; null: there is none. */
  read: (alias: HostAlias) => Promise<AnyObject | null>;
  /** Tells the run that its object changed, as the bridge does; starts it if none is open. */
  tell: (alias: HostAlias, cause: string) => Promise<void>;
}

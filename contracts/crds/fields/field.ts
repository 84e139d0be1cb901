/**
 * What becomes of a field of a custom resource: nothing that the definition accepts may be passed over in
 * silence. See docs/fields.md.
 */
export type FieldRow =
  /**
   * drover reads it (spec) or writes it (status). `names` stand in the first of the modules; the others decide on it.
   */
  | { is: 'implemented'; modules: readonly [string, ...string[]]; names: readonly string[] | null }
  /**
   * Nothing in the world depends on it as far as drover is concerned: it is for users, or for another controller, which
   * is named.
   */
  | { is: 'informational'; note: string }
  /**
   * Where it asks for something, drover does not do that, and says so by that reason. The field has a row in that
   * module, or its name stands there.
   */
  | { is: 'refused'; module: string; reason: string; names: readonly string[] | null }
  /** Of a status: never written, and why. docs/limits.md lists it. */
  | { is: 'notApplicable'; note: string };

/**
 * By the path of a field below the object (`spec.network.interfaces[].mtu`; `[]`: of each item, `{}`: of each value). A
 * path that ends in `.**` stands for all fields below that have no row of their own.
 */
export type FieldRows = Readonly<Record<string, FieldRow>>;

/**
 * @param modules where it is read or written, and then where it is decided on
 * @param names what stands in the first module for it; left out: the last two names of its path
 */
export const by = (modules: string | readonly [string, ...string[]], ...names: string[]): FieldRow => ({
  is: 'implemented',
  modules: typeof modules === 'string' ? [modules] : modules,
  names: names.length === 0 ? null : names,
});

export const informational = (note: string): FieldRow => ({ is: 'informational', note });

export const refusedFieldsModule = 'contracts/virtual-machine/refused-fields.ts';

/** Has a row in the table of refused fields. */
export const refused: FieldRow = { is: 'refused', module: refusedFieldsModule, reason: 'NotSupported', names: null };

/**
 * @param reason of a condition
 * @param names what stands in the module for it; left out: the last name of its path
 */
export const refusedBy = (module: string, reason: string, ...names: string[]): FieldRow => ({
  is: 'refused',
  module,
  reason,
  names: names.length === 0 ? null : names,
});

export const notApplicable = (note: string): FieldRow => ({ is: 'notApplicable', note });

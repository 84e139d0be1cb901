/**
 * Whether a caught value is an Error, of whatever realm: `instanceof` fails for Node's own ones in a VM context, as
 * test runners use.
 */
export const isError = (value: unknown): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';

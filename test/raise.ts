/** `throw` as an expression: for `??`. */
export const raise = (error: Error): never => {
  throw error;
};

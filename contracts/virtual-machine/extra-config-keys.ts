/** Keys of ExtraConfig that a spec cannot ask for. vCenter knows a key in whatever case it is written. */

/** What sets a guest up may be secret: it is in no observation. */
export const isGuestSetupKey = (key: string): boolean => /^guestinfo\.(metadata|userdata|vendordata)(\.|$)/iu.test(key);

/** drover's, upstream's and the platform's. deploy/admission/virtual-machines.yaml refuses the same. */
export const isReservedKey = (key: string): boolean =>
  /^(vmservice|vmprov|drover)\./iu.test(key) || isGuestSetupKey(key);

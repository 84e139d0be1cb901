/** SPBM's ids are UUIDs. Any other `storagePolicyID` is a word of the settings, which vCenter is not told. */
export const isProfileId = (id: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu.test(id);

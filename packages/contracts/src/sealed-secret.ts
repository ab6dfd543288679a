/** A secret as the secret box sealed it: never readable without the key-encryption key. */
export type SealedSecret = string

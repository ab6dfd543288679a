/** A secret sealed by the secret box: unreadable without the key-encryption key. */
export type SealedSecret = string

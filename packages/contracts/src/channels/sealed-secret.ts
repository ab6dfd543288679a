/** A secret that the secret box encrypted. It is unreadable without the key-encryption key. */
export type SealedSecret = string

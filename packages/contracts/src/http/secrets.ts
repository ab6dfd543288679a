import { z } from 'zod'

/** The keys that encrypt the stored secrets of connections and channels (setting SECRET_KEYS). */
export const SecretKeys = z.object({
  primary_key_id: z.string().describe('Encrypts new secrets: the first key of SECRET_KEYS'),
  keys: z
    .array(
      z.object({
        key_id: z.string(),
        secrets: z.int().describe('The number of stored secrets that this key encrypts'),
        available: z.boolean().describe('False if SECRET_KEYS lacks the key: its secrets cannot be read'),
      }),
    )
    .describe('The keys of all stored secrets. A key that is not listed, and is not the primary key, may be removed'),
})
export type SecretKeys = z.infer<typeof SecretKeys>

/** The result of one call that encrypts stored secrets with the primary key. */
export const SecretRewrap = z.object({
  rewrapped: z.int().describe('The number of connections and channels that this call changed'),
  remaining: z.int().describe('The number that still has secrets of other keys. Call again until it is 0'),
  unreadable: z
    .array(z.object({ kind: z.enum(['connection', 'channel']), id: z.string(), reason: z.string() }))
    .describe('Skipped, because a secret cannot be read'),
})
export type SecretRewrap = z.infer<typeof SecretRewrap>

import type { ApiKeyDocument } from '@backstop/contracts'
import { apiKeyDocument, generateApiKey, hashApiKey, hintOf } from '@backstop/kit/api-key'
import { type Clock, sleep } from '@backstop/kit/clock'
import type { Secret } from '@backstop/kit/config'
import type { Logger } from '@backstop/kit/logger'
import type { Collection } from '../../store/collection.ts'

/** A fixed id: if several replicas start at once, only one of them can insert the key and show it. */
export const BOOTSTRAP_KEY_ID = 'key_bootstrap'

/** Services and settings for creating the first key. */
export interface BootstrapOptions {
  readonly apiKeys: Collection<ApiKeyDocument>
  readonly clock: Clock
  readonly logger: Logger
  /** The key that the operator chose (BOOTSTRAP_API_KEY). If undefined, a key is generated. */
  readonly chosen: Secret | undefined
  /** Shows a generated key. It is called once, because the key cannot be shown again. */
  readonly show: (key: Secret) => void
}

/** made: a key was generated and shown. stored: the chosen key was stored. replaced: it replaced an unused generated key. */
export type BootstrapOutcome = 'made' | 'stored' | 'replaced' | 'keys_are_there'

/**
 * Creates the first API key unless one exists. The bootstrap key is never deleted, only revoked, so a later start creates no other. A
 * generated key that was never used is replaced by BOOTSTRAP_API_KEY, for operators who lost the generated key or whose process died
 * between storing and showing it. A rotated key is not replaced: the chosen key may be the one that was rotated out.
 */
export async function ensureBootstrapKey(options: BootstrapOptions): Promise<BootstrapOutcome> {
  const { apiKeys, chosen } = options
  const key = chosen ?? generateApiKey()
  const [first] = await apiKeys.page({ where: {}, by: 'created_at', limit: 1 })
  if (first === undefined && (await apiKeys.insert(bootstrapDocument(key, options.clock.now())))) {
    if (chosen === undefined) options.show(key)
    return chosen === undefined ? 'made' : 'stored'
  }
  if (chosen === undefined || (await apiKeys.find({ hash: hashApiKey(chosen) })) !== undefined) return 'keys_are_there'
  const replaced = await apiKeys.change(
    { _id: BOOTSTRAP_KEY_ID, last_used_at: null, rotated_at: null, revoked_at: null },
    { hash: hashApiKey(chosen), hint: hintOf(chosen) },
  )
  return replaced === undefined ? 'keys_are_there' : 'replaced'
}

/**
 * Calls ensureBootstrapKey until the database answers, because the service also starts while MongoDB is unavailable.
 * @returns false if the signal was aborted first
 */
export async function keepTryingBootstrap(options: BootstrapOptions, signal: AbortSignal): Promise<boolean> {
  const RETRY_MS = 2_000
  while (!signal.aborted) {
    try {
      const outcome = await ensureBootstrapKey(options)
      options.logger.info({ outcome }, 'bootstrap_key.checked')
      return true
    } catch (error) {
      options.logger.warn({ error, retry_ms: RETRY_MS }, 'bootstrap_key.check_failed')
      await sleep(options.clock, RETRY_MS, signal)
    }
  }
  return false
}

function bootstrapDocument(key: Secret, now: number): ApiKeyDocument {
  return apiKeyDocument(key, {
    id: BOOTSTRAP_KEY_ID,
    name: 'Bootstrap key',
    scopes: ['admin'],
    projectId: null,
    createdAt: new Date(now),
    createdBy: null,
    expiresAt: null,
  })
}

import type { ApiKeyDocument } from '@backstop/contracts'
import {
  apiKeyDocument,
  type Clock,
  generateApiKey,
  hashApiKey,
  hintOf,
  type Logger,
  type Secret,
  sleep,
} from '@backstop/kit'
import type { Shelf } from '../../store/shelf.ts'

/** A fixed id: of several replicas that start at once, the insert of one wins, and only that one has a key to show. */
export const BOOTSTRAP_KEY_ID = 'key_bootstrap'

/** The parts that the bootstrap key needs. */
export interface BootstrapOptions {
  readonly apiKeys: Shelf<ApiKeyDocument>
  readonly clock: Clock
  readonly logger: Logger
  /** The key that the operator chose (BOOTSTRAP_API_KEY); one is made without it. */
  readonly chosen: Secret | undefined
  /** Shows a key that was made, once: it cannot be shown again. */
  readonly show: (key: Secret) => void
}

/** made: a key was generated and shown. stored: the chosen key was stored. replaced: it replaced an unused generated key. */
export type BootstrapOutcome = 'made' | 'stored' | 'replaced' | 'keys_are_there'

/**
 * Sees to it that the first start ends with a key that somebody knows. The bootstrap key is never deleted, only revoked, so
 * no later start makes another one. A key that was made and shown but never used gives way to BOOTSTRAP_API_KEY: the way
 * back for an operator who lost the line, or whose process died between storing and showing it.
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
    { _id: BOOTSTRAP_KEY_ID, last_used_at: null, revoked_at: null },
    { hash: hashApiKey(chosen), hint: hintOf(chosen) },
  )
  return replaced === undefined ? 'keys_are_there' : 'replaced'
}

/**
 * The same, trying until the database answers: a service starts while MongoDB is away.
 * @returns false when the signal came first
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
    expiresAt: null,
  })
}

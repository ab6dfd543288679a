/**
 * The port to the connections. All of them are in memory, so a notification needs no database lookup, and an unknown connection takes as
 * long as a known connection. Implementations: `mongo-connections.ts`, and `memory-connections.ts` for tests. Both pass
 * `connections.contract.ts`.
 */
import type { ConnectionDocument, ProviderKind } from '@backstop/contracts'
import { type Logger, maskSecrets } from '@backstop/kit/logger'
import type { SecretBox } from '@backstop/kit/secret-box'
import { type InboundCredential, PROVIDERS } from '@backstop/providers'
import type { ConnectionCredential } from './rules/credentials.ts'

export interface InboundConnection {
  readonly connectionId: string
  readonly projectId: string
  readonly provider: ProviderKind
  readonly credentials: readonly ConnectionCredential<InboundCredential>[]
  /** When the secrets that this process cannot use expire, in milliseconds since the epoch; null: never. */
  readonly unusableUntilMs: readonly (number | null)[]
  /** Grows with each change, so that an older copy never replaces a newer one. */
  readonly version: number
  /** The stored fields that this connection was made from (see usedFieldsOf). */
  readonly usedFields: string
}

export interface Connections {
  /** Starts to load the connections and to follow changes, and returns at once. While the store is unavailable, loading is retried. */
  start(): Promise<void>
  stop(): Promise<void>
  /** True once all connections were loaded. Loaded connections stay in use while the store is unavailable. */
  isLoaded(): boolean
  /** The number of connections in memory. */
  count(): number
  find(connectionId: string): InboundConnection | undefined
}

/** Opens and prepares the secrets of a stored connection. Undefined if the connection is deleted. */
export function toInboundConnection(
  document: ConnectionDocument,
  secretBox: SecretBox,
  logger: Logger,
): InboundConnection | undefined {
  if (document.status === 'deleted') return undefined
  const credentials: ConnectionCredential<InboundCredential>[] = []
  const unusableUntilMs: (number | null)[] = []
  for (const secret of document.inbound_secrets) {
    const opened = openSecret(document, secret.sealed, secretBox)
    const expiresAtMs = secret.expires_at?.getTime() ?? null
    if (opened.kind === 'prepared') {
      credentials.push({ credential: opened.credential, expiresAtMs })
    } else {
      unusableUntilMs.push(expiresAtMs)
      // The connection stays usable with its other secrets.
      logger.error(
        { connection_id: document._id, fingerprint: secret.fingerprint, reason: opened.reason },
        'connection.secret_unusable',
      )
    }
  }
  return {
    connectionId: document._id,
    projectId: document.project_id,
    provider: document.kind,
    credentials,
    unusableUntilMs,
    version: document.version,
    usedFields: usedFieldsOf(document),
  }
}

/** Serializes the fields of a stored connection that ingress uses. Equal texts mean that the connection did not change for ingress. */
export function usedFieldsOf(document: ConnectionDocument): string {
  const secrets = document.inbound_secrets.map(({ sealed, expires_at }) => [sealed, expires_at])
  return JSON.stringify([document.version, document.status, document.kind, document.project_id, secrets])
}

function openSecret(document: ConnectionDocument, sealed: string, secretBox: SecretBox) {
  try {
    const secret = secretBox.open(sealed, {
      collection: 'connections',
      id: document._id,
      field: 'inbound_secret',
      projectId: document.project_id,
    })
    return PROVIDERS[document.kind].prepareSecret(secret)
  } catch (error) {
    return { kind: 'unusable' as const, reason: maskSecrets(error instanceof Error ? error.message : String(error)) }
  }
}

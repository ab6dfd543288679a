/**
 * The connections as ingress needs them: all in memory, so that a notification costs no look-up, and a known connection
 * takes no longer than an unknown one. `mongo-connections.ts` is the real one, `memory-connections.ts` its twin; both
 * pass `connections.contract.ts`.
 */
import type { ConnectionDocument, ProviderKind } from '@backstop/contracts'
import { type Logger, maskSecrets, type SecretBox } from '@backstop/kit'
import { type InboundCredential, PROVIDERS } from '@backstop/providers'
import type { HeldCredential } from './rules/credentials.ts'

export interface InboundConnection {
  readonly connectionId: string
  readonly projectId: string
  readonly provider: ProviderKind
  readonly credentials: readonly HeldCredential<InboundCredential>[]
  /** Grows with each change: an older copy never replaces a newer one. */
  readonly version: number
  /** What it was made from (see sourceOf). */
  readonly source: string
}

export interface Connections {
  /** Begins to load and to follow changes; returns at once. A store that is away is tried again until it is there. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Whether all connections were loaded once. From then on what is known stays known, whatever becomes of the store. */
  isLoaded(): boolean
  /** How many connections are held. */
  count(): number
  find(connectionId: string): InboundConnection | undefined
}

/** A stored connection with its secrets opened and prepared; undefined once it is deleted. */
export function toInboundConnection(
  document: ConnectionDocument,
  secretBox: SecretBox,
  logger: Logger,
): InboundConnection | undefined {
  if (document.status === 'deleted') return undefined
  const credentials: HeldCredential<InboundCredential>[] = []
  for (const secret of document.inbound_secrets) {
    const opened = openSecret(document, secret.sealed, secretBox)
    if (opened.kind === 'prepared') {
      credentials.push({ credential: opened.credential, expiresAtMs: secret.expires_at?.getTime() ?? null })
    } else {
      // The others may still do: one unreadable secret must not take its connection down.
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
    version: document.version,
    source: sourceOf(document),
  }
}

/** Everything of a stored connection that ingress goes by, as one text: the same text, the same connection. */
export function sourceOf(document: ConnectionDocument): string {
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

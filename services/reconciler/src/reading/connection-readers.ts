import type { Clock } from '@backstop/kit/clock'
import type { Egress } from '@backstop/kit/egress'
import type { SecretBox } from '@backstop/kit/secret-box'
import { PROVIDERS, type ProviderHealth, type ProviderReader } from '@backstop/providers'
import type { ConnectionReader, KeptConnection } from '../connections/connection-reader.ts'

export interface ConnectionReadersOptions {
  readonly connections: ConnectionReader
  readonly secretBox: Pick<SecretBox, 'open'>
  readonly egress: Egress
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
}

/** Readers that are kept. An evicted one is opened again, with a new rate limit. */
const MAX_OPEN = 10_000

/** A reader of the connection's provider, or the reason why it cannot be read. */
export type OpenedReader =
  | { readonly kind: 'reader'; readonly reader: ProviderReader; readonly connection: KeptConnection }
  | { readonly kind: 'none'; readonly isDeleted: boolean; readonly text: string }

/** True if the provider's data can be read through this connection. */
export function canRead(connection: KeptConnection): boolean {
  return connection.status === 'active' && connection.read_key !== null
}

/**
 * Keeps one reader for each connection, so that all questions of this process share one rate limit. A changed
 * connection gets a new reader.
 */
export class ConnectionReaders {
  readonly #options: ConnectionReadersOptions
  readonly #open = new Map<string, { version: number; reader: ProviderReader }>()

  constructor(options: ConnectionReadersOptions) {
    this.#options = options
  }

  /** The health of the connection's provider, as this process last saw it. */
  healthOf(connectionId: string): ProviderHealth {
    return this.#open.get(connectionId)?.reader.health ?? 'untried'
  }

  /** @throws AppError `unavailable` if the database is unavailable */
  async readerFor(connectionId: string): Promise<OpenedReader> {
    const connection = (await this.#options.connections.byIds([connectionId])).get(connectionId)
    if (connection === undefined || connection.status === 'deleted') {
      this.#open.delete(connectionId)
      return { kind: 'none', isDeleted: true, text: 'The connection was deleted' }
    }
    if (connection.read_key === null || connection.status === 'needs_setup') {
      this.#open.delete(connectionId)
      return { kind: 'none', isDeleted: false, text: 'The connection has no read key' }
    }
    const known = this.#open.get(connectionId)
    if (known?.version === connection.version) return { kind: 'reader', reader: known.reader, connection }
    const { secretBox, egress, clock, random } = this.#options
    const context = { collection: 'connections', field: 'read_key', id: connectionId } as const
    const reader = PROVIDERS[connection.kind].readBack.open({
      readKey: secretBox.open(connection.read_key.sealed, { ...context, projectId: connection.project_id }),
      site: connection.site,
      apiBase: connection.api_base,
      egress,
      clock,
      random,
    })
    this.#open.delete(connectionId)
    // The reader that was opened first. Connections that were deleted without another question are among them.
    const [oldest] = this.#open.keys()
    if (this.#open.size >= MAX_OPEN && oldest !== undefined) this.#open.delete(oldest)
    this.#open.set(connectionId, { version: connection.version, reader })
    return { kind: 'reader', reader, connection }
  }
}

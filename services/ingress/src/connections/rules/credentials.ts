import type { ProviderKind } from '@backstop/contracts'

/**
 * A secret of a connection, prepared for comparison. It expires at `expiresAtMs` (milliseconds since the epoch), or never if that is
 * null.
 */
export interface ConnectionCredential<C> {
  readonly credential: C
  readonly expiresAtMs: number | null
}

export interface ConnectionCredentials<C> {
  readonly provider: ProviderKind
  readonly credentials: readonly ConnectionCredential<C>[]
  /** When the secrets that this process cannot use expire, in milliseconds since the epoch; null: never. */
  readonly unusableUntilMs: readonly (number | null)[]
}

export type CredentialChoice<C> =
  | {
      readonly kind: 'usable'
      readonly credentials: readonly C[]
      /** For each credential, in the same order: true if it expires, because it is being rotated out. */
      readonly isExpiring: readonly boolean[]
    }
  | { readonly kind: 'none'; readonly reason: 'unknown_connection' | 'wrong_provider' | 'no_usable_secret' }

/** Chooses the secrets that may authenticate a notification to this connection now, or says why there is none. */
export function chooseCredentials<C>(
  connection: ConnectionCredentials<C> | undefined,
  provider: ProviderKind,
  nowMs: number,
): CredentialChoice<C> {
  if (connection === undefined) return { kind: 'none', reason: 'unknown_connection' }
  if (connection.provider !== provider) return { kind: 'none', reason: 'wrong_provider' }
  const credentials: C[] = []
  const isExpiring: boolean[] = []
  for (const held of connection.credentials) {
    if (held.expiresAtMs !== null && nowMs >= held.expiresAtMs) continue
    credentials.push(held.credential)
    isExpiring.push(held.expiresAtMs !== null)
  }
  if (credentials.length === 0) return { kind: 'none', reason: 'no_usable_secret' }
  return { kind: 'usable', credentials, isExpiring }
}

/**
 * True if the connection has a valid secret that this process cannot use. A notification that matches no other secret may then be
 * authentic.
 */
export function hasUnusableSecret(connection: Pick<ConnectionCredentials<unknown>, 'unusableUntilMs'>, nowMs: number) {
  return connection.unusableUntilMs.some(untilMs => untilMs === null || nowMs < untilMs)
}

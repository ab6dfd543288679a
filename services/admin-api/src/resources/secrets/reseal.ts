import { type ChannelDocument, type ResealField, resealConfig } from '@backstop/channels'
import type { ConnectionDocument, SealedSecret } from '@backstop/contracts'
import { keyIdOf, type SecretBox, type SecretContext } from '@backstop/kit/secret-box'

/** The changed fields of a connection after each of its secrets was encrypted again. */
export function resealConnection(
  { inbound_secrets, read_key }: Pick<ConnectionDocument, 'inbound_secrets' | 'read_key'>,
  reseal: ResealField,
): Pick<ConnectionDocument, 'inbound_secrets' | 'read_key'> {
  return {
    inbound_secrets: inbound_secrets.map(secret => ({ ...secret, ...reseal(secret.sealed, 'inbound_secret') })),
    read_key: read_key === null ? null : { ...read_key, ...reseal(read_key.sealed, 'read_key') },
  }
}

/** The changed fields of an alert channel after each of its secrets was encrypted again. */
export function resealChannel(
  { config }: Pick<ChannelDocument, 'config'>,
  reseal: ResealField,
): Pick<ChannelDocument, 'config'> {
  return { config: resealConfig(config, reseal) }
}

/**
 * Decrypts a secret and encrypts it with the primary key.
 * @throws AppError `secret_unreadable` when it is called
 */
export function resealWith(box: SecretBox, place: Omit<SecretContext, 'field'>): ResealField {
  return (sealed, field) => {
    const context = { ...place, field }
    const secret = box.open(sealed, context)
    return { sealed: box.seal(secret, context), fingerprint: box.fingerprint(secret) }
  }
}

/**
 * The ids of the keys that encrypt the secrets of one document, one entry for each secret.
 * @param walk calls its argument with every secret of the document
 */
export function keyIdsOf(walk: (visit: ResealField) => void): string[] {
  const found: SealedSecret[] = []
  walk(sealed => {
    found.push(sealed)
    return { sealed, fingerprint: '' }
  })
  return found.map(sealed => keyIdOf(sealed) ?? 'unknown')
}

import { createSecretKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { SECRET_METADATA } from '../config/config.ts'
import { Secret } from '../config/secret.ts'
import { AppError } from '../errors.ts'

/**
 * The key-encryption keys of this process. New secrets are encrypted with the primary key, and decrypted with any key.
 */
export interface KeyRing {
  readonly primary: string
  /** Keys by key id. A KeyObject cannot be printed. */
  readonly keys: ReadonlyMap<string, KeyObject>
  /** Ids of keys that are lost for good. What they encrypted cannot be read, and must be set again. */
  readonly lost: ReadonlySet<string>
}

/**
 * Pattern of a key id. It excludes dots, which separate the parts of encrypted secrets, and commas and colons, which
 * separate the parts of the setting.
 */
export const KEY_ID_SHAPE = /^[A-Za-z0-9_-]{1,64}$/
/**
 * Pattern of 32 bytes in padded base64. Checked before decoding, because Buffer.from silently drops invalid characters.
 */
const KEY_SHAPE = /^[A-Za-z0-9+/]{43}=$/
/** In place of a key that is lost for good. */
const LOST = 'lost'

/**
 * Reads the setting SECRET_KEYS: `kid:base64(32 bytes)`, separated by commas; the first key is the primary key. `kid:lost` names a key
 * that is lost for good.
 * @throws AppError `config_invalid`, with the key id and never the key
 */
export function parseKeyRing(text: Secret): KeyRing {
  const keys = new Map<string, KeyObject>()
  const lost = new Set<string>()
  for (const [index, entry] of text.reveal().split(',').entries()) {
    const colon = entry.indexOf(':')
    const keyId = entry.slice(0, colon).trim()
    const encoded = entry.slice(colon + 1).trim()
    // An entry without a colon may be a bare key, which must not be part of the message.
    if (colon < 0 || !KEY_ID_SHAPE.test(keyId)) {
      throw invalid(`Key ${index + 1} has no valid key id; write kid:base64, the id from letters, digits, - and _`)
    }
    if (keys.has(keyId) || lost.has(keyId)) throw invalid(`Key id "${keyId}" occurs twice`)
    if (encoded === LOST && index > 0) {
      lost.add(keyId)
      continue
    }
    if (!KEY_SHAPE.test(encoded)) {
      throw invalid(`Key "${keyId}" is not 32 bytes in base64; make one with: openssl rand -base64 32`)
    }
    keys.set(keyId, createSecretKey(Buffer.from(encoded, 'base64')))
  }
  const [primary] = keys.keys()
  // split() returns at least one entry, so the loop has thrown or found a key.
  return { primary: primary as string, keys, lost }
}

/** The setting SECRET_KEYS as a zod schema, so that its errors are reported together with all others. */
export const keyRingSetting = () =>
  z
    .string()
    .min(1)
    .transform((text, context): KeyRing => {
      try {
        return parseKeyRing(new Secret(text))
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        context.addIssue({ code: 'custom', message: error.message })
        return z.NEVER
      }
    })
    .meta(SECRET_METADATA)
    .describe(
      'Keys of the stored secrets, kid:base64 of 32 bytes, comma-separated. The first key encrypts, every key decrypts. `kid:lost` in place of a key that is lost for good. The same in every service',
    )

function invalid(message: string): AppError {
  return new AppError('config_invalid', message)
}

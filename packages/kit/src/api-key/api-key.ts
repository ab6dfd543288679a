import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ApiKeyDocument, Scope } from '@backstop/contracts'
import { Secret } from '../config/secret.ts'

/**
 * An API key is `bsk_` + 30 base62 characters (178 random bits) + 6 base62 characters of the CRC32 of all before them.
 * Secret scanners recognise this form, and the checksum identifies a mistyped key without a database query.
 */
const PREFIX = 'bsk_'
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const HINT_LENGTH = 8
const SHAPE = /^bsk_[0-9A-Za-z]{36}$/
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Generates a new key. */
export function generateApiKey(): Secret {
  const body = PREFIX + randomBase62(RANDOM_LENGTH)
  return new Secret(body + checksumOf(body))
}

/** Creates the stored form of an API key, which does not contain the key itself. */
export function apiKeyDocument(
  key: Secret,
  about: {
    readonly id: string
    readonly name: string
    readonly scopes: readonly Scope[]
    readonly projectId: string | null
    readonly createdAt: Date
    readonly createdBy: string | null
    readonly expiresAt: Date | null
  },
): ApiKeyDocument {
  return {
    _id: about.id,
    name: about.name,
    hash: hashApiKey(key),
    hint: hintOf(key),
    scopes: [...about.scopes],
    project_id: about.projectId,
    created_at: about.createdAt,
    created_by: about.createdBy,
    expires_at: about.expiresAt,
    last_used_at: null,
    rotated_at: null,
    previous_hash: null,
    previous: null,
    revoked_at: null,
    revoked_by: null,
    warned_expiry: null,
    version: 1,
    updated_at: about.createdAt,
  }
}

/** The stored hash of a key. Hashing without salt is enough, because 178 random bits cannot be guessed. */
export function hashApiKey(key: Secret): string {
  return createHash('sha256').update(key.reveal(), 'utf8').digest('hex')
}

/** The beginning of a key, which helps people to recognise it. */
export function hintOf(key: Secret): string {
  return key.reveal().slice(0, HINT_LENGTH)
}

/** True if a key has the right form and a wrong checksum: it was mistyped or truncated. */
export function isMistyped(key: Secret): boolean {
  const text = key.reveal()
  if (!SHAPE.test(text)) return false
  return checksumOf(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)
}

/** Generates uniformly distributed random characters. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte. Higher values would favour the first characters.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62]
    }
  }
  return text
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

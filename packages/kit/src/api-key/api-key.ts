import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ApiKeyDocument, Scope } from '@backstop/contracts'
import { Secret } from '../config/secret.ts'

/**
 * API keys read `bsk_` + 30 base62 characters (178 bits) + 6 base62 characters of CRC32 over all before them: the form
 * that secret scanners recognise, and by which a mistyped key is told from an unknown one without asking the database.
 */
const PREFIX = 'bsk_'
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const HINT_LENGTH = 8
const SHAPE = /^bsk_[0-9A-Za-z]{36}$/
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A new key. */
export function generateApiKey(): Secret {
  const body = PREFIX + randomBase62(RANDOM_LENGTH)
  return new Secret(body + checksumOf(body))
}

/** What an API key is stored as; the key itself is not part of it. */
export function apiKeyDocument(
  key: Secret,
  about: {
    readonly id: string
    readonly name: string
    readonly scopes: readonly Scope[]
    readonly projectId: string | null
    readonly createdAt: Date
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
    expires_at: about.expiresAt,
    last_used_at: null,
    revoked_at: null,
  }
}

/** What is stored of a key. A plain hash is enough for 178 random bits: there is nothing to guess. */
export function hashApiKey(key: Secret): string {
  return createHash('sha256').update(key.reveal(), 'utf8').digest('hex')
}

/** The beginning of a key, for people to tell their keys apart by. */
export function hintOf(key: Secret): string {
  return key.reveal().slice(0, HINT_LENGTH)
}

/** Whether a key has the form of ours and a checksum that does not fit: a typing error, or a key that was cut. */
export function isMistyped(key: Secret): boolean {
  const text = key.reveal()
  if (!SHAPE.test(text)) return false
  return checksumOf(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)
}

/** That many random characters, each of the 62 as likely as any other. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: what lies above would favour the first letters.
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

/**
 * Encryption of stored secrets with envelope encryption. A stolen database is useless without the key-encryption key
 * (KEK), and a KEK is replaced by adding another one, without re-encrypting all secrets at once.
 * | Stored form: `v1.<kekId>.<wrappedDek>.<iv>.<ct+tag>`, the last three in base64url. A random 32-byte data key (DEK)
 * per secret encrypts it with AES-256-GCM; the KEK encrypts the DEK in the same way (its IV comes first). Both
 * encryptions authenticate the place where the secret is stored, so an encrypted secret that is copied to another row
 * or field cannot be decrypted there.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import type { SealedSecret } from '@backstop/contracts'
import { Secret } from '../config/secret.ts'
import { AppError } from '../errors.ts'
import { createDerivedKeys, type DerivedKeys } from './derived-keys.ts'
import { KEY_ID_SHAPE, type KeyRing } from './key-ring.ts'

/** The place where a secret is stored. The secret can be decrypted only there. */
export interface SecretContext {
  readonly collection: 'connections' | 'channels'
  /** The document's id. */
  readonly id: string
  readonly field: string
  readonly projectId: string
}

/** Encrypts (`seal`) and decrypts (`open`) secrets with a key ring. */
export interface SecretBox {
  seal(secret: Secret, context: SecretContext): SealedSecret
  /**
   * Decrypts a secret.
   * @throws AppError `secret_unreadable` if its key is not in the ring (the message contains the key id), or if the
   * secret was changed or belongs to another context
   */
  open(sealed: SealedSecret, context: SecretContext): Secret
  /**
   * Eight hex digits that distinguish secrets without revealing them. Derived with the primary key, so that guesses
   * cannot be tested without it. The fingerprint changes when another key becomes primary.
   */
  fingerprint(secret: Secret): string
  /** The id of the key that encrypts new secrets. */
  readonly primaryKeyId: string
  /** True if the ring has the key with this id. */
  hasKey(keyId: string): boolean
  /** True if the ring says that the key with this id is lost for good. */
  isLost(keyId: string): boolean
  /**
   * A token with a signed `text`: `v1.<key id>.<text>.<mac>`, safe in a URL. The text is readable. While the same key
   * is primary, the same text gives the same token. Tokens do not expire.
   * @param purpose the token can be verified only for the same purpose
   */
  sign(purpose: string, text: string): string
  /** The text of a token; undefined if no key of the ring signed it for this purpose. */
  verify(purpose: string, token: string): string | undefined
  /** `<key id>.<MAC>` of a text, with the primary key. It can be checked only for the same purpose. */
  mac(purpose: string, text: string): string
  /**
   * Checks what `mac` returned. The result is `unknown_key` if the ring has no key of that id.
   * @param mac whatever is stored: one that is no text is wrong
   */
  checkMac(purpose: string, text: string, mac: unknown): 'valid' | 'wrong' | 'unknown_key'
  /** The Ed25519 signature of a text, in base64url, which anybody can check with the public key. */
  signPublicly: DerivedKeys['sign']
  /** The public keys for `signPublicly`, that of the primary key first. */
  publicKeys: DerivedKeys['publicKeys']
}

const VERSION = 'v1'
const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const DEK_BYTES = 32
/** Always set explicitly, because by default Node's GCM accepts a tag of four bytes. */
const TAG_BYTES = 16
const FINGERPRINT_DIGITS = 8

/** Creates a secret box with a key ring (see parseKeyRing). */
export function createSecretBox(ring: KeyRing): SecretBox {
  const primary = ring.keys.get(ring.primary)
  if (primary === undefined)
    throw new AppError('config_invalid', `The key ring lacks its primary key "${ring.primary}"`)
  const fingerprintKey = Buffer.from(
    hkdfSync('sha256', primary.export(), Buffer.alloc(0), 'backstop secret fingerprint v1', 32),
  )
  const derived = createDerivedKeys(ring)
  const macOf = (keyId: string, purpose: string, text: string) => derived.mac(keyId, purpose, text) ?? Buffer.alloc(0)
  return {
    primaryKeyId: ring.primary,
    hasKey: keyId => ring.keys.has(keyId),
    isLost: keyId => ring.lost.has(keyId),

    seal(secret, context) {
      const dek = randomBytes(DEK_BYTES)
      const wrapIv = randomBytes(IV_BYTES)
      const wrapped = encrypt(primary, wrapIv, dek, authenticatedContext('dek', ring.primary, context))
      const iv = randomBytes(IV_BYTES)
      const text = encrypt(
        dek,
        iv,
        Buffer.from(secret.reveal(), 'utf8'),
        authenticatedContext('secret', ring.primary, context),
      )
      return [VERSION, ring.primary, encode(Buffer.concat([wrapIv, wrapped])), encode(iv), encode(text)].join('.')
    },

    open(sealed, context) {
      const parts = parseSealed(sealed, context)
      const kek = ring.keys.get(parts.keyId)
      if (kek === undefined) {
        throw unreadableSecret(context, `was sealed with key "${parts.keyId}"; add that key to SECRET_KEYS again`)
      }
      try {
        const dek = decrypt(kek, parts.wrapIv, parts.wrapped, authenticatedContext('dek', parts.keyId, context))
        return new Secret(
          decrypt(dek, parts.iv, parts.text, authenticatedContext('secret', parts.keyId, context)).toString('utf8'),
        )
      } catch (cause) {
        const remedy = `cannot be opened with key "${parts.keyId}": it was changed or moved from another row, or the key is a different one`
        throw unreadableSecret(context, remedy, cause)
      }
    },

    fingerprint: secret =>
      createHmac('sha256', fingerprintKey).update(secret.reveal(), 'utf8').digest('hex').slice(0, FINGERPRINT_DIGITS),

    sign(purpose, text) {
      const said = [VERSION, ring.primary, encode(Buffer.from(text, 'utf8'))].join('.')
      return `${said}.${encode(macOf(ring.primary, purpose, said))}`
    },

    verify(purpose, token) {
      const [version, keyId = '', text, mac, ...more] = token.split('.')
      if (version !== VERSION || !ring.keys.has(keyId) || more.length > 0) return undefined
      if (!isSame(decode(mac), macOf(keyId, purpose, [version, keyId, text].join('.')))) return undefined
      return Buffer.from(text ?? '', 'base64url').toString('utf8')
    },

    mac: (purpose, text) => `${ring.primary}.${encode(macOf(ring.primary, purpose, text))}`,

    checkMac(purpose, text, mac) {
      if (typeof mac !== 'string') return 'wrong'
      const [keyId = '', given, ...more] = mac.split('.')
      if (!ring.keys.has(keyId)) return 'unknown_key'
      return more.length === 0 && isSame(decode(given), macOf(keyId, purpose, text)) ? 'valid' : 'wrong'
    },

    signPublicly: derived.sign,
    publicKeys: derived.publicKeys,
  }
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

/**
 * The authenticated context, as JSON, because two different contexts could be equal if their texts were simply joined.
 */
function authenticatedContext(what: 'dek' | 'secret', keyId: string, context: SecretContext): Buffer {
  return Buffer.from(
    JSON.stringify([VERSION, what, keyId, context.collection, context.id, context.field, context.projectId]),
    'utf8',
  )
}

function encrypt(key: KeyObject | Buffer, iv: Buffer, plain: Buffer, bound: Buffer): Buffer {
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(bound)
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: KeyObject | Buffer, iv: Buffer, textAndTag: Buffer, bound: Buffer): Buffer {
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
    .setAAD(bound)
    .setAuthTag(textAndTag.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(textAndTag.subarray(0, -TAG_BYTES)), decipher.final()])
}

function parseSealed(sealed: SealedSecret, context: SecretContext) {
  const texts = sealed.split('.')
  const [version, keyId, wrapped, iv, text] = texts
  if (texts.length !== 5 || version !== VERSION || keyId === undefined || !KEY_ID_SHAPE.test(keyId)) {
    throw unreadableSecret(context, `is not in the form ${VERSION}.key.dek.iv.text`)
  }
  const wrap = decode(wrapped)
  const parts = {
    keyId,
    wrapIv: wrap.subarray(0, IV_BYTES),
    wrapped: wrap.subarray(IV_BYTES),
    iv: decode(iv),
    text: decode(text),
  }
  // Checks exact lengths, so that a truncated tag is refused before the cipher reads it.
  if (parts.wrapped.length !== DEK_BYTES + TAG_BYTES || parts.iv.length !== IV_BYTES || parts.text.length < TAG_BYTES) {
    throw unreadableSecret(context, 'has an incomplete part')
  }
  return parts
}

/** The id of the key that encrypts this secret; undefined for text in another form. */
export function keyIdOf(sealed: SealedSecret): string | undefined {
  const [version, keyId, ...rest] = sealed.split('.')
  return version === VERSION && rest.length === 3 ? keyId : undefined
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64url')
}

/** Strict base64url: text that is not in canonical form decodes to no bytes, which fails every length check. */
function decode(text: string | undefined): Buffer {
  const bytes = Buffer.from(text ?? '', 'base64url')
  return encode(bytes) === text ? bytes : Buffer.alloc(0)
}

function unreadableSecret(context: SecretContext, what: string, cause?: unknown): AppError {
  return new AppError('secret_unreadable', `Secret ${context.collection}/${context.id}.${context.field} ${what}`, {
    cause,
    details: { collection: context.collection, id: context.id, field: context.field },
  })
}

import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto'
import type { KeyRing } from './key-ring.ts'

/** A public key, and the id of the key of SECRET_KEYS that it belongs to. */
interface PublicKey {
  readonly keyId: string
  /** PEM (SPKI), as OpenSSL reads it. */
  readonly pem: string
}

/** Keys for other purposes than encryption, each derived from a key of the ring by HKDF, so that no two purposes share a key. */
export interface DerivedKeys {
  /** The HMAC-SHA-256 of a text; undefined for an unknown key id. */
  mac(keyId: string, purpose: string, text: string): Buffer | undefined
  /** The Ed25519 signature of a text with the key pair of the primary key. */
  sign(purpose: string, text: string): { readonly keyId: string; readonly signature: string }
  /** The public keys of all keys of the ring, that of the primary key first. */
  publicKeys(purpose: string): PublicKey[]
}

/** The DER encoding of an Ed25519 private key (RFC 8410) is this prefix and the 32 bytes of the key. */
const ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

export function createDerivedKeys(ring: KeyRing): DerivedKeys {
  // Derived once, because an export checks a MAC for each of its rows.
  const known = new Map<string, Buffer>()
  const derive = (keyId: string, info: string): Buffer | undefined => {
    const key = ring.keys.get(keyId)
    if (key === undefined) return undefined
    const name = `${keyId}\n${info}`
    const derived = known.get(name) ?? Buffer.from(hkdfSync('sha256', key.export(), Buffer.alloc(0), info, 32))
    known.set(name, derived)
    return derived
  }
  const signingKey = (keyId: string, purpose: string): KeyObject => {
    const seed = derive(keyId, `backstop ed25519 v1 ${purpose}`)
    if (seed === undefined) throw new Error(`The key ring has no key ${keyId}`)
    return createPrivateKey({ key: Buffer.concat([ED25519_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  }
  return {
    mac(keyId, purpose, text) {
      const key = derive(keyId, `backstop token v1 ${purpose}`)
      return key && createHmac('sha256', key).update(text, 'utf8').digest()
    },
    sign: (purpose, text) => ({
      keyId: ring.primary,
      signature: sign(null, Buffer.from(text, 'utf8'), signingKey(ring.primary, purpose)).toString('base64url'),
    }),
    publicKeys: purpose =>
      [...ring.keys.keys()].map(keyId => ({
        keyId,
        pem: createPublicKey(signingKey(keyId, purpose)).export({ type: 'spki', format: 'pem' }).toString(),
      })),
  }
}

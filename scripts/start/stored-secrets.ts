import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StartFault } from './start-fault.ts'

/** The secrets of a data folder. They are created once, and must not change while the data is kept. */
export interface StoredSecrets {
  /** The setting SECRET_KEYS, which decrypts the secrets in MongoDB. */
  secretKeys: string
  /** The setting BOOTSTRAP_API_KEY, a key of the management API with every scope. */
  bootstrapKey: string
}

/** The id of the key that the first start of a data folder creates. */
const FIRST_KEY_ID = 'local'

/**
 * Reads the secrets of a data folder, or creates them at the first start. Only the owner of the file can read it. If the folder has a
 * database, the file was lost with its key: the new key has another id, and the old one is named as lost.
 * @throws StartFault if the file is broken, because new secrets could not decrypt the stored data
 */
export function loadOrCreateSecrets(path: string): StoredSecrets {
  const kept = readSecrets(path)
  if (kept !== undefined) {
    chmodSync(path, 0o600)
    return kept
  }
  const key = randomBytes(32).toString('base64')
  const isLost = existsSync(join(dirname(path), 'stack'))
  const secrets: StoredSecrets = {
    secretKeys: isLost
      ? `${FIRST_KEY_ID}-${randomBytes(3).toString('hex')}:${key},${FIRST_KEY_ID}:lost`
      : `${FIRST_KEY_ID}:${key}`,
    bootstrapKey: `bsk_${randomBytes(32).toString('base64url')}`,
  }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
  return secrets
}

/** Identifies the secret keys without revealing them. */
export function fingerprintOf({ secretKeys }: StoredSecrets): string {
  return createHash('sha256').update(secretKeys).digest('hex').slice(0, 16)
}

function readSecrets(path: string): StoredSecrets | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const kept = parseSecrets(text)
  if (kept !== undefined) return kept
  throw new StartFault(
    `${path} is broken. It holds the key that decrypts the stored secrets of connections and channels`,
    [
      'Put a copy of the file back. Without a copy, move it away and start again. Then create a new API key',
      '(npx backstop keys recover --no-expiry), and set the secrets of connections and channels again.',
    ].join('\n    '),
  )
}

function parseSecrets(text: string): StoredSecrets | undefined {
  try {
    const { secretKeys, bootstrapKey } = JSON.parse(text) as Partial<StoredSecrets>
    return secretKeys && bootstrapKey ? { secretKeys, bootstrapKey } : undefined
  } catch {
    return undefined
  }
}

import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** What is made once for a data folder and must not change while its content lives. */
export interface KeptSecrets {
  /** SECRET_KEYS: without it the secrets in MongoDB cannot be opened again. */
  secretKeys: string
  /** BOOTSTRAP_API_KEY: the management API takes it with every scope. */
  bootstrapKey: string
}

/**
 * The secrets of a data folder, made at first use. Readable for its owner only.
 * @throws SyntaxError when the file is no JSON: made anew, the stored secrets would be lost without a word
 */
export function keepSecrets(path: string): KeptSecrets {
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as KeptSecrets
    chmodSync(path, 0o600)
    return kept
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const secrets: KeptSecrets = {
    secretKeys: `local:${randomBytes(32).toString('base64')}`,
    bootstrapKey: `bsk_${randomBytes(32).toString('base64url')}`,
  }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
  return secrets
}

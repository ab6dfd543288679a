import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartFault } from './start-fault.ts'

/** What is made once for a data folder and must not change while its content lives. */
export interface KeptSecrets {
  /** SECRET_KEYS: without it the secrets in MongoDB cannot be opened again. */
  secretKeys: string
  /** BOOTSTRAP_API_KEY: the management API takes it with every scope. */
  bootstrapKey: string
}

/**
 * The secrets of a data folder, made at first use. Readable for its owner only.
 * @throws StartFault when the file is broken: made anew, the stored secrets would be lost without a word
 */
export function keepSecrets(path: string): KeptSecrets {
  const kept = readSecrets(path)
  if (kept !== undefined) {
    chmodSync(path, 0o600)
    return kept
  }
  const secrets: KeptSecrets = {
    secretKeys: `local:${randomBytes(32).toString('base64')}`,
    bootstrapKey: `bsk_${randomBytes(32).toString('base64url')}`,
  }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
  return secrets
}

function readSecrets(path: string): KeptSecrets | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const kept = parseSecrets(text)
  if (kept !== undefined) return kept
  throw new StartFault(`${path} is broken, and without it nobody reads what is stored`, beginAnew(dirname(path)))
}

function parseSecrets(text: string): KeptSecrets | undefined {
  try {
    const { secretKeys, bootstrapKey } = JSON.parse(text) as Partial<KeptSecrets>
    return secretKeys && bootstrapKey ? { secretKeys, bootstrapKey } : undefined
  } catch {
    return undefined
  }
}

/** What helps when the secrets of a data folder and what is stored there do not belong together. */
export function beginAnew(dataDir: string): string {
  return `Put the secrets.json back that belongs to it, or begin anew with nothing stored:  rm -r '${dataDir}'`
}

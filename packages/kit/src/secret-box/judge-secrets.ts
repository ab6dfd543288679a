import { keyIdOf, type SecretBox, type SecretContext } from './secret-box.ts'

/** A secret as it is stored, and the place where it can be opened. */
export interface StoredSecret {
  readonly sealed: string
  readonly context: SecretContext
}

/**
 * Judges the keys of this process by stored secrets. Returns what is wrong, undefined if nothing is.
 * A key is wrong if it opens none of the secrets that have its id. One secret that was changed or moved is no fault of the key, and
 * a key that was lost for some of the secrets does not stop the work with the others. Secrets of a key that SECRET_KEYS calls lost
 * are not judged: otherwise nobody could set them again.
 */
export function judgeSecrets(secrets: readonly StoredSecret[], box: SecretBox): string | undefined {
  const byKey = Map.groupBy(secrets, ({ sealed }) => keyIdOf(sealed) ?? 'unknown')
  for (const keyId of byKey.keys()) if (box.isLost(keyId)) byKey.delete(keyId)
  const opens = new Map([...byKey].map(([keyId, stored]) => [keyId, stored.some(secret => canOpen(secret, box))]))
  const wrong = [...opens].filter(([keyId, works]) => box.hasKey(keyId) && !works).map(([keyId]) => keyId)
  if (wrong.length > 0) {
    return `SECRET_KEYS has another key under the id ${quote(wrong)} than the one that encrypted the stored secrets: give this process the keys of the other processes`
  }
  if (opens.size === 0 || [...opens.values()].includes(true)) return undefined
  return `SECRET_KEYS lacks the key ${quote([...opens.keys()])} of the stored secrets: give this process the keys of the other processes`
}

function canOpen({ sealed, context }: StoredSecret, box: SecretBox): boolean {
  try {
    box.open(sealed, context)
    return true
  } catch {
    return false
  }
}

const quote = (keyIds: readonly string[]) => keyIds.map(keyId => `"${keyId}"`).join(', ')

import { createHash } from 'node:crypto'
import type { AuditedField } from '@backstop/contracts'

/** Fields that change with every change, and so say nothing about it. */
const IGNORED_FIELDS = new Set(['_id', 'version', 'updated_at', 'created_at'])
/** Fields with the hash of a credential. */
const HASH_FIELD = /^(?:\w+_)?hash$/
/** A secret that the secret box encrypted (kit/secret-box). */
const SEALED_SECRET = /^v1\.[\w-]+(?:\.[\w-]+){3}$/
/** Limits of a row, so that no change makes it large. */
export const MAX_FIELDS = 100
const MAX_VALUE_LENGTH = 2_000
/** The JSON of such a text is short enough, also if each character is escaped. */
const MAX_SHORT_LENGTH = 300

/**
 * Lists the fields that differ between two versions of a document, for the audit.
 * @param before undefined if the document is new
 * @param after undefined if the document is removed
 */
export function listChangedFields(
  resource: string,
  before: object | undefined,
  after: object | undefined,
): AuditedField[] {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  const changed: AuditedField[] = []
  for (const field of fields) {
    if (IGNORED_FIELDS.has(field)) continue
    const [from, to] = [maskField(before, field), maskField(after, field)]
    if (from === to || (isObject(from) && isObject(to) && JSON.stringify(from) === JSON.stringify(to))) continue
    // In the order of the fields in the texts that are signed (kit/audit), which saves sorting them.
    changed.push({ field, from: shorten(from, to), resource, to: shorten(to, from) })
  }
  return changed.slice(0, MAX_FIELDS)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function maskField(document: object | undefined, field: string): unknown {
  return maskSecrets((document as Record<string, unknown> | undefined)?.[field], field)
}

/** A value that may be long. Of a long list, only the items that the other one does not have. */
function shorten(value: unknown, other: unknown): unknown {
  if (!isObject(value) && String(value).length <= MAX_SHORT_LENGTH) return value
  const text = JSON.stringify(value)
  if (text.length <= MAX_VALUE_LENGTH) return value
  if (!Array.isArray(value) || !Array.isArray(other)) return cut(text)
  const known = new Set(other.map(item => JSON.stringify(item)))
  const differing = value.filter(item => !known.has(JSON.stringify(item)))
  return cut(JSON.stringify(differing), differing)
}

function cut(text: string, whole: unknown = text): unknown {
  return text.length <= MAX_VALUE_LENGTH ? whole : `${text.slice(0, MAX_VALUE_LENGTH)}…`
}

function maskSecrets(value: unknown, field: string): unknown {
  if (value === undefined || value === null) return null
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'string') return HASH_FIELD.test(field) || SEALED_SECRET.test(value) ? fingerprint(value) : value
  if (Array.isArray(value)) return value.map(item => maskSecrets(item, field))
  if (typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskSecrets(item, key)]))
}

/** Shows that a secret was replaced. It is computed from the encrypted secret or its hash, so it says nothing about the secret. */
function fingerprint(stored: string): string {
  return `secret ${createHash('sha256').update(stored).digest('hex').slice(0, 8)}`
}

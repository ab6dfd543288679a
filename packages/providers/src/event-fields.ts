/**
 * Reads single fields of a provider's event. Providers change their events at any time, so there is no schema: a field
 * without the expected type is treated as absent.
 */
import { isProviderId } from '@backstop/contracts'

/**
 * Ids and types of events become Kafka headers unchanged, so they must be printable ASCII without spaces. Ids of objects may
 * be any text (`isProviderId`), because merchants choose them at the biller.
 */
const WORD_SHAPE = /^[\x21-\x7e]{1,255}$/

export function isUsableWord(value: unknown): value is string {
  return typeof value === 'string' && WORD_SHAPE.test(value)
}

/** The field at a path of names, or undefined if the path does not exist. Inherited properties are ignored. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let current = value
  for (const name of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined
    current = (current as Record<string, unknown>)[name]
  }
  return current
}

/** The object at a path of names, or undefined if there is none. */
export function objectAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  const found = fieldAt(value, ...path)
  const isObject = typeof found === 'object' && found !== null && !Array.isArray(found)
  return isObject ? (found as Readonly<Record<string, unknown>>) : undefined
}

/** The first usable id among the candidates, which may be ids or expanded objects; null if there is none. */
export function firstId(...candidates: readonly unknown[]): string | null {
  for (const candidate of candidates) {
    const id = typeof candidate === 'object' ? fieldAt(candidate, 'id') : candidate
    if (isProviderId(id)) return id
  }
  return null
}

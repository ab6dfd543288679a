/**
 * Reading single fields of a provider's event. Events are open structures that change under us, so nothing here is a
 * schema: a field is what is asked for, or it is as good as absent.
 */
import { isProviderId } from '@backstop/contracts'

/**
 * Ids and types of events are the provider's own words and travel in Kafka headers as they are: printable ASCII without
 * spaces. Ids of objects may be any text (`isProviderId`): at the biller, merchants choose them.
 */
const WORD_SHAPE = /^[\x21-\x7e]{1,255}$/

export function isUsableWord(value: unknown): value is string {
  return typeof value === 'string' && WORD_SHAPE.test(value)
}

/** The field at a path of names, or undefined where the path leaves the objects. Inherited fields do not count. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let current = value
  for (const name of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined
    current = (current as Record<string, unknown>)[name]
  }
  return current
}

/** The object at a path of names, or undefined where none is. */
export function objectAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  const found = fieldAt(value, ...path)
  const isObject = typeof found === 'object' && found !== null && !Array.isArray(found)
  return isObject ? (found as Readonly<Record<string, unknown>>) : undefined
}

/** The first candidate that names something: an id, or an expanded object that has one. Null when none does. */
export function firstId(...candidates: readonly unknown[]): string | null {
  for (const candidate of candidates) {
    const id = typeof candidate === 'object' ? fieldAt(candidate, 'id') : candidate
    if (isProviderId(id)) return id
  }
  return null
}

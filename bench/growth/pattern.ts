/** Turns a stored document of one refund into a pattern for the documents of other refunds. */
import type { Refund } from '../../test/setup/refunds.ts'

/** The details in which the documents of two refunds with the same outcome differ. */
export interface Particulars extends Required<Omit<Refund, 'isExplained'>> {
  readonly caseId: string
  readonly actionId: string
  readonly incidentId: string
  readonly alertId: string
}

/** The value of a document for the refund with these details. */
type Pattern<T = unknown> = (of: Particulars) => T

/** Numbers and texts within this distance of the refund's time are times. */
const NEAR_MS = 3 * 86_400_000
/** A time as ISO text, in milliseconds or in seconds. */
const TIMES = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|(?<!\d)\d{13}(?!\d)|(?<!\d)\d{10}(?!\d)`

/**
 * Finds the details of the first refund in every text, number and time of its document, also in JSON text, and replaces them. Times keep
 * their distance to the time of the refund.
 */
export function patternOf<T>(document: T, first: Particulars): Pattern<T> {
  const { atMs, amount, ...ids } = first
  const texts = new Map<string, Pattern<string>>([
    ...Object.entries(ids).map(([name, id]) => [id, (of: Particulars) => of[name as keyof typeof ids]] as const),
    [String(amount), of => String(of.amount)],
    [(amount / 100).toFixed(2), of => (of.amount / 100).toFixed(2)],
  ])
  // The point of an amount is the only character with a special meaning.
  const found = new RegExp(`(${TIMES}|${[...texts.keys()].join('|').replaceAll('.', String.raw`\.`)})`)
  return (replacementOf(document) ?? (() => document)) as Pattern<T>

  /** @returns undefined if the value is the same for every refund */
  function replacementOf(value: unknown): Pattern | undefined {
    if (typeof value === 'string') return ofText(value)
    if (value === amount) return of => of.amount
    if (typeof value === 'number') return isNear(value) ? of => value + of.atMs - atMs : undefined
    if (value instanceof Date) return of => new Date(value.getTime() + of.atMs - atMs)
    if (Array.isArray(value)) return ofList(value)
    return typeof value === 'object' && value !== null ? ofFields(value) : undefined
  }

  function ofText(text: string): Pattern<string> | undefined {
    // A capturing group makes every second part a match.
    const parts = text
      .split(found)
      .map((part, index) => (index % 2 === 1 ? (texts.get(part) ?? ofTimeText(part)) : part))
    if (parts.every(part => typeof part === 'string')) return undefined
    return of => {
      let whole = ''
      for (const part of parts) whole += typeof part === 'string' ? part : part(of)
      return whole
    }
  }

  function ofTimeText(text: string): Pattern<string> | string {
    const laterMs = Date.parse(text) - atMs
    if (text.includes('T')) return of => new Date(of.atMs + laterMs).toISOString()
    const unitMs = text.length === 13 ? 1 : 1_000
    return isNear(Number(text) * unitMs) ? of => String(Number(text) + (of.atMs - atMs) / unitMs) : text
  }

  function isNear(timeMs: number): boolean {
    return Math.abs(timeMs - atMs) < NEAR_MS
  }

  function ofList(list: readonly unknown[]): Pattern | undefined {
    const patterns = list.map(replacementOf)
    if (patterns.every(pattern => pattern === undefined)) return undefined
    return of => patterns.map((pattern, index) => (pattern === undefined ? list[index] : pattern(of)))
  }

  function ofFields(fields: object): Pattern | undefined {
    const entries = Object.entries(fields)
    const patterns = entries.flatMap(([name, value]) => {
      const pattern = replacementOf(value)
      return pattern === undefined ? [] : [[name, pattern] as const]
    })
    if (patterns.length === 0) return undefined
    // V8 copies an object that was parsed at once several times faster than one that got its fields one by one.
    const parsed = Object.assign(JSON.parse(JSON.stringify(fields)) as object, fields)
    return of => {
      const copy = { ...parsed } as Record<string, unknown>
      for (const [name, pattern] of patterns) copy[name] = pattern(of)
      return copy
    }
  }
}

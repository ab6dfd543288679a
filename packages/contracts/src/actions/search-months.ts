/**
 * A search key begins with its month, so that the keys of new documents are neighbours in the index of searches. Without it each key is at a
 * random place, and every new document changes as many pages of the index as it has keys. Months are counted down, because results are listed
 * with the newest first: ` 7388/pi_1` is a key of 26-11 (9999 - 2611).
 */

/** Older documents share the first month: nearly all of them have the keys without a month that their release stored. */
const FIRST_MONTH = Date.UTC(2026, 10)
/** The sum of a month as YYMM and the number in its mark. */
const COMPLEMENT = 9999
/** No text of a key begins with a space. */
const MARK = /^ \d{4}\//

/** @param at the time of a document, in milliseconds since the epoch */
export function monthMark(at: number): string {
  const month = new Date(Math.max(at, FIRST_MONTH))
  const number = (month.getUTCFullYear() % 100) * 100 + month.getUTCMonth() + 1
  return ` ${String(COMPLEMENT - number).padStart(4, '0')}/`
}

/**
 * The marks of all stored keys, the newest month first. The last one is empty: releases before 0.4.0 stored keys without a month.
 * @param now milliseconds since the epoch. The next month is included, because clocks differ
 */
export function monthMarks(now: number): string[] {
  const today = new Date(Math.max(now, FIRST_MONTH))
  const marks: string[] = []
  for (let back = -1; ; back += 1) {
    const at = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back)
    if (at < FIRST_MONTH) return [...marks, '']
    marks.push(monthMark(at))
  }
}

/** The month mark of a key; empty if it has none. */
export function markOfKey(key: string): string {
  return MARK.exec(key)?.[0] ?? ''
}

/** The text of a key without its month. */
export function textOfKey(key: string): string {
  return key.replace(MARK, '')
}

import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { z } from 'zod'
import { csvLine } from './csv.ts'

/** The forms of a whole list, in addition to pages of JSON. */
export const LIST_FORMATS = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const
export type ListFormat = keyof typeof LIST_FORMATS

/** The query parameter of the lists that can be read as a whole. */
export const FormatFilter = z
  .enum(['json', 'csv', 'ndjson'])
  .optional()
  .describe(
    'csv and ndjson: the whole list as a stream, from `cursor` on; the same as `Accept: text/csv` and `application/x-ndjson`',
  )

/** A list that is written to a client. */
export interface ListStream {
  readonly format: ListFormat
  /** The columns of CSV. */
  readonly columns: readonly string[]
  /** Pages of rows. The next page is read only when the client has taken the one before. */
  readonly pages: AsyncIterable<readonly Readonly<Record<string, unknown>>[]>
  /** Aborted when the client disconnects or the process stops. */
  readonly signal: AbortSignal
  /** How long a client may take for a page, in milliseconds. Default: one minute. */
  readonly drainWithinMs?: number
}

const DRAIN_WITHIN_MS = 60_000

/**
 * Writes a list page by page, in memory of one page. Ends early without an error if the client disconnects. A client that takes too long
 * for a page is cut, so that it holds no memory and no connection; it sees that the list is incomplete.
 */
export async function streamList(out: Writable, list: ListStream): Promise<void> {
  const { format, columns, pages, signal, drainWithinMs = DRAIN_WITHIN_MS } = list
  const lineOf = (row: Readonly<Record<string, unknown>>) =>
    format === 'csv' ? csvLine(columns.map(column => row[column])) : `${JSON.stringify(row)}\n`
  if (format === 'csv') out.write(csvLine(columns))
  for await (const rows of pages) {
    if (signal.aborted) return
    if (!out.write(rows.map(lineOf).join('')) && !(await untilDrained(out, signal, drainWithinMs))) {
      out.destroy()
      return
    }
  }
  out.end()
}

/** @returns false if the client disconnected first, or took too long */
async function untilDrained(out: Writable, disconnected: AbortSignal, withinMs: number): Promise<boolean> {
  const signal = AbortSignal.any([disconnected, AbortSignal.timeout(withinMs)])
  try {
    await once(out, 'drain', { signal })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}

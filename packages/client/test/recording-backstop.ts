/** A stand-in for Backstop that records operations as the ledger does: one per connection and idempotency key. */
import type { NewOperation } from '../src/generated/api.ts'

export interface RecordingBackstop {
  readonly fetch: typeof globalThis.fetch
  /** The accepted reports, oldest first. */
  readonly reports: NewOperation[]
  /** Sets what happens to reports from now on. */
  behave(as: 'up' | 'down' | 'silent' | { readonly refuses: number; readonly code?: string }): void
}

export function createRecordingBackstop(): RecordingBackstop {
  const reports: NewOperation[] = []
  let behaviour: Parameters<RecordingBackstop['behave']>[0] = 'up'
  const problem = (status: number, code: string) =>
    new Response(JSON.stringify({ status, code, title: 'X', detail: code }), { status })
  return {
    reports,
    behave(as) {
      behaviour = as
    },
    async fetch(_url, init) {
      if (behaviour === 'down') throw new TypeError('fetch failed')
      if (behaviour === 'silent') {
        return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
      }
      if (behaviour !== 'up') return problem(behaviour.refuses, behaviour.code ?? 'x')
      reports.push(JSON.parse(String(init?.body)))
      return new Response('{}', { status: 201 })
    },
  }
}

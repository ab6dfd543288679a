/** A stand-in for Backstop that records operations as the ledger does: one per connection and idempotency key. */
import type { NewOperation } from '../src/generated/api.ts'

export interface RecordingBackstop {
  readonly fetch: typeof globalThis.fetch
  /** The accepted reports, oldest first. */
  readonly reports: NewOperation[]
  /** Sets what happens to reports from now on. */
  behave(as: Behaviour): void
}

type Behaviour =
  | 'up'
  | 'down'
  | 'silent'
  | { readonly refuses: number; readonly code?: string }
  | { readonly answersAfterMs: number }

export function createRecordingBackstop(): RecordingBackstop {
  const reports: NewOperation[] = []
  let behaviour: Behaviour = 'up'
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
      if (behaviour !== 'up' && 'answersAfterMs' in behaviour) {
        const { answersAfterMs } = behaviour
        await new Promise(resolve => setTimeout(resolve, answersAfterMs))
      } else if (behaviour !== 'up') return problem(behaviour.refuses, behaviour.code ?? 'x')
      const { items } = JSON.parse(String(init?.body)) as { items: (NewOperation & { type: 'report' })[] }
      reports.push(...items.map(({ type: _, ...report }) => report))
      return Response.json({ results: items.map(() => ({ status: 201, problem: null })) })
    },
  }
}

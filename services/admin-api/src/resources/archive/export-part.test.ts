import { createHash } from 'node:crypto'
import { type ActionDocument, type ArchiveEnd, MAX_ARCHIVED_AT_ONCE } from '@backstop/contracts'
import { expect, test } from 'vitest'
import type { ListPosition } from '../../http/cursor.ts'
import type { PageRequest } from '../../store/collection.ts'
import { exportPart } from './export-part.ts'

const now = new Date('2026-11-21T10:00:00Z')

/** Reads parts until none follows. Actions are given by the times of their first record. */
async function exportAll(times: readonly string[], before = now, facts: Partial<ActionDocument> = {}) {
  const stored = times.map((time, index) => {
    const first_seen = new Date(time)
    return { _id: `act_${index}`, first_seen, version: 1, ...facts } as ActionDocument
  })
  const page = async ({ window, after, limit }: PageRequest<ActionDocument>) =>
    stored
      .filter(({ first_seen }) => first_seen >= (window?.from ?? new Date(0)) && first_seen < (window?.before ?? now))
      .filter(({ _id, first_seen }) => {
        if (after === undefined) return true
        return first_seen > after.at || (first_seen.getTime() === after.at.getTime() && _id > after.id)
      })
      .slice(0, limit)
  const parts: { ids: string[]; end: ArchiveEnd; lines: string }[] = []
  let after: ListPosition | undefined
  do {
    let place: ListPosition | undefined
    const pages = exportPart(
      { projectId: 'prj_1', after, before, now },
      {
        actions: { page },
        secretBox: { signPublicly: () => ({ keyId: 'k1', signature: 's' }) },
        authorize: async () => undefined,
        signCursor: at => {
          place = at
          return 'cursor'
        },
      },
    )
    const lines: object[] = []
    for await (const page of pages) lines.push(...page)
    const shown = lines.slice(0, -1) as { action_id: string }[]
    const text = shown.map(line => `${JSON.stringify(line)}\n`).join('')
    parts.push({ ids: shown.map(({ action_id }) => action_id), end: lines.at(-1) as ArchiveEnd, lines: text })
    after = place
  } while (after !== undefined)
  return parts
}

test('a part has the actions of one month, and the last part has no cursor', async () => {
  const parts = await exportAll(['2024-01-05T10:00:00Z', '2024-01-31T23:59:59.999Z', '2024-02-01T00:00:00Z'])
  expect(parts.map(({ ids }) => ids)).toEqual([['act_0', 'act_1'], ['act_2']])
  expect(parts.map(({ end }) => [end.statement.month, end.next_cursor])).toEqual([
    ['2024-01', 'cursor'],
    ['2024-02', null],
  ])
  expect(parts.map(({ end }) => end.statement.sha256)).toEqual(
    parts.map(({ lines }) => createHash('sha256').update(lines).digest('hex')),
  )
})

test('a large month is several parts, of which each action is in one', async () => {
  const times = Array.from({ length: MAX_ARCHIVED_AT_ONCE + 700 }, (_, index) => new Date(Date.UTC(2024, 0, 5) + index))
  const parts = await exportAll(
    times.map(time => time.toISOString()),
    new Date('2024-01-07T00:00:00Z'),
  )
  expect(parts.map(({ end }) => end.statement.actions)).toEqual([MAX_ARCHIVED_AT_ONCE, 700])
  expect(new Set(parts.flatMap(({ ids }) => ids)).size).toBe(times.length)
})

test('an action of the bound or later is left', async () => {
  const parts = await exportAll(['2024-01-05T09:59:59Z', '2024-01-05T10:00:00Z'], new Date('2024-01-05T10:00:00Z'))
  expect(parts.map(({ ids }) => ids)).toEqual([['act_0']])
})

test('without an action there is one empty part, of no month', async () => {
  const [part, ...more] = await exportAll([])
  expect({ month: part?.end.statement.month, actions: part?.end.statement.actions, more }).toEqual({
    month: null,
    actions: 0,
    more: [],
  })
})

test('no personal data is exported', async () => {
  const [part] = await exportAll(['2024-01-05T10:00:00Z'], now, {
    provider: 'reseller',
    subject: 'txn_1',
    customer: { id: 'ctm_1', name: 'Ada Canary', email: 'ada@canary.example' },
    origin: { channel: 'dashboard', user: 'Canary Operator', key_name: 'key of canary@keys.example' },
    payment: { refund_reason: 'Asked by Ada Canary' },
    timeline: [{ at: '2024-01-05T10:00:00Z', what: 'event_received', id: null, text: 'By canary@keys.example' }],
  } as unknown as Partial<ActionDocument>)
  expect(part?.lines).not.toMatch(/canary/i)
  expect(JSON.parse(String(part?.lines))).toMatchObject({ subject: 'txn_1', customer: { id: 'ctm_1' } })
})

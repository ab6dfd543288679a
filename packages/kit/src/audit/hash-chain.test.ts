import type { AuditDocument } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { EMPTY_CHAIN, findBrokenRow, linkRow } from './hash-chain.ts'

/** Three rows of a chain, newest first. */
function makeChain(): AuditDocument[] {
  const rows: AuditDocument[] = []
  let end = EMPTY_CHAIN
  for (const name of ['one', 'two', 'three']) {
    const row: AuditDocument = {
      _id: `aud_${name}`,
      at: new Date('2026-11-21T10:00:00Z'),
      key_id: 'key_1',
      action: 'project.create',
      target: name,
      project_id: null,
      request_id: 'req_1',
      address: null,
      changes: [{ resource: 'a', field: 'name', from: null, to: { b: 1, a: 2 } }],
    }
    const link = linkRow(row, end)
    rows.unshift({ ...row, ...link, unchained: false })
    end = link
  }
  return rows
}
const change = (index: number, fields: Partial<AuditDocument>) =>
  makeChain().map((row, i) => (i === index ? { ...row, ...fields } : row))

test('a chain is intact, whatever the order of the fields', () => {
  const rows = makeChain().map(row => Object.fromEntries(Object.entries(row).reverse()) as unknown as AuditDocument)
  expect(findBrokenRow(rows, rows[0]?.hash)).toBeUndefined()
})

test.each([
  { name: 'a changed value', rows: change(1, { target: 'x' }), fault: { sequence: 2, reason: 'row_changed' } },
  { name: 'a changed time', rows: change(2, { at: new Date(0) }), fault: { sequence: 1, reason: 'row_changed' } },
  { name: 'a removed row', rows: makeChain().toSpliced(1, 1), fault: { sequence: 2, reason: 'row_missing' } },
  {
    name: 'a changed row with a new hash',
    rows: makeChain().map((row, i) =>
      i === 1
        ? { ...row, target: 'x', ...linkRow({ ...row, target: 'x' }, { sequence: 1, hash: row.previous_hash ?? '' }) }
        : row,
    ),
    fault: { sequence: 2, reason: 'link_broken' },
  },
])('$name is found', ({ rows, fault }) => {
  expect(findBrokenRow(rows, rows[0]?.hash)).toEqual(fault)
})

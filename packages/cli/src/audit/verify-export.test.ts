import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { AuditDocument } from '@backstop/contracts'
import { canonicalJson, EMPTY_CHAIN, endAfter, linkRow, signRow } from '@backstop/kit/audit'
import { Secret } from '@backstop/kit/config'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import { describe, expect, test } from 'vitest'
import { verifyExport } from './verify-export.ts'

const boxOf = (fill: number) =>
  createSecretBox(parseKeyRing(new Secret(`k1:${Buffer.alloc(32, fill).toString('base64')}`)))
const box = boxOf(1)
const pemOf = (one: typeof box) =>
  one
    .publicKeys('audit-export')
    .map(({ pem }) => pem)
    .join('')

function makeLines(): string[] {
  let end = EMPTY_CHAIN
  return ['one', 'two', 'three'].map(target => {
    const common = { at: new Date('2026-11-21T10:00:00Z'), key_id: 'key_1', project_id: null, request_id: null }
    const row = { ...common, _id: `aud_${target}`, action: 'project.change', target, address: null } as AuditDocument
    const { _id, unchained: _, ...linked } = linkRow(signRow(row, box), end, box, new Date('2026-11-21T10:00:02Z'))
    end = endAfter({ ...linked, _id })
    return JSON.stringify({ audit_id: _id, ...linked })
  })
}

function exportOf(lines: readonly string[], signer = box, edit: object = {}): string {
  const last = JSON.parse(lines.at(-1) ?? '{}')
  const statement = {
    exported_at: '2026-11-21T10:00:05.000Z',
    rows: lines.length,
    first_sequence: 1,
    last_sequence: last.sequence,
    last_hash: last.hash,
    hashed_until: null,
    sha256: createHash('sha256')
      .update(lines.map(line => `${line}\n`).join(''))
      .digest('hex'),
    faults: [],
  }
  const { keyId, signature } = signer.signPublicly('audit-export', canonicalJson(statement))
  const end = JSON.stringify({ statement: { ...statement, ...edit }, key_id: keyId, signature })
  return [...lines, end].map(line => `${line}\n`).join('')
}
const verify = (text: string, keys = pemOf(box)) => verifyExport(Readable.from([Buffer.from(text)]), keys)

describe('an export of the audit', () => {
  test('is intact, with one of several public keys', async () => {
    const { faults, statement } = await verify(exportOf(makeLines()), pemOf(boxOf(2)) + pemOf(box))
    expect(faults).toEqual([])
    expect(statement).toMatchObject({ rows: 3, last_sequence: 3 })
  })

  const lines = makeLines()
  const changed = lines.with(1, (lines[1] ?? '').replace('"two"', '"six"'))
  const whole = exportOf(lines)
  test.each([
    { name: 'a row was changed', text: whole.replace('"two"', '"six"'), says: /Row 2 .* was changed/ },
    {
      name: 'a row was changed and the lines signed again by another',
      text: exportOf(changed, boxOf(2)),
      says: /no valid signature/,
    },
    { name: 'a row was changed before it was signed', text: exportOf(changed), says: /Row 2 .* was changed/ },
    { name: 'a row was left out', text: whole.replace(`${lines[1]}\n`, ''), says: /Row 2 is missing/ },
    { name: 'the last row was left out', text: whole.replace(`${lines[2]}\n`, ''), says: /not those that were signed/ },
    {
      name: 'a row was repeated',
      text: whole.replace(`${lines[2]}\n`, `${lines[2]}\n${lines[2]}\n`),
      says: /not those that were signed/,
    },
    { name: 'a line is no row', text: `{}\n${whole}`, says: /Line 1 is no row/ },
    { name: 'the end is missing', text: lines.map(line => `${line}\n`).join(''), says: /no valid signature/ },
    { name: 'the statement was changed', text: exportOf(lines, box, { rows: 4 }), says: /no valid signature/ },
    { name: 'it is empty', text: '', says: /no valid signature/ },
  ])('is broken when $name', async ({ text, says }) => {
    const { faults } = await verify(text)
    expect(faults.map(fault => fault.text).join('\n')).toMatch(says)
  })
})

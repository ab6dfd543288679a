import { expect, test } from 'vitest'
import { type ClockFacts, type ClockVerdict, judgeOffset } from './judge-offset.ts'

const at = (aheadS: number, errorMs = 1) => ({ deviation: { aheadMs: aheadS * 1_000, errorMs }, excessMs: 0 })

const rows: { name: string; facts: ClockFacts; kind: ClockVerdict['kind']; reason?: string; says?: RegExp }[] = [
  { name: 'both clocks agree', facts: at(0), kind: 'in_step' },
  { name: 'own clock within 2 s', facts: at(1.9), kind: 'in_step' },
  {
    name: 'own clock 2.1 s ahead',
    facts: at(2.1),
    kind: 'apart',
    reason: 'own_clock',
    says: /2\.1 s ahead of MongoDB's: synchronise it by NTP/,
  },
  {
    name: 'own clock 600 s behind',
    facts: at(-600),
    kind: 'far_apart',
    reason: 'own_clock',
    says: /600\.0 s behind MongoDB's.*or that of MongoDB's primary if every process reports this/,
  },
  { name: 'own clock at 30 s', facts: at(30), kind: 'apart', reason: 'own_clock' },
  {
    name: 'own clock perhaps beyond 30 s, by an answer that took long',
    facts: at(31, 2_000),
    kind: 'apart',
    reason: 'own_clock',
  },
  { name: 'perhaps beyond 2 s, by an answer that took long', facts: at(3, 2_000), kind: 'in_step' },
  {
    name: 'MongoDB stepped back and the time of the process still slews',
    facts: { ...at(0), excessMs: 31_000 },
    kind: 'far_apart',
    reason: 'database_stepped_back',
    says: /still 31\.0 s ahead of it: restart the process/,
  },
  { name: 'the time of the process slews by little', facts: { ...at(0), excessMs: 29_000 }, kind: 'in_step' },
  { name: 'MongoDB was never read', facts: { deviation: undefined, excessMs: 0 }, kind: 'unmeasured' },
]

test.each(rows)('$name: $kind', ({ facts, kind, reason, says }) => {
  const verdict = judgeOffset(facts)
  expect(verdict).toMatchObject(reason === undefined ? { kind } : { kind, reason })
  if (says !== undefined) expect('detail' in verdict && verdict.detail).toMatch(says)
})

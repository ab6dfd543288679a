import { expect, test } from 'vitest'
import { type ClockFacts, type ClockVerdict, judgeOffsets } from './judge-offsets.ts'

const at = (aheadS: number, errorMs = 1) => ({ aheadMs: aheadS * 1_000, errorMs })
const facts = (more: Partial<ClockFacts>): ClockFacts => ({
  base: 'database',
  database: at(0),
  broker: at(0),
  excessMs: 0,
  ...more,
})

const rows: { name: string; facts: Partial<ClockFacts>; kind: ClockVerdict['kind']; reason?: string; says?: RegExp }[] =
  [
    { name: 'all three agree', facts: {}, kind: 'in_step' },
    { name: 'own clock within 2 s', facts: { database: at(1.9), broker: at(1.9) }, kind: 'in_step' },
    {
      name: 'own clock 2.1 s ahead',
      facts: { database: at(2.1), broker: at(2.1) },
      kind: 'apart',
      reason: 'own_clock',
      says: /2\.1 s ahead of MongoDB's: synchronise it by NTP/,
    },
    {
      name: 'own clock 600 s behind',
      facts: { database: at(-600), broker: at(-600) },
      kind: 'far_apart',
      reason: 'own_clock',
      says: /600\.0 s behind MongoDB's/,
    },
    { name: 'own clock at 30 s', facts: { database: at(30), broker: at(30) }, kind: 'apart', reason: 'own_clock' },
    {
      name: 'own clock beyond 30 s, and MongoDB was never read',
      facts: { base: 'broker', database: undefined, broker: at(31) },
      kind: 'far_apart',
      reason: 'own_clock',
      says: /ahead of Kafka's/,
    },
    {
      name: 'own clock perhaps beyond 30 s, by an answer that took long',
      facts: { database: at(31, 2_000), broker: at(31, 2_000) },
      kind: 'apart',
      reason: 'own_clock',
    },
    {
      name: "MongoDB's clock alone is off",
      facts: { database: at(40), broker: at(0.1) },
      kind: 'far_apart',
      reason: 'database_clock',
      says: /MongoDB's primary differs by 40\.0 s from this host's and Kafka's/,
    },
    {
      name: "Kafka's clock alone is off, however far: nothing is due by it",
      facts: { broker: at(-100) },
      kind: 'apart',
      reason: 'broker_clock',
      says: /Kafka's clock differs by 100\.0 s/,
    },
    {
      name: 'own clock lies between two that differ',
      facts: { database: at(1.5), broker: at(-1.5) },
      kind: 'apart',
      reason: 'sources_disagree',
      says: /differ by 3\.0 s/,
    },
    {
      name: 'they might differ, by answers that took long',
      facts: { database: at(1.5, 1_000), broker: at(-1.5, 1_000) },
      kind: 'in_step',
    },
    { name: 'Kafka was never read', facts: { broker: undefined }, kind: 'in_step' },
    {
      name: 'the base stepped back and the corrected time still slews',
      facts: { excessMs: 31_000 },
      kind: 'far_apart',
      reason: 'base_stepped_back',
      says: /still 31\.0 s ahead of it: restart the process/,
    },
    { name: 'the corrected time slews by little', facts: { excessMs: 29_000 }, kind: 'in_step' },
    {
      name: 'nothing was ever read',
      facts: { base: undefined, database: undefined, broker: undefined },
      kind: 'unmeasured',
      reason: 'no_reading_yet',
    },
  ]

test.each(rows)('$name: $kind', ({ facts: more, kind, reason, says }) => {
  const verdict = judgeOffsets(facts(more))
  expect(verdict).toMatchObject(reason === undefined ? { kind } : { kind, reason })
  if (says !== undefined) expect('detail' in verdict && verdict.detail).toMatch(says)
})

import { expect, test } from 'vitest'
import type { Completeness, ConnectionCompleteness } from './completeness.ts'
import { answerWords, outageWords, type ShownValues } from './completeness-words.ts'

const SHOWN: ShownValues = { time: at => at.slice(0, 10), count: String }
const at = (day: string) => `2026-${day}T00:00:00.000Z`
const PERIOD = { from: at('07-01'), to: at('10-01') }

type Outages = NonNullable<Completeness['outages']>
type Case = { name: string; outages: Outages | null; words: string[] }
const recorded = (from: string, until: string, found: Outages['found'] = []): Outages => ({
  recorded_from: at(from),
  recorded_until: at(until),
  found,
})

test.each<Case>([
  {
    name: 'an outage is denied only for the part of the period in which heartbeats are recorded',
    outages: recorded('08-10', '11-29'),
    words: ['No outage of Backstop from 2026-08-10 to 2026-10-01.'],
  },
  {
    name: 'nothing is said about a period before the first heartbeat',
    outages: recorded('11-01', '11-29'),
    words: ['Outages of Backstop are not recorded for this period.'],
  },
  {
    name: 'nothing is said about a period after the last heartbeat',
    outages: recorded('05-01', '06-01'),
    words: ['Outages of Backstop are not recorded for this period.'],
  },
  {
    name: 'without any heartbeat nothing is said',
    outages: null,
    words: ['Outages of Backstop are not recorded, because no heartbeat came back yet.'],
  },
  {
    name: 'each outage is named, with the part of the period that is recorded',
    outages: recorded('06-01', '09-15', [{ from: at('08-01'), to: at('08-02') }]),
    words: [
      'From 2026-08-01 to 2026-08-02 Backstop or a part of it did not work. Alerts of this time were delivered later.',
      'Outages are recorded from 2026-07-01 to 2026-09-15.',
    ],
  },
  {
    name: 'an outage that has not ended is named after the last heartbeat too',
    outages: recorded('05-01', '06-01', [{ from: at('06-01'), to: null }]),
    words: ['Since 2026-06-01 Backstop or a part of it does not work.'],
  },
])('$name', ({ outages, words }) => {
  expect(outageWords({ ...PERIOD, outages }, SHOWN)).toEqual(words)
})

test.each([
  { limit: 'no_read_key', reason: 'Backstop cannot read this account' },
  { limit: 'not_read_for_thirty_days', reason: 'the account could not be read for more than 30 days' },
  { limit: 'reading_not_recorded', reason: 'it is not recorded whether the account was read before 2026-09-01' },
] as const)('a statement that is not provable says why: $limit', ({ limit, reason }) => {
  const one = {
    answer: 'not_provable',
    limits: [limit],
    reading: { recorded_from: at('09-01') },
    recorded: 3,
    judged: 3,
  } as unknown as ConnectionCompleteness
  expect(answerWords(one, SHOWN)).toContain(`Not provable: ${reason}`)
})

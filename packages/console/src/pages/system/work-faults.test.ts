import { expect, test } from 'vitest'
import type { InstallationWork, Processes } from '../../api/system.ts'
import { faultsOf, systemSentence } from './work-faults.ts'

const NONE = { count: 0, oldest_seconds: 0 }
const IDLE: InstallationWork = {
  verdicts: { ...NONE, overdue: 0, waiting_for_provider: 0 },
  deliveries: { pending: NONE, retrying: NONE },
  messages: NONE,
  providers: { key_rejected: 0, unreadable: 0, silent: 0, sweep_age_seconds: 0 },
}
const NO_LETTERS = { count: 0, hasMore: false }

test('says that nothing is wrong only if neither a dead letter nor late work waits', () => {
  expect(systemSentence(NO_LETTERS, IDLE)).toBe('No dead letters, and no work is late')
  expect(systemSentence(NO_LETTERS, undefined)).toBe('No dead letters')
  const busy = { ...IDLE, messages: { count: 3, oldest_seconds: 2 } }
  expect(systemSentence(NO_LETTERS, busy)).toBe('No dead letters, and no work is late')
})

test('names the deliveries that failed, and everything else that is late', () => {
  const stuck = { ...IDLE, deliveries: { pending: NONE, retrying: { count: 21, oldest_seconds: 600 } } }
  expect(systemSentence(NO_LETTERS, stuck)).toBe('21 deliveries failed and are repeated, the oldest for 10 min')
  expect([...faultsOf(stuck).keys()]).toEqual(['retrying'])
  const all: InstallationWork = {
    verdicts: { ...NONE, overdue: 1, waiting_for_provider: 0 },
    deliveries: { pending: { count: 1, oldest_seconds: 61 }, retrying: NONE },
    messages: { count: 2, oldest_seconds: 120 },
    providers: { key_rejected: 1, unreadable: 1, silent: 0, sweep_age_seconds: 9 },
  }
  expect(systemSentence({ count: 50, hasMore: true }, all)).toBe(
    'More than 50 dead letters; 1 verdict overdue; 2 messages to Kafka wait, the oldest for 2 min; 1 delivery waits, the oldest for 1 min; 1 connection cannot be read or is silent',
  )
})

test('names processes that are not ready or silent, and not those that were replaced', () => {
  const process = {
    process_id: 'a',
    service: 'ingress',
    version: '1',
    started_at: '',
    reported_at: '',
    unready: null,
  } as const
  const processes: Processes = (['ready', 'not_ready', 'silent', 'replaced'] as const).map(state => ({
    ...process,
    state,
    keys: [],
    clock_ahead_ms: null,
  }))
  expect(systemSentence(NO_LETTERS, IDLE, processes)).toBe('2 processes not ready or silent')
})

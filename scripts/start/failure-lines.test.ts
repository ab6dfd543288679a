import { expect, test } from 'vitest'
import { failureLines } from './failure-lines.ts'

const line = (level: string, msg: string, more: object = {}) => JSON.stringify({ level, time: 'T', msg, ...more })

test('shortens warnings and errors, and keeps lines that are no JSON', () => {
  const lines = [
    line('info', 'http.request'),
    line('warn', 'Connection error: connect ECONNREFUSED'),
    line('warn', 'Connection error: connect ECONNREFUSED'),
    line('error', 'connection.unreadable', { error: { message: 'its key is not there', stack: '…' } }),
    line('warn', 'retried', { error: 'no coordinator' }),
    'reconciler did not start. The configuration has 1 error(s):',
    '  RECHECK_DELAY_MS: has to be a number',
    '',
  ]
  expect(failureLines(lines, 10)).toEqual([
    'warn Connection error: connect ECONNREFUSED',
    'error connection.unreadable: its key is not there',
    'warn retried: no coordinator',
    'reconciler did not start. The configuration has 1 error(s):',
    '  RECHECK_DELAY_MS: has to be a number',
  ])
})

test('returns only the last lines, and cuts long lines', () => {
  const lines = [line('error', 'first'), line('error', 'x'.repeat(500)), '12']
  const printed = failureLines(lines, 2)
  expect(printed).toHaveLength(2)
  expect(printed[0]).toHaveLength(200)
  expect(printed[1]).toBe('12')
})

import { expect, test } from 'vitest'
import { judged, rightRun, T0 } from '../right-run.ts'

/** Faults of a run whose team chat got these messages. */
function faultsOf(bodies: readonly string[]): string[] {
  const run = rightRun()
  run.truth.chats.push(...bodies.map(body => ({ atMs: T0, host: 'https://chat.example/own', body })))
  return judged(run)
}

const report = (number: number) => `Update ${number}. Reference: storm stm_1, connection con_1`
const reports = (many: number) => Array.from({ length: many }, (_, index) => report(index))
const end = (time: string) => `Resolved: the burst of 12 refunds. Reference: incident inc_1, storm stm_1. ${time}`

test('a storm is at most twenty messages for a chat, and a repeat is not counted', () => {
  expect(faultsOf([...reports(20), report(0)])).toEqual([])
  expect(faultsOf(reports(21))).toEqual([
    'storms-are-few-messages: 21 messages about stm_1 in https://chat.example/own',
  ])
})

test('one message resolves a burst', () => {
  expect(faultsOf([end('10:00'), end('10:00')])).toEqual([])
  expect(faultsOf([end('10:00'), end('10:01')])).toEqual([
    'bursts-are-resolved-once: 2 messages resolve the burst inc_1 in https://chat.example/own',
  ])
})
